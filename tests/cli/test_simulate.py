"""`ordercast simulate` and `protocols`, as a person and as a machine use them."""

import json
import subprocess
import sys

import pytest

FAULTS = "--loss 0.05 --duplicate 0.05 --pause 1@0.2:0.4 --outage 2@0.5:0.7 --partition 0.8:1:0,1/2,3,4"


def ordercast(*words):
    command = [sys.executable, "-m", "ordercast", *words]
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def answer(*words):
    done = ordercast(*words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_json_of_a_run_says_what_was_measured_and_what_held():
    found = answer("simulate", "dtp", "--messages", "100", "--seed", "5")
    assert found["stability_times_rate"] == pytest.approx(0.62, abs=0.1)
    assert found["overhead_per_broadcast"] == pytest.approx(1.0, abs=0.05)
    assert {"delivery_s", "stability_s", "buffer_messages", "trace_hash"} <= found.keys()
    assert set(found["verdicts"].values()) == {"holds"}
    assert {"integrity", "gap_free", "safe", "bounded"} <= found["verdicts"].keys()
    assert found["trace_hash"] == answer("simulate", "dtp", "--messages", "100", "--seed", "5")["trace_hash"]


def test_faults_are_options_and_those_that_met_traffic_are_named():
    found = answer("simulate", "dtp", "--messages", "100", *FAULTS.split())
    assert set(found["faults_met"]) == {"loss", "duplication", "pause", "outage", "partition"}
    assert found["broken"] == []


def test_a_stall_after_a_crash_leaves_the_end_unmeasured():
    found = answer("simulate", "totem", "--messages", "100", "--crash", "1@0.5", "--settle", "1")
    assert found["stalled"]
    assert found["verdicts"]["agreement"] == "not_measured"
    assert found["verdicts"]["gap_free"] == "holds"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("simulate nosuch", "no protocol is called 'nosuch'; there are: dtp"),
        ("simulate dtp --members 0", "members must be at least 1"),
        ("simulate dtp --loss -0.1", "--loss is a probability"),
        ("simulate dtp --crash 9@1", "members are 0 to 4"),
        ("simulate dtp --partition 1:2", "--partition wants A:B"),
        ("simulate dtp --set speed=1", "dtp has no parameter 'speed'; it has: T"),
        ("simulate dtp --set T=-1", "dtp: Expected `float` > 0"),
        ("simulate dtp --workload nosuch.txt", "nosuch.txt: No such file"),
        ("simulate dtp --crash 1@1 --restart 1@2", "dtp does not know joining"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(words, message):
    done = ordercast(*words.split())
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_the_catalog_as_json():
    listed = answer("protocols")
    names = [entry["name"] for entry in listed]
    assert names[:4] == ["dtp", "cm", "pinwheel", "totem"]
    wanted = {"name", "paper", "order", "levels", "reports", "safe_under", "live_under", "bounds", "parameters"}
    assert all(wanted <= entry.keys() for entry in listed)
    assert {"name": "T", "default": 0.1, "unit": "s"}.items() <= listed[0]["parameters"][0].items()
