"""The counter protocol over UDP: the list changes under processes that are killed and stopped (CH 3.3)."""

import signal

import pytest
from tests.net.test_crowd import _members_import_the_tests, crowd, deliveries, gone, merged, run

from ordercast.net.processes import free_addresses, running
from ordercast.spec import check
from ordercast.trace.columns import DELIVER, VIEW

assert _members_import_the_tests  # a fixture, used by its name


def views(trace):
    """The views that each member was told, by name."""
    out = {member.name: [] for member in trace.info.members}
    for row in trace.rows[trace.rows["kind"] == VIEW]:
        out[trace.info.members[row["member"]].name].append(trace.info.sets[row["to"]])
    return out


def verdicts(trace):
    return {name: verdict.result for name, verdict in check(trace).items()}


@pytest.mark.parametrize("drop", [0.0, 0.05])
def test_members_are_killed_one_after_the_other_and_the_rest_goes_on(tmp_path, drop):
    async def scenario():
        async with crowd(tmp_path, "counter", members=5, drop=drop) as processes:
            alive = list(processes)
            for process in alive:
                await deliveries(process, 100)
            for victim in (3, 0):
                processes[victim].signal(signal.SIGKILL)
                alive.remove(processes[victim])
                for process in alive:  # many more than were under way: the list goes on without the dead
                    await deliveries(process, 1500)
            for process in alive:
                process.say({"leave_within": 0.5})
            for process in alive:
                await process.hear_until("left")
        gone(processes)

    run(scenario())
    trace = merged(tmp_path)
    found = verdicts(trace)
    assert "violated" not in found.values(), found
    for name in ("fifo", "total_order", "uniform_total_order", "single_order", "gap_free"):
        assert found[name] == "holds", name
    told = views(trace)["1"]  # on a busy host a slow member may have been deleted as well, and come back
    assert told[0] == [0, 1, 2, 3, 4]
    assert any(0 in view and 3 not in view for view in told)
    assert not {0, 3} & set(told[-1])


def test_a_member_that_was_stopped_too_long_is_deleted_and_comes_back(tmp_path):
    async def scenario():
        async with crowd(tmp_path, "counter", members=4) as processes:
            for process in processes:
                await deliveries(process, 100)
            processes[2].signal(signal.SIGSTOP)
            for process in (processes[0], processes[1], processes[3]):
                await deliveries(process, 2000)
            processes[2].signal(signal.SIGCONT)
            for process in processes:
                await deliveries(process, 1000)
            for process in processes:
                process.say({"leave_within": 0.5})
            for process in processes:
                await process.hear_until("left")
        gone(processes)

    run(scenario())
    trace = merged(tmp_path)
    found = verdicts(trace)
    assert "violated" not in found.values(), found
    told = views(trace)
    without = next(place for place, view in enumerate(told["0"]) if 2 not in view)
    assert any(2 in view for view in told["0"][without:])
    assert all(2 in view for view in told["2"])
    assert len(told["2"]) > 1


def test_a_killed_member_starts_again_and_joins_under_another_number(tmp_path):
    """A restarted process has no memory: it is a newcomer, with a number of its own, to a group that goes on."""
    common = {
        "members": free_addresses(4),
        "size_bytes": 300,
        "pace": 0.002,
        "group": {"protocol": "counter", "trace": str(tmp_path), "founders": [0, 1, 2], "frame_bytes": 1400},
    }

    async def scenario():
        async with running("tests.net.crowd", [{"me": me, **common} for me in range(3)]) as processes:
            for process in processes:
                await deliveries(process, 100)
            while not list(tmp_path.glob("*.member-1.*")):  # its first part is on the disk
                await deliveries(processes[0], 10)
            processes[1].signal(signal.SIGKILL)
            async with running("tests.net.crowd", [{"me": 3, **common}]) as [again]:
                for process in (processes[0], processes[2], again):
                    await deliveries(process, 1000)
                for process in (processes[0], processes[2], again):
                    process.say({"leave_within": 0.5})
                for process in (processes[0], processes[2], again):
                    await process.hear_until("left")

    run(scenario())
    trace = merged(tmp_path)
    found = verdicts(trace)
    assert "violated" not in found.values(), found
    told = views(trace)
    assert told["0"][0] == [0, 1, 2]
    assert any(3 in view and 1 not in view for view in told["0"])
    assert 3 in told["3"][0]
    delivered = trace.rows[(trace.rows["kind"] == DELIVER) & (trace.rows["member"] == 3)]
    assert {0, 2, 3} <= set(delivered["origin"].tolist())
