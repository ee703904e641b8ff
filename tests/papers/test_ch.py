"""CH's closed forms, and its experiments in small: what must come out, and what must come out false."""

import pytest

from ordercast.papers import Result, papers
from ordercast.papers.ch import control, count_requests, figure_3, forms
from ordercast.papers.ch_compare import errors, figures, table_3, tables
from ordercast.papers.ch_delay import commit_delay, detection, lossy
from ordercast.papers.ch_forms import (
    Setting,
    control_broadcast,
    control_point_to_point,
    delay,
    printed_delay,
    requests,
    tokens,
)
from ordercast.papers.ch_levels import level, table_4, troubled
from ordercast.papers.ch_rivals import costs, run_of
from ordercast.papers.ch_setting import VARIANTS, of, simulation
from ordercast.papers.ch_token import Load, grows, weigh
from ordercast.protocols.catalog import protocol
from ordercast.sim import simulate
from ordercast.trace import Recorder


def measured(run, measure):
    return measure(simulate(protocol(run.protocol), run, Recorder()).trace())


def results(runs, measure):
    return [Result(run, measured(run, measure)) for run in runs]


def verdicts(findings):
    return {claim.id: claim.holds for claim in findings.claims}


class TestForms:
    """4.1, by hand: N = 10, A = 10, T = 1, P = 0.05, so ten messages a second of each of ten nodes."""

    def test_control_messages(self):
        s = Setting(10, 10, 1, 0.05)
        assert tokens(s) == pytest.approx(0.1 / 10.5)
        assert control_broadcast(s) == tokens(s)
        assert control_point_to_point(s) == pytest.approx(0.9 / 10.5)

    def test_with_errors(self):
        s = Setting(20, 10, 1, 0.05, 0.5)
        assert requests(s) == 19
        assert control_broadcast(s) == pytest.approx(0.1 / (20 * 1.05 * 0.5) + 19)
        assert control_point_to_point(s) == pytest.approx(19 * 0.1 / (20 * 1.05 * 0.5) + 19)

    def test_the_printed_delay_is_no_delay(self):
        assert printed_delay(Setting(10)) == pytest.approx(0.02)
        assert delay(Setting(10)) == pytest.approx(20.475)

    def test_the_claims_about_the_forms_hold(self):
        assert set(verdicts(forms([])).values()) == {True}


@pytest.mark.parametrize("N", [10, 20])
def test_tokens_per_message_are_the_formulas(N):  # noqa: N803
    run = simulation(N, 20, 1, messages=3000)
    assert measured(run, control)["control"] == pytest.approx(tokens(of(run)), rel=0.04)


def test_figure_3_as_printed():
    runs = [simulation(N, A, T, messages=200 * N) for N in (10, 20) for A in (10.0, 20.0) for T in (1.0, 2.0)]
    assert set(verdicts(figure_3(results(runs, control))).values()) == {True}


def test_each_variant_of_a_request_has_its_number():
    runs = [simulation(10, 10, 1, 0.2, variant=variant, messages=1500) for variant in VARIANTS]
    found = results(runs, control)
    each, repairs, batch = (result.values["requests"] for result in found)
    assert each == pytest.approx(9 * 0.2 / 0.8, rel=0.06)
    assert repairs == pytest.approx(9 * 0.2, rel=0.12)
    assert batch < 0.25 * repairs
    assert [row[0] for row in count_requests(found).tables[0].rows] == list(VARIANTS)


def test_the_delay_grows_with_what_the_printed_one_does_not_know():
    short, long = (measured(simulation(5, 10, T, messages=int(400 * T)), commit_delay)["delay_s"] for T in (1, 4))
    assert short == pytest.approx(delay(Setting(5, 10, 1)), rel=0.06)
    assert long == pytest.approx(delay(Setting(5, 10, 4)), rel=0.06)


def test_a_loss_is_detected_within_two_cycles():
    found = measured(lossy(quick=True)[0], detection)
    assert found["cycles"] <= 2
    assert found["losses"] > 500


@pytest.fixture(scope="module")
def compared():
    return results([run_of(name, 5, way) for way in (False, True) for name in names()], costs)


def names():
    return ("centralized", "two-phase", "optimistic", "fast", "counter")


def test_five_protocols_cost_what_is_printed_but_one(compared):
    found = verdicts(tables(compared))
    num = {name: holds for name, holds in found.items() if name.startswith("CH.table")}
    assert [name for name, holds in num.items() if not holds] == ["CH.table2.fast"]
    assert found["CH.fig6.shortest"] is False
    assert found["CH.fig6.two-phase"] is True


def test_the_figures_against_n(compared):
    found = verdicts(figures(compared))
    assert found.pop("CH.fig6.formula") is False  # at N = 2 it is the centralized protocol's
    assert set(found.values()) == {True}
    assert set(verdicts(table_3(compared)).values()) == {True}


def test_with_errors_the_others_pay_more():
    found = results([run_of(name, 5, False, 0.1) for name in names()], costs)
    assert set(verdicts(errors(found)).values()) == {True}


def test_the_token_is_small_and_bounded():
    load = Load(5, 20.0, 0.1, 20)
    found = weigh(load)
    assert found["most_messages"] <= 5 * 20
    assert found["most_bytes"] < 300
    assert grows([Result(load, found)]).tables[0].rows[0][-1] == 100


def test_table_4_is_found_in_the_traces():
    chosen = [run for run in troubled(quick=True) if run.name.endswith(("-0", "-1"))]
    findings = table_4(results(chosen, level))
    assert set(verdicts(findings).values()) == {True}
    found = {row[0]: row[3] for row in findings.tables[0].rows}
    assert found["optimistic"] == "R2"
    assert found["counter-based"] == found["two-phase"] == "R3"


def test_the_paper_is_listed():
    assert {"fig3", "fig4", "fig5", "table1", "table3", "table4"} <= {each.id for each in papers()["CH"].experiments}
