"""`ordercast explore`, through its door."""

import json

import pytest
import typer
from typer.testing import CliRunner

from ordercast.cli import app
from ordercast.cli.explore import explore
from ordercast.explore import rests
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


def test_a_token_that_never_rests_is_said_and_how_to_bound_it():
    done = run("totem", "--most", "50")
    assert done.exit_code == 3
    assert done.stderr == "ordercast: totem never rests, so its worlds never end: --arrivals 8 bounds them\n"
    assert run("totem", "--most", "50", "--arrivals", "8").stderr == ""
    restless = [name for name, kind in catalog.CATALOG.items() if not rests(kind)]
    assert restless == ["totem"]


def test_a_search_on_a_terminal_shows_how_far_it_is(monkeypatch):
    import io
    import sys

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    monkeypatch.setattr("ordercast.cli.explore._EVERY_S", 0.0)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with pytest.raises(typer.Exit):
        explore("dtp", broadcasts=1, timeouts=0, arrivals=20, most=5_000, setting=[], trace=None)
    assert "worlds of at most 5,000" in screen.getvalue()


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
