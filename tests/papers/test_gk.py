"""GK's experiments: what they find in their small form, and verdicts that follow the numbers."""

import pytest

from ordercast.papers import Result
from ordercast.papers.gk import PAPER
from ordercast.papers.gk_case import at_the_repair, cut_off, recovery

EXPERIMENTS = {experiment.id: experiment for experiment in PAPER.experiments}


@pytest.fixture(scope="module")
def measured():
    """Each experiment's points in the small form, measured once."""
    return {
        name: [Result(point, each.measure(point)) for point in each.points(True)] for name, each in EXPERIMENTS.items()
    }


def verdicts(name, results):
    return {claim.id.removeprefix("GK."): claim.holds for claim in EXPERIMENTS[name].findings(results).claims}


NEEDS_MORE = {"recovery.lossy", "recovery.time"}  # points that only the full form has


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_claim_holds(measured, name):
    found = verdicts(name, measured[name])
    assert found
    assert {claim for claim, holds in found.items() if not holds} <= NEEDS_MORE, found


@pytest.mark.parametrize(
    ("name", "protocol", "change", "broken"),
    [
        ("recovery", "tree", {"critical": 999}, {"recovery.tree"}),
        ("recovery", "basic", {"critical": 39}, {"recovery.basic"}),
        ("recovery", "tree", {"recovery_s": None}, {"recovery.all"}),
        ("recovery", "tree", {"source_before": 10**6}, {"partition.source", "partition.once"}),
        ("inside", "tree", {"least": 0}, {"inside.union"}),
        ("inside", "basic", {"least": 100, "union": 100}, {"inside.basic"}),
        ("epidemic", "tree", {"have": 3}, {"epidemic.tree"}),
        ("epidemic", "basic", {"have": 4}, {"epidemic.basic"}),
        ("losses", "tree", {"by_source": 12}, {"loss.near"}),
        ("losses", "tree", {"redelivery_cost": 13.0}, {"loss.cost"}),
        ("windows", "tree", {"complete": False}, {"windows.all"}),
        ("windows", "tree", {"uplinks": 10**9}, {"windows.links"}),
        ("costs", "tree", {"payload_cost": 10**9}, {"cost.efficient"}),
        ("costs", "tree", {"delay_s": 9.0}, {"cost.delay"}),
        ("costs", "tree", {"source_frames": 10**9}, {"cost.server", "cost.once"}),
        ("scale", "tree", {"critical": 7}, {"scale"}),
        ("sdf", None, {"sdf": 10**9}, {"sdf-good"}),
        ("sdf", None, {"closest": False}, {"sdf-coordinator"}),
        ("sdf", None, {"dynamic": 10**9}, {"sdf-dynamic"}),
    ],
)
def test_a_number_that_is_otherwise_breaks_its_claim(measured, name, protocol, change, broken):
    changed = [
        Result(each.point, {**each.values, **change}) if protocol is None or each.point.protocol == protocol else each
        for each in measured[name]
    ]
    assert {claim for claim, holds in verdicts(name, changed).items() if holds is False} == broken


def test_control_that_grows_with_the_messages_breaks_its_claims(measured):
    grown = [
        Result(r.point, {**r.values, "control": r.point.messages * r.values["control"]}) for r in measured["costs"]
    ]
    assert verdicts("costs", grown)["cost.control"] is False
    grown = [
        Result(r.point, {**r.values, "control_second": 10 * r.values["control_second"]}) for r in measured["inside"]
    ]
    assert verdicts("inside", grown)["inside.control"] is False


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name != "trees"])
def test_without_points_nothing_is_judged(name):
    assert not any(verdicts(name, []).values())


def test_the_trees_of_the_figures(measured):
    lists, table = EXPERIMENTS["trees"].findings([]).tables
    assert lists.rows[3] == ("h4", "h3 h5 h2 h1", "h3 h1 h2", "h1 h5")
    rows = {(row[0], row[1], row[2]): row[3:] for row in table.rows}
    assert rows["A", "l1", "h2"] == ("h3->h2, h4->h3, h5->h3", 19.0, 1)
    assert rows["B", "l1", "h5"] == ("h2->h4, h3->h2, h4->h5", 31.0, 2)
    drawings = EXPERIMENTS["trees"].findings([]).figures
    assert [drawing.name for drawing in drawings] == ["fig2.1", "fig4.1", "fig5.1"]


def test_a_case_is_measured_the_same_twice():
    assert recovery(cut_off("tree", 3, 10, loss=0.05)) == recovery(cut_off("tree", 3, 10, loss=0.05))
    (case, *_) = EXPERIMENTS["inside"].points(True)
    assert at_the_repair(case) == at_the_repair(case)
