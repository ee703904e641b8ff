"""`ordercast order`, on the paper's figures."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ordercast.cli.app import app
from ordercast.papers import mma_figures
from ordercast.papers.message_log import read_log

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(*arguments):
    return CliRunner().invoke(app, ["order", *map(str, arguments)])


@pytest.mark.parametrize("figure", ["figure1", "figure3", "figure4"])
def test_the_examples_are_the_papers_figures(figure):
    expected = getattr(mma_figures, figure.upper().replace("FIGURE", "FIG_"))
    found = read_log((EXAMPLES / f"{figure}.json").read_bytes())
    assert (found.processors, found.messages, found.k) == (expected.processors, expected.messages, expected.k)


def test_every_processor_prints_its_order_its_votes_and_its_extensions():
    printed = run(EXAMPLES / "figure4.json").stdout
    for name in "ABCDEF":
        assert f"Processor {name}\n" in printed
    assert "1. {E1, F1} in stage 0, after 8 received" in printed
    assert "1. {E1, F1} in stage 1, after 11 received" in printed
    assert "stage 1: for E2 D2 A2 B2; against -" in printed
    assert "D2 follows C2, E2" in printed


def test_one_processor_as_json():
    answer = json.loads(run(EXAMPLES / "figure4.json", "--processor", "A", "--json").stdout)
    assert list(answer) == ["A"]
    assert answer["A"]["total_order"][:2] == ["E1", "F1"]
    assert answer["A"]["extensions"][0]["stage"] == 1


def test_a_drawing():
    drawn = run(EXAMPLES / "figure1.json", "--dot").stdout
    assert drawn.startswith("digraph")
    assert '"B2" -> "D2"' in drawn


def test_mistakes_are_told(tmp_path):
    wrong = tmp_path / "log.json"
    wrong.write_text("{")
    assert isinstance(run(wrong).exception, ValueError)
    assert "no processor 'Z'" in str(run(EXAMPLES / "figure1.json", "--processor", "Z").exception)
