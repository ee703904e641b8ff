"""The level `fifo` of a protocol that delivers as things come."""

import pytest

from ordercast.group import at_level, packed
from ordercast.protocols.tree import Tree
from ordercast.sim import Run, faults, networks, simulate, workloads
from ordercast.spec import check
from ordercast.trace import Recorder


def verdicts(kind, seed):
    run = Run(
        protocol="tree",
        members=4,
        messages=80,
        network=networks.Delay(),
        workload=workloads.Poisson(interval=0.02),
        faults=(faults.Loss(rate=0.2),),
        settle=30.0,
        seed=seed,
    )
    found = check(simulate(kind, run, Recorder(control_receipts=False)).trace())
    return {name: found[name].result for name in ("integrity", "validity", "agreement", "fifo")}


@pytest.mark.parametrize("seed", range(3))
def test_it_is_given_where_the_application_asks_for_it(seed):
    ordered = at_level(Tree, "fifo")
    assert ordered.contract.order == "fifo"
    assert ordered.Parameters().fifo
    assert set(verdicts(ordered, seed).values()) == {"holds"}
    assert at_level(Tree, None) is at_level(Tree, "reliable") is Tree
    assert verdicts(Tree, seed) == {"integrity": "holds", "validity": "holds", "agreement": "holds", "fifo": "violated"}


@pytest.mark.parametrize("level", ["fifo", None])
def test_packs_arrive_in_any_order_too(level):
    kind = packed(at_level(Tree, level), 1_000, members=4)
    found = verdicts(kind, seed=5)
    assert found == {**found, "integrity": "holds", "validity": "holds", "agreement": "holds"}
    if level == "fifo":
        assert found["fifo"] == "holds"
