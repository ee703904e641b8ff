"""MMA's experiments: the model against itself, and every claim at a small size."""

import msgspec
import pytest

from ordercast.papers import papers
from ordercast.papers.mma import TEN, agreement, fig7, kind_of, loads
from ordercast.papers.mma_model import Group, Load, Talk, agreement_s, delays, mean_delay, undecided
from ordercast.papers.paper import Result
from ordercast.protocols.total import Total
from ordercast.sim import Run, simulate
from ordercast.trace import Recorder

MMA = papers()["MMA"]


def claims(name, points):
    experiment = next(each for each in MMA.experiments if each.id == name)
    return experiment.findings([Result(point, experiment.measure(point)) for point in points]).claims


def test_every_sentence_about_figs_1_to_4_holds():
    found = claims("examples", [])
    assert len(found) == 15
    assert all(claim.holds for claim in found)


@pytest.mark.parametrize("name", ["fig5", "fig6"])
def test_the_probabilities_and_means(name):
    talks = [
        Talk(voters=group.voters, k=group.k, n=group.n, messages=8_000, seed=seed)
        for group in (TEN, Group(4, 1, 4), Group(4, 1, 10))
        for seed in (0, 1)
    ]
    found = claims(name, talks)
    assert all(claim.holds for claim in found), [claim for claim in found if not claim.holds]


def test_the_closed_form_is_the_sum_of_its_probabilities():
    for group in (TEN, Group(4, 1, 10), Group(7, 2, 7)):
        assert sum(undecided(group, 400)) == pytest.approx(mean_delay(group))


def test_the_votes_place_a_message_never_before_the_closed_form_allows():
    counts = delays(Talk(voters=10, k=1, n=10, messages=500, seed=3))
    assert sum(counts[:5]) == 0 < counts[5]


def test_fig_7_at_two_rates():
    points = [point for point in loads(quick=True) if kind_of(point)[1] in (50, 700)]
    results = []
    for point in points:
        run = isinstance(point, Run)
        results.append(Result(point, agreement(simulate(Total, point, Recorder()).trace() if run else point)))
    found = fig7(results).claims
    assert all(claim.holds for claim in found), [claim for claim in found if not claim.holds]


def test_null_messages_shorten_the_delay_of_a_quiet_group():
    def delay(null_every):
        return agreement(Load(n=10, k=1, rate=20, null_every=null_every, messages=300, seed=1))["delay_s"]

    assert delay(0.05) < 0.1 < delay(0.0)
    assert delay(0.0) == pytest.approx(agreement_s(10, 1, 20), rel=0.2)


def test_findings_are_plain_values():
    talk = Talk(voters=10, k=1, n=10, messages=2_000, seed=0)
    for experiment in MMA.experiments[1:3]:
        msgspec.json.encode(experiment.findings([Result(talk, experiment.measure(talk))]))
