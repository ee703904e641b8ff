"""PO and TO under random faults: loss to 30 %, bursts, pauses, outages, partitions, crashes, slow receivers."""

import pytest

from ordercast.protocols.po import PO
from ordercast.protocols.to import TO, TOMerged
from ordercast.sim import simulate
from ordercast.trace import Recorder
from ordercast.trace.columns import DELIVER
from tests.protocols.nt_runs import PROTOCOLS, schedule, wrong_with


@pytest.mark.parametrize("seed", range(50))
@pytest.mark.parametrize("kind", PROTOCOLS, ids=lambda kind: kind.name)
def test_a_random_schedule_ends_well(kind, seed):
    assert wrong_with(kind, seed) == []


@pytest.mark.campaign
@pytest.mark.parametrize("block", range(20))
@pytest.mark.parametrize("kind", PROTOCOLS, ids=lambda kind: kind.name)
def test_a_thousand_random_schedules_end_well(kind, block):
    for seed in range(50 * block, 50 * block + 50):
        assert wrong_with(kind, seed) == [], f"seed {seed}"


@pytest.mark.parametrize("seed", range(0, 50, 3))
@pytest.mark.parametrize("kind", [TO, TOMerged], ids=lambda kind: kind.name)
def test_what_any_two_members_of_to_were_given_is_one_a_prefix_of_the_other(kind, seed):
    """Logs only grow, so it was so at all times.  A PDU for a part of the cluster is missing from the others' logs."""
    run = schedule(kind, seed)
    outcome = simulate(kind, run, Recorder())
    logs = delivered(outcome, run.members)
    part = any(len(some) < run.members for _, _, _, some in getattr(run.workload, "lines", ()))
    if not part:
        longest = max(logs, key=len)
        assert all(log == longest[: len(log)] for log in logs)


@pytest.mark.parametrize("seed", range(0, 50, 3))
def test_each_source_comes_in_its_order_at_every_member_of_po(seed):
    run = schedule(PO, seed)
    for log in delivered(simulate(PO, run, Recorder()), run.members):
        for source in range(run.members):
            mine = [n for origin, n in log if origin == source]
            assert mine == sorted(set(mine))


@pytest.mark.parametrize("kind", PROTOCOLS, ids=lambda kind: kind.name)
def test_the_same_seed_is_the_same_trace(kind):
    run = schedule(kind, 5)
    assert simulate(kind, run, Recorder()).trace().digest() == simulate(kind, run, Recorder()).trace().digest()


def delivered(outcome, members):
    rows = outcome.trace().rows
    rows = rows[rows["kind"] == DELIVER]
    return [
        [(int(row["origin"]), int(row["n"])) for row in rows[rows["member"] == member]] for member in range(members)
    ]
