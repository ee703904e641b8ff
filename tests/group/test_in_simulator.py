"""Layers are processes: the simulator runs them as it runs what is inside them."""

import numpy as np
import pytest

from ordercast.group import Safe, packed
from ordercast.group.layer import around
from ordercast.protocols.catalog import CATALOG
from ordercast.sim import Run, faults, networks, simulate, workloads
from ordercast.spec import judge
from ordercast.trace import Recorder
from ordercast.trace.columns import SEND, WITHDRAW

NAMES = ["dtp", "pinwheel", "totem", "total", "po", "counter"]


def plan(name, **more):
    given = {
        "members": 3,
        "messages": 150,
        "network": networks.Delay(low=0.001, high=0.010),
        "workload": workloads.Bursts(interval=0.02, size=8),
        "faults": (faults.Loss(rate=0.1),),
        "seed": 4,
    }
    return Run(protocol=name, **{**given, **more})


def judged(kind, run):
    outcome = simulate(kind, run, Recorder())
    assert not outcome.stalled
    verdicts = judge(outcome.trace(), kind.contract)
    watched = [name for name in verdicts.promised if name != "bounded"]  # these runs do not watch their buffers
    return {name: verdicts.verdicts[name].result for name in watched}, outcome.trace()


@pytest.mark.parametrize("name", NAMES)
def test_a_packed_protocol_keeps_its_promises_under_loss(name):
    kind = packed(CATALOG[name], 400, members=3, window=2)
    verdicts, _ = judged(kind, plan(name))
    assert set(verdicts.values()) == {"holds"}, verdicts


def frames_with_payload(kind, trace):
    names = {message.__name__ for message in kind.handlers if message.carries == "payload"}
    places = [place for place, name in enumerate(trace.info.messages) if name in names]
    return int(np.isin(trace.rows["message"][trace.rows["kind"] == SEND], places).sum())


def test_where_a_member_has_to_wait_packing_needs_fewer_frames():
    name = "dtp"
    run = plan(name, faults=())
    plain = judged(CATALOG[name], run)[1]
    kind = packed(CATALOG[name], 4_000, members=3)
    crowded, again = judged(kind, run)[1], judged(kind, run)[1]
    assert crowded.digest() == again.digest()
    assert 2 * frames_with_payload(kind, crowded) < frames_with_payload(CATALOG[name], plain)


@pytest.mark.parametrize("name", ["dtp", "totem", "optimistic"])
def test_a_safe_protocol_keeps_its_promises_and_takes_nothing_back(name):
    kind = packed(around(Safe, CATALOG[name]), 400, members=3)
    verdicts, trace = judged(kind, plan(name))
    assert set(verdicts.values()) == {"holds"}, verdicts
    assert not (trace.rows["kind"] == WITHDRAW).any()
