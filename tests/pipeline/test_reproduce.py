"""The papers' experiments through the pipeline, with a paper made up for the purpose."""

import pytest

from ordercast.papers import Claim, Experiment, Findings, Paper, Table, chosen, papers
from ordercast.pipeline.reproduce import needs_spark, reproduce
from ordercast.sim import Run, workloads
from ordercast.trace.columns import DELIVER


def numbers(quick):
    return [1, 2] if quick else [1, 2, 3, 13]


def square(point):
    if point == 13:
        raise ValueError("an unlucky number")
    return {"square": point * point}


def runs(quick):
    return [
        Run(protocol="dtp", members=3, messages=20, workload=workloads.Poisson(interval=0.01), seed=seed)
        for seed in (1, 2)
    ]


def deliveries(trace):
    return {"deliveries": int((trace.rows["kind"] == DELIVER).sum()), "kinds": len(set(trace.rows["kind"].tolist()))}


def squares_found(results):
    rows = [(result.point, result.values["square"]) for result in results]
    holds = all(square == point**2 for point, square in rows)
    claim = Claim(id="TOY.squares", text="They are squares.", section="1", holds=holds, measured=str(rows))
    return Findings(tables=[Table(name="squares", title="Squares", columns=("x", "y"), rows=rows)], claims=[claim])


def deliveries_found(results):
    rows = [(result.point.seed, result.values["deliveries"], result.values["kinds"]) for result in results]
    return Findings(tables=[Table(name="runs", title="Runs", columns=("seed", "deliveries", "kinds"), rows=rows)])


def worked(results):
    return Findings(claims=[Claim(id="TOY.one", text="1 + 1 = 2", section="2", holds=1 + 1 == 2, measured="2")])


TOY = Paper(
    "TOY",
    "A toy",
    [
        Experiment("squares", "Squares", "1", numbers, square, squares_found),
        Experiment("again", "The same squares", "1", numbers, square, squares_found),
        Experiment("runs", "Runs", "2", runs, deliveries, deliveries_found),
        Experiment("few", "Runs, fewer rows", "2", runs, deliveries, deliveries_found, kinds=("deliver",)),
        Experiment("worked", "A worked example", "2", findings=worked),
    ],
)


@pytest.fixture(scope="module")
def done(spark, tmp_path_factory):
    store = tmp_path_factory.mktemp("toy") / "rows"
    return {each.experiment.id: each for each in reproduce(spark, TOY, TOY.experiments, store)}, store


def test_points_are_measured_and_findings_made(done):
    found, _ = done
    assert found["squares"].findings.tables[0].rows == [(1, 1), (2, 4), (3, 9)]
    assert found["squares"].findings.claims[0].holds is True
    assert [error.partition(": ")[2] for error in found["squares"].errors] == ["ValueError: an unlucky number"]


def test_a_run_reaches_its_measure_as_a_trace(done):
    found, _ = done
    (first, second) = found["runs"].findings.tables[0].rows
    assert first[:1] + second[:1] == (1, 2)
    assert first[1] % 3 == 0, "all members deliver the same"
    assert first[2] > 3
    assert found["few"].findings.tables[0].rows == [(1, first[1], 2), (2, second[1], 2)], "deliveries and broadcasts"


def test_what_experiments_share_is_computed_once_and_kept(done, spark):
    found, store = done
    lines = [line for path in store.iterdir() for line in path.read_text().splitlines()]
    assert len(lines) == 4 + 2 + 2
    assert found["again"].findings == found["squares"].findings
    again = reproduce(spark, TOY, TOY.experiments[:1], store)
    assert again[0].findings == found["squares"].findings


def test_worked_examples_need_no_spark():
    assert not needs_spark(TOY.experiments[4:], quick=True)
    assert needs_spark(TOY.experiments, quick=True)
    (found,) = reproduce(None, TOY, TOY.experiments[4:])
    assert found.findings.claims[0].holds is True


def test_every_paper_is_well_formed():
    for key, paper in papers().items():
        assert key == paper.key
        ids = [experiment.id for experiment in paper.experiments]
        assert len(set(ids)) == len(ids)
        for experiment in paper.experiments:
            assert chosen(f"{key.lower()}.{experiment.id}") == [(paper, [experiment])]
            assert experiment.points(True) is not None
