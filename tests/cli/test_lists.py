"""`ordercast lists`, and simulating over a topology file."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ordercast.cli.app import app

FIGURE = str(Path(__file__).parents[2] / "examples" / "figure21.toml")
ASSIGNMENT_A = {"h1": [], "h2": ["h1"], "h3": ["h1", "h2"], "h4": ["h3", "h1", "h2"], "h5": ["h3", "h4", "h1", "h2"]}


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


def facts(*arguments):
    return json.loads(run("lists", FIGURE, *arguments, "--json").stdout)


def test_the_lists_and_the_tree_of_fig_4_1():
    found = facts("--fail", "l1")
    assert found["lists"] == ASSIGNMENT_A
    alone, group = found["groups"]
    assert alone == {**alone, "hosts": ["h1"], "has_source": True}
    assert group["parents"] == {"h2": None, "h3": "h2", "h4": "h3", "h5": "h3"}
    assert (group["coordinators"], group["cost"], group["minimum_cost"]) == (["h2"], 19.0, 19.0)
    assert found["distances"]["h1"]["h2"] is None
    printed = run("lists", FIGURE, "--fail", "l1").stdout
    assert "coordinator h2" in printed
    assert "h5->h3 h4->h3 h3->h2; cost 19" in printed


def test_another_source_has_other_lists():
    found = facts("--source", "h4", "--fail", "s5", "--fail", "l6")
    assert found["lists"]["h4"] == []
    trees = {tuple(group["hosts"]): group["coordinators"] for group in found["groups"]}
    assert trees == {("h1", "h2"): ["h1"], ("h3", "h5"): ["h3"], ("h4",): []}


def test_lists_of_ones_own_are_checked(tmp_path):
    lists = {**ASSIGNMENT_A, "h2": ["h1", "h4"]}
    text = Path(FIGURE).read_text() + "\n[lists]\n" + "\n".join(f"{host} = {mine}" for host, mine in lists.items())
    path = tmp_path / "own.toml"
    path.write_text(text)
    outcome = run("lists", str(path))
    assert outcome.exit_code == 1
    assert "these lists do not serve: the lists have a cycle: h2 probes h4 probes h3 probes h2" in outcome.stdout
    simulated = run("simulate", "tree", "--network", "switched", "--topology", str(path), "--messages", "5")
    assert isinstance(simulated.exception, ValueError)
    assert "cycle" in str(simulated.exception)


@pytest.mark.parametrize("name", ["tree", "basic"])
def test_a_run_over_a_topology(name):
    arguments = ["--network", "switched", "--topology", FIGURE, "--source", "h2", "--fail", "l6@1:2"]
    outcome = run("simulate", name, *arguments, "--messages", "40", "--json")
    assert outcome.exit_code == 0, outcome.stdout
    found = json.loads(outcome.stdout)
    assert found["faults_met"] == ["partition"]
    assert found["verdicts"]["agreement"] == "holds"
    assert (found["members"], found["broken"]) == (5, [])
    assert found["links"]["l5"]["payload"] >= 40  # the source's own
    assert "link l5 " in run("simulate", name, *arguments, "--messages", "40").stdout


def test_a_parameter_that_is_a_list_is_set_as_json():
    with_text = ("simulate", "tree", "--messages", "9", "--json", "--set")
    assert json.loads(run(*with_text, "sources=[0,1,2,3,4]").stdout)["verdicts"]["agreement"] == "holds"
    assert "tree: Input data was truncated" in str(run(*with_text, "sources=[0").exception)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["lists", FIGURE, "--source", "s1"], "'s1' is no host of this topology; there are: h1"),
        (["lists", FIGURE, "--fail", "l99"], "no link or site is called 'l99'"),
        (["lists", FIGURE, "--crowd", "3"], "--crowd wants N:COST"),
        (["simulate", "tree", "--network", "switched"], "--network switched wants --topology FILE"),
        (["simulate", "tree", "--source", "h1"], "--source and --fail name things of a topology"),
        (["simulate", "tree", "--topology", FIGURE, "--fail", "l6"], "--fail wants LINK@A:B, not 'l6'"),
        (["simulate", "tree", "--topology", FIGURE, "--fail", "x@1:2"], "no link or site is called 'x'"),
    ],
)
def test_mistakes_are_told(arguments, says):
    outcome = run(*arguments)
    assert isinstance(outcome.exception, ValueError)
    assert says in str(outcome.exception)
