"""KK's experiments: Fig. 1 exactly, and verdicts that follow the numbers."""

import pytest

from ordercast.papers import Result
from ordercast.papers.kk import PAPER, buffers, delivery, overhead, stability
from ordercast.papers.kk_example import STABLE, examples, findings, stages
from ordercast.papers.kk_load import bounds, crowded, jain, load, loads, peaks
from ordercast.papers.kk_setting import GROUPS, INTERVALS, ethernet
from ordercast.pipeline.simulating import simulated
from ordercast.protocols.catalog import protocol


def measured(run, measure):
    return Result(run, measure(simulated(protocol(run.protocol), run, "here").trace))


def test_fig1_the_stable_messages_after_each_of_six_acknowledgments():
    results = [measured(run, stages) for run in examples(quick=False)]
    assert {result.point.protocol: tuple(result.values["stable"]) for result in results} == STABLE
    found = findings(results)
    assert all(claim.holds for claim in found.claims)
    assert found.tables[0].rows[2] == ("DTP", 0, 0, 1, 1, 2, 4)


def test_fig1_a_wrong_count_does_not_hold_and_a_missing_run_is_not_judged():
    (cm, pinwheel, _) = [measured(run, stages) for run in examples(quick=False)]
    wrong = Result(cm.point, cm.values | {"stable": [0, 0, 0, 0, 1, 3]})
    assert [claim.holds for claim in findings([wrong, pinwheel]).claims] == [False, True, None]


def results(change=lambda protocol, members, interval, values: values):
    """What the paper would have us find at every point."""
    times = {"cm": 0.97, "pinwheel": 0.95, "dtp": 0.69, "totem": 0.05}
    out = []
    for name, scaled in times.items():
        for members in GROUPS:
            for interval in INTERVALS:
                exception = 1.05 if (name, members, interval) == ("pinwheel", 40, 0.05) else 1.0
                values = {
                    "stability_s": scaled * interval * exception,
                    "stability_times_rate": scaled * exception,
                    "buffer_messages": members * scaled,
                    "delivery_s": 2e-5 * members if name == "totem" else 5e-4,
                    "overhead": 2000.0 / members if name == "totem" else 1.0,
                }
                point = ethernet(name, members, interval, 0)
                out.append(Result(point, change(name, members, interval, values)))
    return out


FIGURES = {"fig2": stability, "fig3": buffers, "fig4": delivery, "fig5": overhead}


def verdicts(found):
    return {claim.id: claim.holds for claim in found.claims}


@pytest.mark.parametrize("name", FIGURES)
def test_all_claims_hold_of_the_papers_own_numbers(name):
    wanted = results() if name == "fig2" else [each for each in results() if each.point.workload.interval == 0.1]
    found = FIGURES[name](wanted)
    assert all(verdicts(found).values()), verdicts(found)
    (figure,) = found.figures
    assert figure.name == name
    assert {curve.label for panel in figure.panels for curve in panel.curves} == {"CM", "Pinwheel", "DTP", "Totem"}
    assert all(list(curve.x) == list(GROUPS) for panel in figure.panels for curve in panel.curves)


@pytest.mark.parametrize(
    ("experiment", "name", "metric", "factor", "broken"),
    [
        ("fig2", "dtp", "stability_s", 1.5, "KK.stability.best"),
        ("fig2", "totem", "stability_s", 20, "KK.stability.totem"),
        ("fig2", "dtp", "stability_times_rate", 1.2, "KK.stability.two-thirds"),
        ("fig2", "cm", "stability_times_rate", 0.8, "KK.stability.cm"),
        ("fig2", "pinwheel", "stability_s", 1.05, "KK.stability.pinwheel-cm"),
        ("fig2", "pinwheel", "stability_s", 0.9, "KK.stability.pinwheel-cm"),
        ("fig3", "dtp", "buffer_messages", 1.5, "KK.buffers.best"),
        ("fig3", "totem", "buffer_messages", 20, "KK.buffers.totem"),
        ("fig4", "dtp", "delivery_s", 1.2, "KK.delivery.comparable"),
        ("fig5", "cm", "overhead", 1.2, "KK.overhead.one"),
    ],
)
def test_a_claim_fails_with_its_numbers(experiment, name, metric, factor, broken):
    def change(protocol_name, members, interval, values):
        return values | {metric: values[metric] * (factor if protocol_name == name else 1)}

    wanted = [each for each in results(change) if experiment == "fig2" or each.point.workload.interval == 0.1]
    found = FIGURES[experiment](wanted)
    assert verdicts(found)[broken] is False
    assert next(claim for claim in found.claims if claim.id == broken).measured


def test_what_was_not_among_the_points_is_not_judged():
    small = [each for each in results() if each.point.members < 30]
    found = verdicts(stability(small))
    assert found["KK.stability.two-thirds"] is None
    assert found["KK.stability.pinwheel-cm"] is None
    assert found["KK.stability.best"] is True


def test_the_bounds_on_buf_are_met_and_a_breach_is_seen():
    runs = [run for run in crowded(quick=True) if run.members == 5]
    found = [measured(run, peaks) for run in runs]
    assert verdicts(bounds(found)) == {"KK.bounds": True}
    over = Result(found[0].point, {"MSG": 10, "ACK": 4})
    assert verdicts(bounds([*found, over])) == {"KK.bounds": False}
    assert verdicts(bounds([])) == {"KK.bounds": None}


def test_evenness_is_judged_by_the_measured_indices():
    assert jain([1, 1, 1, 1]) == 1.0
    assert jain([4, 0, 0, 0]) == 0.25
    found = [Result(run, {"ordering": 0.9, "all": 0.9 if run.protocol == "dtp" else 0.8}) for run in loads(quick=True)]
    assert verdicts(load(found)) == {"KK.load.ordering": False, "KK.load.all-equal": True, "KK.load.all-hot": True}


def test_quick_points_are_a_smaller_form_of_the_same():
    for experiment in PAPER.experiments:
        quick, whole = experiment.points(True), experiment.points(False)
        assert 0 < len(quick) <= len(whole)
        assert {run.protocol for run in quick} == {run.protocol for run in whole}
