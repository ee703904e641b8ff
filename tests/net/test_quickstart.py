"""The live part of the quickstart."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ordercast.net.errors import GroupError
from ordercast.net.quickstart import live_group
from ordercast.spec import check
from ordercast.trace import find_runs, read_run

ROOT = Path(__file__).parent.parent.parent


def test_five_processes_lose_datagrams_and_record_a_run_that_holds(tmp_path):
    seen = []
    done = live_group(tmp_path, messages=1_000, seconds=1.0, progress=lambda *words: seen.append(words))
    assert (done.members, done.messages, done.settled) == (5, 1_000, True)
    assert done.lost > 0
    assert seen[-1] == (1_000, 1_000)
    assert [count for count, _ in seen] == sorted(count for count, _ in seen)
    (files,) = find_runs(tmp_path).values()
    trace = read_run(files)
    assert {verdict.result for verdict in check(trace).values()} == {"holds"}
    assert (trace.info.protocol, trace.info.faults_met, trace.info.finished) == ("dtp", ["loss"], True)


def test_a_group_that_does_not_finish_is_one_line():
    with pytest.raises(GroupError, match=r"did not finish within 0\.01 s"):
        live_group("unused", members=2, messages=10, limit=0.01)
    with pytest.raises(GroupError, match="no protocol is called 'nonsense'"):
        live_group("unused", members=2, messages=10, protocol="nonsense")


WATCHED = """
import asyncio, sys
from ordercast.net import processes, quickstart
start = asyncio.create_subprocess_exec
async def noted(*words, **more):
    process = await start(*words, **more)
    print(process.pid, flush=True)
    return process
asyncio.create_subprocess_exec = noted
quickstart.live_group(sys.argv[1], messages=100_000, seconds=60, progress=lambda *words: print("going", flush=True))
"""


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL])
def test_no_process_is_left_however_it_is_interrupted(tmp_path, sign):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    words = [sys.executable, "-c", WATCHED, str(tmp_path)]
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as parent:
        lines = []
        while (line := parent.stdout.readline().decode()) != "going\n":
            lines.append(line)
        pids = [int(line) for line in lines]
        assert len(pids) == 5
        parent.send_signal(sign)
        assert parent.wait(20) != 0

    async def gone():
        async with asyncio.timeout(20):
            while any(alive(pid) for pid in pids):
                await asyncio.sleep(0.01)

    asyncio.run(gone())


def alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"  # its parent is dead, and nobody has asked for its status yet
