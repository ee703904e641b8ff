"""GK's tree under random schedules: what it must come to, whatever links, switches and hosts do."""

import subprocess
import sys

import pytest

from ordercast.spec import check
from ordercast.trace import Member
from ordercast.trace.columns import DELIVER, RECEIVE, SEND
from tests.protocols.switched_runs import Schedule, alive, drive, wrong_at_the_end, wrong_with


@pytest.mark.parametrize("seed", range(50))
def test_random_schedules_end_well(seed):
    wrong, _ = wrong_with(Schedule(seed))
    assert wrong == []


def digest(seed):
    _, simulation = wrong_with(Schedule(seed), record=True)
    return simulation.recorder.trace("run", [Member(member.name) for member in simulation.members]).digest()


def test_a_schedule_is_the_same_trace_under_any_hash_seed():
    program = "from tests.protocols.test_tree_campaign import digest; print(digest(11), digest(18))"
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "77")
    }
    assert printed == {f"{digest(11)} {digest(18)}\n"}


@pytest.mark.parametrize("when_full", ["wait", "drop"])
@pytest.mark.parametrize("seed", range(10))
def test_no_history_grows_above_its_limit(seed, when_full):
    schedule = Schedule(seed)
    simulation = schedule.begin(history=4, when_full=when_full)
    for second in range(1, 120):
        for process in alive(drive(simulation, second)).values():
            assert process.buffers()["history"][0] <= 4
    if len(alive(simulation)) == schedule.hosts:  # nobody stays away for good: a source that waited has gone on
        assert not [what for what in wrong_at_the_end(simulation) if "was asked to broadcast" in what]


@pytest.mark.campaign
@pytest.mark.parametrize("block", range(20))
def test_a_thousand_random_schedules_end_well(block):
    for seed in range(1000 + 50 * block, 1050 + 50 * block):
        wrong, _ = wrong_with(Schedule(seed))
        assert wrong == [], f"seed {seed}"


@pytest.mark.parametrize("seed", range(25))
def test_properties_of_what_was_delivered(seed):
    schedule = Schedule(seed)
    _, simulation = wrong_with(schedule, record=True, gather=0.0)
    trace = simulation.recorder.trace("run", [Member(member.name) for member in simulation.members])
    verdicts = check(trace, ["integrity", "fifo"])
    assert verdicts["integrity"].result == "holds"
    returned = len(simulation.members) > schedule.hosts  # who came back without memory begins at the floor
    if schedule.parameters["fifo"] and not returned:
        assert verdicts["fifo"].result == "holds"
    if not any(member.home in schedule.sources for member in simulation.members[schedule.hosts :]):
        _nothing_was_sent_again_unasked(trace, simulation)


def _nothing_was_sent_again_unasked(trace, simulation):
    """Every transmission of a message but its first was caused by a DESC, a request, or a message that came in."""
    rows = trace.rows
    names = trace.info.messages
    sends = rows[(rows["kind"] == SEND) & (rows["message"] == names.index("Data"))]
    sent = set()
    for row in sends:
        message = (int(row["origin"]), int(row["n"]))
        if row["member"] == row["origin"] and message not in sent:
            sent.add(message)
            continue
        cause = rows[row["cause"]]
        assert cause["kind"] == RECEIVE
        allowed = (
            {"Desc", "Ask"} if row["member"] == row["origin"] else {"Desc", "Ask", "Data", "IAmCoordinator", "Null"}
        )
        assert names[cause["message"]] in allowed
    assert len(sent) == sum(len(member.payloads) for member in simulation.members)
    assert len(rows[rows["kind"] == DELIVER])
