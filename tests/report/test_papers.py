"""The framework of the papers: estimates, and what a paper leaves in a directory."""

import csv
import json
from math import isnan

import pytest

from ordercast.papers import (
    Claim,
    Curve,
    Drawing,
    Figure,
    Findings,
    Line,
    Panel,
    Table,
    Text,
    chosen,
    estimate,
    over_seeds,
)
from ordercast.report.figures import render
from ordercast.report.paper import write_findings

FIGURE = Figure(
    name="fig9",
    title="Time against size",
    panels=[
        Panel(
            title="quiet",
            x_label="members",
            y_label="seconds",
            curves=[
                Curve(label="measured", x=[1, 2], y=[3.0, 4.0], half=[0.1, 0.2]),
                Curve(label="formula", x=[1, 2], y=[3.1, 4.1], dashed=True),
            ],
        )
    ],
)


def test_an_interval_is_students():
    # Four values with mean 2.5 and standard deviation sqrt(5/3); t = 3.182 for three degrees of freedom.
    found = estimate([1.0, 2.0, 3.0, 4.0, None])
    assert found.mean == 2.5
    assert found.half == pytest.approx(3.182 * (5 / 3) ** 0.5 / 2)
    assert found.seeds == 4
    assert isnan(estimate([7.0]).half)
    assert estimate([None]) is None
    assert estimate([5.0] * 17).half == 0.0
    wide = estimate([0.0, 1.0] * 500)
    assert wide.half == pytest.approx(1.98 * 0.50025 / 1000**0.5, rel=1e-3)


def test_over_seeds_groups_in_order():
    items = [("b", 1.0), ("a", 5.0), ("b", 3.0), ("c", None)]
    found = over_seeds(items, by=lambda item: item[0], value=lambda item: item[1])
    assert list(found) == ["b", "a"]
    assert found["b"].mean == 2.0


def test_findings_become_files(tmp_path):
    claims = [Claim(id="KK.one", text="It holds.", section="5", holds=True, measured="2.0 < 3.0")]
    table = Table(name="table1", title="Counts", columns=("n", "count"), rows=[(2, 4), (3, None)])
    write_findings(Findings(claims=claims, figures=[FIGURE], tables=[table]), tmp_path)
    assert (tmp_path / "fig9.png").read_bytes().startswith(b"\x89PNG")
    rows = list(csv.reader((tmp_path / "fig9.csv").open()))
    assert rows[0] == ["panel", "curve", "x", "y", "half_95"]
    assert rows[1:] == [
        ["quiet", "measured", "1", "3.0", "0.1"],
        ["quiet", "measured", "2", "4.0", "0.2"],
        ["quiet", "formula", "1", "3.1", ""],
        ["quiet", "formula", "2", "4.1", ""],
    ]
    assert (tmp_path / "table1.csv").read_text() == "n,count\n2,4\n3,\n"
    assert json.loads((tmp_path / "claims.json").read_text()) == [
        {"id": "KK.one", "text": "It holds.", "section": "5", "holds": True, "measured": "2.0 < 3.0"}
    ]


def test_claims_of_another_experiment_stay_and_the_same_ones_are_replaced(tmp_path):
    def claims(*pairs):
        return Findings(claims=[Claim(id=i, text="", section="", holds=h, measured="") for i, h in pairs])

    write_findings(claims(("a", True), ("b", None)), tmp_path)
    write_findings(claims(("b", False)), tmp_path)
    found = {claim["id"]: claim["holds"] for claim in json.loads((tmp_path / "claims.json").read_text())}
    assert found == {"a": True, "b": False}


def test_pictures_are_the_same_bytes_each_time_and_drawings_are_drawn():
    assert render(FIGURE, "svg") == render(FIGURE, "svg")
    drawing = Drawing(
        name="d",
        title="A message",
        marks=[
            Line(start=(0, 0), end=(1, 2), arrow=True),
            Text(at=(0, 0), text="p"),
            Text(at=(1, 2), text="q", circled=True),
        ],
    )
    assert b"<svg" in render(drawing, "svg")


def test_an_unknown_paper_or_experiment_says_what_there_is():
    with pytest.raises(ValueError, match="no paper is called 'XX'"):
        chosen("XX.fig1")
