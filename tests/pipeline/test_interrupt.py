"""Ctrl-C during a sweep: one line, nothing left running, and what was finished stays."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from ordercast.pipeline.sweep import read_facts

PLAN = """
title = "long"
seeds = 200
[run]
protocol = "dtp"
members = 10
messages = 1000
interval = 0.1
"""


def alive(group):
    """The processes of a process group, those that only wait to be collected apart."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, process_group, *_ = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(process_group) == group and state != "Z":
            found.append(stat.parent.name)
    return found


def wait(until, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not until() and time.monotonic() < deadline:
        time.sleep(0.1)
    return until()


def test_an_interrupted_sweep_says_so_in_one_line_and_leaves_what_it_finished(tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN)
    command = [sys.executable, "-m", "ordercast", "sweep", str(tmp_path / "plan.toml"), "--out", str(tmp_path / "out")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as sweep:
        assert wait(lambda: list((tmp_path / "out" / "rows").glob("*.rows.jsonl")))
        os.killpg(sweep.pid, signal.SIGINT)  # as a terminal does: everyone in the group hears it
        _, error = sweep.communicate(timeout=60)
    said = [line for line in error.splitlines() if not line.startswith("long: ")]  # how far it was
    assert said == ["ordercast: interrupted"]
    assert sweep.returncode == 130
    assert wait(lambda: not alive(sweep.pid))
    facts = read_facts(tmp_path / "out")
    assert 0 < len(facts) < 200
    for row in facts:
        assert row["error"] is None
        assert (tmp_path / "out" / row["trace"]).exists()
        assert json.loads(row["run_json"])["messages"] == 1000
