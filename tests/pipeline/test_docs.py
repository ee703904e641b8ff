"""The examples of docs/pipeline.md run."""

import re
from pathlib import Path

from ordercast.pipeline.plan import parse_plan

TEXT = (Path(__file__).parent.parent.parent / "docs" / "pipeline.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.S)


def test_the_plan_is_a_plan():
    (text,) = blocks("toml")
    planned = parse_plan(text)
    assert planned.title == "Four token protocols"
    alternatives = 3 * 2 * 2 * 3  # members, intervals, faults, seeds
    assert len(planned.runs) == 3 * alternatives + 2 * alternatives + 2 * 2 * 2 * 3


def test_the_python_runs(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (text,) = blocks("python")
    exec(text, {})
    assert (tmp_path / "lossy" / "facts.parquet").exists()
