"""GK's tree over UDP, between network namespaces whose links are really taken down."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.net.namespaces import Wires, why_not

from ordercast.parts.assignment import members_lists
from ordercast.sim.topologies import TwoSites

ROOT = Path(__file__).parent.parent.parent
PORT = 7400


CHANGED = threading.Condition()  # somebody delivered something


@pytest.fixture
def wires():
    """Two hosts here, three there, made real."""
    if reason := why_not():
        pytest.skip(reason)
    with Wires(TwoSites(near=2, far=3).topology()) as made:
        yield made


class Terminal:
    """`ordercast node` on a host: what it is told it broadcasts, what it delivers is kept."""

    def __init__(self, wires, host, config):
        me = wires.topology.hosts.index(host)
        self.process = wires.start(
            host,
            *(sys.executable, "-m", "ordercast", "node", str(config), "--me", str(me)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            cwd=ROOT,
        )
        self.delivered = set()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            with CHANGED:
                self.delivered.add(json.loads(line)["text"])
                CHANGED.notify_all()

    def say(self, *texts):
        self.process.stdin.write("".join(f"{text}\n" for text in texts).encode())
        self.process.stdin.flush()


def until(true, within=30.0):
    """Wait for something to become true of what was delivered."""
    with CHANGED:
        assert CHANGED.wait_for(true, within), "in vain"


def configuration(wires, path):
    hosts = wires.topology.hosts
    lists = [[list(mine) for mine in assignment] for assignment in members_lists(wires.topology, hosts[0])]
    members = "\n".join(f'{me} = "{wires.address(host)}:{PORT}"' for me, host in enumerate(hosts))
    path.write_text(
        f'protocol = "tree"\n[members]\n{members}\n[parameters]\nsources = [0]\nlists = {json.dumps(lists)}\n'
        "delta = 0.1\nannounce_every = 0.2\nprobe_every = 0.2\ncoordinator_timeout = 0.8\nstatus_every = 0.5\n"
    )
    return path


def test_a_group_survives_links_that_are_really_down(wires, tmp_path):
    config = configuration(wires, tmp_path / "group.toml")
    terminals = [Terminal(wires, host, config) for host in wires.topology.hosts]
    near, far = terminals[:2], terminals[2:]
    everything = set()

    def say(word, count):
        texts = [f"{word} {k}" for k in range(count)]
        everything.update(texts)
        terminals[0].say(*texts)
        return set(texts)

    try:
        said = say("together", 20)
        until(lambda: all(said <= terminal.delivered for terminal in terminals), within=60)

        wires.set("slow", "down")
        said = say("apart", 50)
        until(lambda: all(said <= terminal.delivered for terminal in near))
        assert not any(said & terminal.delivered for terminal in far)
        wires.set("slow", "up")
        until(lambda: all(said <= terminal.delivered for terminal in far))

        # Epidemic: h4 misses a message; then the source's own link is down, and h4 gets it from the others.
        wires.set("to-h4", "down")
        said = say("epidemic", 5)
        until(lambda: all(said <= terminal.delivered for terminal in terminals[:4]))
        wires.set("to-h0", "down")
        wires.set("to-h4", "up")
        until(lambda: said <= far[2].delivered)
        wires.set("to-h0", "up")

        said = say("again", 20)
        until(lambda: all(terminal.delivered == everything for terminal in terminals))
    finally:
        for terminal in terminals:
            terminal.process.terminate()
        for terminal in terminals:
            terminal.process.wait(timeout=20)
            terminal.process.stdin.close()
