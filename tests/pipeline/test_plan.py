"""Plans: a TOML file is a grid of runs, each under a name of its own; mistakes are named by file, line and key."""

from dataclasses import dataclass

import msgspec
import pytest

from ordercast.core import Parameters
from ordercast.pipeline.plan import PlanError, parse_plan, read_plan
from ordercast.sim import faults, networks, workloads
from tests.toys import Flood


class Tuned(Flood):
    name = "tuned"

    class Parameters(Parameters, frozen=True, kw_only=True):
        silence: float = 0.1
        window: int = 1


TOYS = {"flood": Flood, "tuned": Tuned}

PLAN = """\
title = "Two toys"
seeds = 2

[run]
protocol = ["flood", "tuned"]
members = [3, 5]
interval = 0.05
faults = [[], [{kind = "loss", rate = 0.1}]]

[parameters.tuned]
silence = [0.1, 0.2]
"""


def plan(text):
    return parse_plan(text, "p.toml", TOYS)


def test_a_plan_is_the_product_of_its_alternatives():
    found = plan(PLAN)
    assert found.title == "Two toys"
    assert len(found.runs) == 2 * 2 * 2 + 2 * 2 * 2 * 2  # members, faults, seeds; and tuned's two silences
    run = found.runs[-1]
    assert run.protocol == "tuned"
    assert run.members == 5
    assert run.workload == workloads.Poisson(interval=0.05)
    assert run.faults == (faults.Loss(rate=0.1),)
    assert run.parameters == {"silence": 0.2}
    assert run.seed == 1


def test_a_run_has_the_same_name_in_any_plan_and_no_other_has_it():
    names = [run.name for run in plan(PLAN).runs]
    assert len(set(names)) == len(names)
    smaller = plan('[run]\nprotocol = "flood"\nmembers = 3\nworkload = {kind = "poisson", interval = 0.05}\n')
    assert smaller.runs[0].name == names[0]
    assert smaller.runs[0] == plan(PLAN).runs[0]


def test_further_grids_stand_on_the_same_defaults():
    found = plan(
        'seeds = [7]\n[run]\nmembers = 3\n[[more]]\nprotocol = "flood"\n[[more]]\nprotocol = "tuned"\nmembers = 4\n'
    )
    assert [(run.protocol, run.members, run.seed) for run in found.runs] == [("flood", 3, 7), ("tuned", 4, 7)]


def test_tables_for_networks_and_single_sets_of_faults():
    found = plan(
        '[run]\nprotocol = "flood"\n[run.network]\nkind = "delay"\nlow = 0.001\nhigh = 0.002\n'
        '[[run.faults]]\nkind = "crash"\nmember = 1\nat = 2.0\n'
    )
    assert found.runs[0].network == networks.Delay(low=0.001, high=0.002)
    assert found.runs[0].faults == (faults.Crash(member=1, at=2.0),)


@dataclass
class Wrong:
    text: str
    line: int
    says: str


WRONG = {
    "not TOML": Wrong("[run]\nprotocol = \n", 2, "not TOML"),
    "a key twice": Wrong("[run]\nmembers = 3\nmembers = 4\n", 3, "not TOML"),
    "unknown top key": Wrong('seed = 3\n[run]\nprotocol = "flood"\n', 1, "seed is not a key of a plan"),
    "unknown key of a run": Wrong(
        '# members\n[run]\nprotocol = "flood"\nmember = 3\n', 4, "member is not a key of a run"
    ),
    "no protocol": Wrong("seeds = 1\n[run]\nmembers = 3\n", 2, "protocol is missing"),
    "unknown protocol": Wrong(
        '[run]\nprotocol = ["flood", "paxos"]\n', 2, "no protocol is called 'paxos'; there are: flood"
    ),
    "wrong type": Wrong('[run]\nprotocol = "flood"\nmembers = "three"\n', 3, "members"),
    "out of range": Wrong('[run]\nprotocol = "flood"\nmembers = [3, 0]\n', 3, "members must be at least 1, not 0"),
    "a negative loss": Wrong('[run]\nprotocol = "flood"\nfaults = [{kind = "loss", rate = -1}]\n', 3, "rate"),
    "unknown network": Wrong('[run]\nprotocol = "flood"\n[run.network]\nkind = "pigeon"\n', 3, "pigeon"),
    "unknown field of a network": Wrong(
        '[run]\nprotocol = "flood"\n\nnetwork = {kind = "bus", speed = 3}\n', 4, "network has no field 'speed'"
    ),
    "unknown parameter": Wrong(
        '[run]\nprotocol = "tuned"\n[parameters.tuned]\nwindow = 3\nsilense = 0.1\n',
        5,
        "tuned has no parameter 'silense'",
    ),
    "a parameter of the wrong type": Wrong(
        '[run]\nprotocol = "tuned"\n[parameters.tuned]\nwindow = "wide"\n', 4, "window"
    ),
    "parameters of a stranger": Wrong(
        '[run]\nprotocol = "flood"\n[parameters.tuned]\nwindow = 3\n', 3, "tuned is not a protocol of this plan"
    ),
    "no seeds": Wrong('seeds = []\n[run]\nprotocol = "flood"\n', 1, "seeds is a number of seeds"),
    "empty list": Wrong('[run]\nprotocol = "flood"\nmembers = []\n', 3, "members has no alternatives"),
    "interval and workload": Wrong(
        '[run]\nprotocol = "flood"\ninterval = 0.1\nworkload = {kind = "hot"}\n', 3, "interval is short for a Poisson"
    ),
    "a negative interval": Wrong('[run]\nprotocol = "flood"\ninterval = -0.1\n', 3, "interval must be from 1e-06"),
    "run is no table": Wrong("run = 3\n", 1, "run is a table"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_one_line_with_file_line_and_key(name):
    wrong = WRONG[name]
    with pytest.raises(PlanError) as caught:
        plan(wrong.text)
    said = str(caught.value)
    assert said.startswith(f"p.toml:{wrong.line}: "), said
    assert wrong.says in said
    assert "\n" not in said


def test_a_plan_that_cannot_be_read_names_the_file(tmp_path):
    with pytest.raises(PlanError, match=r"absent\.toml: No such file"):
        read_plan(tmp_path / "absent.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PlanError, match=r"binary\.toml: "):
        read_plan(tmp_path / "binary.toml")


def test_a_run_survives_json():
    for run in plan(PLAN).runs:
        assert msgspec.json.decode(msgspec.json.encode(run), type=type(run)) == run
