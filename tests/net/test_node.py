"""`ordercast node` and `ordercast bench live`, as processes at a terminal's end."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ordercast.cli import app
from ordercast.net.processes import free_addresses
from ordercast.spec import check
from ordercast.trace import find_runs, read_run

ROOT = Path(__file__).parent.parent.parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}


def start(*words):
    return subprocess.Popen(
        [sys.executable, "-m", "ordercast", *map(str, words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        cwd=ROOT,
    )


def refusal(*words):
    """The line with which the command refuses."""
    done = CliRunner().invoke(app, list(map(str, words)), input=b"")
    assert done.exit_code == 2, done.output
    (line,) = done.stderr.splitlines()
    return line


def flags(addresses):
    return [word for me, (host, port) in addresses.items() for word in ("--member", f"{me}={host}:{port}")]


@pytest.fixture
def group(tmp_path):
    path = tmp_path / "group.toml"
    addresses = free_addresses(3)
    listed = "\n".join(f'{me} = "{host}:{port}"' for me, (host, port) in addresses.items())
    path.write_text(f'protocol = "tests.net.toy:First"\ntimeout = 20\n[members]\n{listed}\n')
    return path


def test_three_terminals_print_the_same_lines_and_leave_traces(group, tmp_path):
    terminals = [start("node", group, "--me", me, "--drop", "0.1", "--trace", tmp_path / "trace") for me in range(3)]
    said = [b"".join(b"%d says %d\n" % (me, n) for n in range(200)) for me in range(2)] + [b"\xff\xfe\nno newline"]
    for terminal, text in zip(terminals, said, strict=True):
        terminal.stdin.write(text)
        terminal.stdin.close()
    outs = [terminal.stdout.read() for terminal in terminals]
    assert [terminal.wait(20) for terminal in terminals] == [0, 0, 0]
    for terminal in terminals:
        terminal.stdout.close()
        terminal.stderr.close()
    assert outs[0] == outs[1] == outs[2]
    lines = [json.loads(line) for line in outs[0].splitlines()]
    assert [line["text"] for line in lines if line["origin"] == 0] == [f"0 says {n}" for n in range(200)]
    assert [line for line in lines if line["origin"] == 2] == [
        {"origin": 2, "n": 0, "base64": "//4="},
        {"origin": 2, "n": 1, "text": "no newline"},
    ]
    (files,) = find_runs(tmp_path / "trace").values()
    trace = read_run(files)
    assert {verdict.result for verdict in check(trace).values()} == {"holds"}
    assert [member.status for member in trace.info.members] == ["correct"] * 3


def test_a_member_ends_by_ctrl_c_also_while_it_waits_for_input(group):
    terminals = [start("node", group, "--me", me) for me in range(3)]
    terminals[0].stdin.write(b"hello\n")
    terminals[0].stdin.flush()
    for terminal in terminals:
        assert json.loads(terminal.stdout.readline())["text"] == "hello"
    for terminal in terminals:
        terminal.send_signal(signal.SIGINT)
    for terminal in terminals:
        _, err = terminal.communicate(timeout=20)
        assert terminal.returncode == 130
        assert b"Traceback" not in err


def test_mistakes_are_one_line_and_a_status(group, tmp_path):
    process = start("node", group, "--me", 5)
    _, err = process.communicate(b"", timeout=20)
    assert (process.returncode, len(err.splitlines())) == (2, 1)
    assert "the group does not name member 5; its members are 0, 1, 2" in refusal("node", group, "--me", 5)
    assert "cannot be read" in refusal("node", tmp_path / "none.toml")
    assert "no 'me'" in refusal("node", group)
    assert "no 'members'" in refusal("node", "--me", 0)
    assert "is not of the form" in refusal("node", "--me", 0, "--member", "nonsense")
    assert "is not an address" in refusal("node", "--me", 0, "--member", "0=nonsense")
    two = [*flags(free_addresses(2)), "--protocol", "tests.net.toy:First"]
    assert "cannot be bound" in refusal("node", "--me", 9, "--member", "9=192.0.2.1:7000", *two)
    assert "did not answer within 0.1 s" in refusal("node", "--me", 0, "--timeout", 0.1, *two)
    assert "does not give the level 'causal'" in refusal("node", group, "--me", 0, "--level", "causal")
    assert "no protocol is called" in refusal("node", group, "--me", 0, "--protocol", "nonsense")
    (tmp_path / "bad.toml").write_text("members = 5")
    assert "bad.toml" in refusal("node", tmp_path / "bad.toml", "--me", 0)
    assert "at least 2 members" in refusal("bench", "live", "--members", 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        line = refusal("node", "--me", 9, "--member", f"9=127.0.0.1:{taken.getsockname()[1]}", *two)
        assert "is in use by another process" in line


def test_the_bench_counts_at_the_slowest_member_and_compares_the_orders():
    process = start("bench", "live", "--protocol", "dtp", "--members", 2, "--size", 100, "--seconds", 0.3, "--json")
    out, err = process.communicate(timeout=40)
    assert process.returncode == 0, err
    measured = json.loads(out)
    assert measured["same_order"]
    assert 0 < measured["messages_per_s"] <= measured["fastest_member_per_s"]
    assert measured["delivered"] >= 0.3 * measured["messages_per_s"]
    assert 0 < measured["sender_p50_s"] <= measured["sender_p99_s"]
    assert 0 < measured["others_p50_s"] <= measured["others_p99_s"]
    assert 0 < measured["cpu_share"] <= 1.0
    assert (measured["members"], measured["size_bytes"], measured["protocol"]) == (2, 100, "dtp")
