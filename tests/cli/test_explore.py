"""`ordercast explore`, through its door."""

import json

import pytest
from typer.testing import CliRunner

from ordercast.cli import app
from ordercast.protocols import catalog
from ordercast.trace import find_runs
from tests.explore.sequencer import GivesUp


def run(*words):
    return CliRunner().invoke(app, ["explore", *words])


def test_a_right_protocol_is_explored_to_the_end():
    done = run("dtp", "--broadcasts", "1", "--timeouts", "0", "--set", "T=0.2")
    assert done.exit_code == 0
    assert "every promise is kept" in done.stdout
    answer = json.loads(run("dtp", "--broadcasts", "1", "--json").stdout)
    assert answer["complete"]
    assert answer["broken"] is None


def test_a_wrong_protocol_is_listed_and_written(monkeypatch, tmp_path):
    monkeypatch.setattr(catalog, "CATALOG", {"wrong": GivesUp})
    done = run("wrong", "--trace", str(tmp_path))
    assert done.exit_code == 1
    assert done.stdout.startswith("validity is broken after")
    assert "lost (loss)" in done.stdout
    assert len(find_runs(tmp_path)) == 1
    answer = json.loads(run("wrong", "--json").stdout)
    assert (answer["broken"], answer["complete"]) == ("validity", False)
    assert answer["listing"]


def test_a_search_that_stops_says_so():
    done = run("dtp", "--most", "20")
    assert done.exit_code == 3
    assert "stopped after" in done.stdout


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("nope",), "no protocol"),
        (("dtp", "--losses", "-1"), "not negative"),
        (("dtp", "--set", "X=1"), "no parameter"),
    ],
)
def test_misuse_is_one_line(words, what):
    done = run(*words)
    assert isinstance(done.exception, ValueError)
    assert what in str(done.exception)
