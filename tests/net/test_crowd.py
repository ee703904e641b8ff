"""Members as processes that are killed and paused under traffic: nothing wrong is ever delivered."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from ordercast.net.processes import free_addresses, running
from ordercast.spec import check
from ordercast.trace import find_runs, read_run

ROOT = Path(__file__).parent.parent.parent
SAFETY = ("integrity", "fifo", "causal", "total_order", "uniform_total_order", "single_order", "gap_free")


@pytest.fixture(autouse=True)
def _members_import_the_tests(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def run(scenario):
    async def within_a_time():
        async with asyncio.timeout(40):
            await scenario

    asyncio.run(within_a_time())


def crowd(directory, protocol, members=3, drop=0.0):
    common = {
        "members": free_addresses(members),
        "size_bytes": 300,
        "pace": 0.002,
        "group": {"protocol": protocol, "trace": str(directory), "drop": drop, "frame_bytes": 1400},
    }
    return running("tests.net.crowd", [{"me": me, **common} for me in range(members)])


async def deliveries(process, more):
    """Wait until the member has delivered so many more."""
    first = (await process.hear_until("delivered"))["delivered"]
    while (await process.hear_until("delivered"))["delivered"] < first + more:
        pass


def merged(directory):
    runs = find_runs(directory)
    assert len(runs) == 1
    return read_run(next(iter(runs.values())))


def gone(processes):
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process.pid, 0)


@pytest.mark.parametrize("protocol", ["dtp", "counter", "total"])
def test_a_killed_member_leaves_a_prefix_and_the_survivors_stay_safe(tmp_path, protocol):
    async def scenario():
        async with crowd(tmp_path, protocol, drop=0.02) as processes:
            for process in processes:
                await deliveries(process, 100)
            while not list(tmp_path.glob("*.member-2.*")):  # its first part is on the disk
                await deliveries(processes[0], 10)
            processes[2].signal(signal.SIGKILL)
            for process in processes[:2]:
                process.say({"leave_within": 0.5})
            left = [await process.hear_until("left") for process in processes[:2]]
            assert not any(each["settled"] for each in left), "the dead member never said how much it broadcast"
        gone(processes)

    run(scenario())
    trace = merged(tmp_path)
    assert [member.status for member in trace.info.members] == ["crashed", "crashed", "cut"]
    assert not trace.info.finished
    verdicts = {name: verdict.result for name, verdict in check(trace).items()}
    assert "violated" not in verdicts.values(), verdicts
    for name in ("fifo", "total_order", "uniform_total_order", "single_order", "gap_free"):
        assert verdicts[name] == "holds", name


@pytest.mark.parametrize("protocol", ["dtp", "totem", "total"])
def test_a_paused_member_catches_up(tmp_path, protocol):
    async def scenario():
        async with crowd(tmp_path, protocol) as processes:
            for process in processes:
                await deliveries(process, 50)
            processes[1].signal(signal.SIGSTOP)
            await asyncio.sleep(0.3)  # the length of the pause: nothing waits for this
            processes[1].signal(signal.SIGCONT)
            for process in processes:
                await deliveries(process, 50)
            for process in processes:
                process.say({"leave_within": 20})
            assert all([(await process.hear_until("left"))["settled"] for process in processes])
        gone(processes)

    run(scenario())
    trace = merged(tmp_path)
    assert [member.status for member in trace.info.members] == ["correct"] * 3
    verdicts = {name: verdict.result for name, verdict in check(trace).items()}
    assert set(verdicts.values()) == {"holds"}, verdicts


def test_members_go_when_their_parent_does():
    async def scenario():
        common = {"members": free_addresses(2), "size_bytes": 10, "pace": 0.01, "group": {"protocol": "dtp"}}
        async with running("tests.net.crowd", [{"me": me, **common} for me in range(2)]) as processes:
            for process in processes:
                await process.hear_until("joined")
            for process in processes:
                process.process.stdin.close()  # what the members see of a parent that was killed
            for process in processes:
                assert await process.process.wait() == 1
        gone(processes)

    run(scenario())
