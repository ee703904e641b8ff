"""`ordercast import-log` and `show`, through their door."""

import json

import pytest
from typer.testing import CliRunner

from ordercast.cli import app

LOG = [
    {"member": "a", "kind": "broadcast", "origin": "a", "n": 0, "time": 0.5},
    {"member": "a", "kind": "deliver", "origin": "a", "n": 0, "time": 0.5},
    {"member": "b", "kind": "deliver", "origin": "a", "n": 0, "time": 0.75},
]


def run(*words):
    return CliRunner().invoke(app, list(map(str, words)))


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(map(json.dumps, LOG)))
    return path


def test_a_log_is_imported_and_shown(log, tmp_path):
    done = run("import-log", log, "--out", tmp_path / "out", "--common-clock")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("3 events of 1 run in ")
    shown = run("show", tmp_path / "out")
    assert shown.stdout.splitlines() == [
        "time      a                 b",
        "0.500000  broadcast (a, 0)",
        "0.500000  deliver (a, 0)",
        "0.750000                    deliver (a, 0)",
    ]
    some = run("show", tmp_path / "out", "--only", "deliver", "--most", 1)
    assert some.stdout.splitlines()[1:] == ["0.500000  deliver (a, 0)", "… and 1 more events"]


def test_a_foreign_log_is_mapped(log, tmp_path):
    log.write_text(log.read_text().replace('"kind"', '"what"').replace('"deliver"', '"got"'))
    done = run("import-log", log, "--out", tmp_path / "out", "--map", "kind=what", "--map", "kind.deliver=got")
    assert done.exit_code == 0, done.output


def test_who_has_no_line_is_told(log, tmp_path):
    log.write_text(json.dumps({"member": "a", "kind": "deliver", "origin": "x", "n": 0}))
    done = run("import-log", log, "--out", tmp_path / "out")
    assert "run log: x has no line of its own" in done.stderr


def test_of_several_runs_one_is_named(log, tmp_path):
    log.write_text("\n".join(json.dumps({**line, "run": name}) for line in LOG for name in "pq"))
    run("import-log", log, "--out", tmp_path / "out")
    assert "say --run NAME, of p, q" in str(run("show", tmp_path / "out").exception)
    assert "holds no run r" in str(run("show", tmp_path / "out", "--run", "r").exception)
    assert "deliver (a, 0)" in run("show", tmp_path / "out", "--run", "q").stdout


def test_a_broken_line_is_one_message(log, tmp_path):
    log.write_text(log.read_text()[:-5])
    done = run("import-log", log, "--out", tmp_path / "out")
    assert isinstance(done.exception, ValueError)
    assert "log.jsonl:3: " in str(done.exception)


def test_nothing_to_show_is_said(tmp_path):
    (tmp_path / "file.trace.parquet").write_text("no Parquet")
    assert "not a Parquet file" in str(run("show", tmp_path).exception)
    (tmp_path / "file.trace.parquet").unlink()
    assert "holds no trace" in str(run("show", tmp_path).exception)
    assert "nowhere: no such file" in str(run("show", tmp_path / "nowhere").exception)
