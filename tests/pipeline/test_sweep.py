"""Sweeps and verdicts over Spark: resumable, idempotent, the same wherever they run."""

import json
import shutil
from pathlib import Path

import msgspec
import pyarrow.parquet as pq
import pytest

from ordercast.core import Contract
from ordercast.pipeline.metrics import measure_runs
from ordercast.pipeline.plan import parse_plan
from ordercast.pipeline.session import PipelineError
from ordercast.pipeline.simulating import named, simulated
from ordercast.pipeline.sweep import read_facts, sweep, write_facts
from ordercast.pipeline.verify import as_json, verdicts_of, verify
from ordercast.sim import Run, faults
from ordercast.trace import Member, Recorder, TraceUnreadable, read_info, read_trace, write_trace
from ordercast.trace.columns import BROADCAST, DELIVER
from ordercast.trace.foreign import import_logs
from tests.toys import Flood


class Stumbling(Flood):
    """Raises where it delivers its fifth message."""

    name = "stumbling"

    def on_word(self, src, word):
        assert word.n < 5, "one step too far"
        super().on_word(src, word)

    handlers = {next(iter(Flood.handlers)): on_word}


class Boastful(Flood):
    """Promises an order that it does not give."""

    name = "boastful"
    contract = Contract(paper="none", title="boastful", order="total", levels=("agreed",))


TOYS = {kind.name: kind for kind in (Flood, Stumbling, Boastful)}
PLAN = """
seeds = 3
[run]
protocol = "flood"
members = [2, 3]
messages = 40
interval = 0.01
network = {kind = "delay", low = 0.001, high = 0.05}
"""


def plan(text=PLAN):
    return parse_plan(text, protocols=TOYS).runs


def digests(swept):
    return {run: row["trace_hash"] for run, row in swept.rows.items()}


@pytest.fixture(scope="module")
def done(spark, tmp_path_factory):
    out = tmp_path_factory.mktemp("sweep")
    return out, sweep(spark, plan(), out, protocols=TOYS)


def test_every_run_leaves_a_trace_and_a_row_with_its_provenance(done):
    out, swept = done
    assert len(swept.rows) == 6
    assert not swept.errors
    facts = {row["run"]: row for row in read_facts(out)}
    for run in plan():
        row = facts[run.name]
        assert (row["protocol"], row["members"], row["seed"], row["error"]) == ("flood", run.members, run.seed, None)
        trace = read_trace(out / row["trace"])
        assert trace.digest() == row["trace_hash"]
        assert trace.info.provenance["code"] == row["code"]
        assert trace.info.parameters["seed"] == run.seed
        assert row["trace_rows"] == len(trace.rows)


def test_a_run_is_what_it_is_without_spark(done):
    _, swept = done
    for run in plan():
        assert simulated(Flood, run, "here").trace.digest() == swept.rows[run.name]["trace_hash"]


def test_order_and_company_of_the_runs_change_nothing(spark, done, tmp_path):
    _, swept = done
    more = [*reversed(plan()), *plan(PLAN.replace("40", "400"))]
    assert digests(swept).items() <= digests(sweep(spark, more, tmp_path, protocols=TOYS)).items()


def test_a_finished_run_is_not_run_again_and_one_whose_trace_is_gone_is(spark, done, tmp_path):
    out, swept = done
    copy = tmp_path / "copy"
    shutil.copytree(out, copy)
    traces = sorted((copy / "traces").iterdir())
    before = {path: path.stat().st_mtime_ns for path in traces}
    traces[0].unlink()
    (traces[0].with_name(f".{traces[0].name}.99.tmp")).write_bytes(b"half a file")
    again = sweep(spark, plan(), copy, protocols=TOYS)
    assert (again.reused, again.other_code) == (5, 0)
    assert digests(again) == digests(swept)
    changed = [path for path in traces if path.stat().st_mtime_ns != before[path]]
    assert changed == [traces[0]]
    assert len(verify(spark, copy).runs) == 6, "the half file is no run"


def test_a_run_that_raises_is_a_row_and_does_not_stop_the_sweep(spark, tmp_path):
    text = PLAN.replace('"flood"', '["flood", "stumbling"]').replace("seeds = 3", "seeds = 1")
    swept = sweep(spark, plan(text), tmp_path, protocols=TOYS)
    assert len(swept.rows) == 2
    assert set(swept.errors.values()) == {"AssertionError: one step too far"}
    failed = [row for row in read_facts(tmp_path) if row["error"]]
    assert {row["protocol"] for row in failed} == {"stumbling"}
    assert {row["members"] for row in failed} == {2, 3}


def test_facts_that_cannot_be_written_are_one_clear_error(tmp_path):
    with pytest.raises(PipelineError, match=r"facts\.parquet: No such file or directory; the runs that finished stay"):
        write_facts([{"run": "a"}], tmp_path / "absent" / "facts.parquet")
    with pytest.raises(PipelineError, match=r"facts\.parquet"):
        read_facts(tmp_path)


def test_an_output_that_is_a_file_is_one_clear_error(spark, tmp_path):
    (tmp_path / "out").touch()
    with pytest.raises(PipelineError, match=r"out: Not a directory"):
        sweep(spark, plan(), tmp_path / "out", protocols=TOYS)


# ------------------------------------------------------------------------------------------ verdicts


def test_a_contract_decides_what_is_a_failure(spark, tmp_path):
    runs = [
        named(Run(protocol=name, members=3, messages=60, network=plan()[0].network, seed=seed))
        for name in ("flood", "boastful")
        for seed in range(2)
    ]
    swept = sweep(spark, runs, tmp_path, protocols=TOYS)
    assert not swept.errors
    found = verify(spark, tmp_path, protocols=TOYS)
    by_protocol = {run["protocol"]: run for run in found.runs}
    for run in found.runs:
        assert run["verdicts"]["total_order"] == "violated"
        assert len(run["witnesses"]["total_order"]["messages"]) == 2
    assert by_protocol["flood"]["broken"] == []
    assert "total_order" in by_protocol["boastful"]["broken"]
    assert found.exit_code() == 1
    flood = tmp_path / "flood"
    flood.mkdir()
    for path in (tmp_path / "traces").glob("flood*"):
        path.rename(flood / path.name)
    assert verify(spark, flood, protocols=TOYS).exit_code() == 0
    assert verify(spark, flood, require=["total_order"], protocols=TOYS).exit_code() == 1
    assert verify(spark, flood).exit_code() == 1, "without a contract every property counts"
    with pytest.raises(ValueError, match="no property is called 'nonsense'"):
        verify(spark, flood, require=["nonsense"])


def logs(name, orders, status="correct", part=None):
    """A trace in which member 0 broadcasts three messages and each member delivers them in an order of its own."""
    recorder = Recorder()
    for n in range(3):
        recorder.row(0.1 * n, 0, 0, -1, 0, n, 0, -1, -1, BROADCAST, 0)
    for member, order in enumerate(orders):
        for position, n in enumerate(order):
            recorder.row(1.0 + position, position, member, -1, 0, n, 0, -1, -1, DELIVER, 0)
    return recorder.trace(name, [Member(str(k), status) for k in range(len(orders))])


def test_the_answer_has_the_documented_shape(spark, tmp_path):
    write_trace(logs("good", [[0, 1, 2], [0, 1, 2]]), tmp_path)
    write_trace(logs("bad", [[0, 1, 2], [1, 0, 2]]), tmp_path)
    found = verify(spark, tmp_path)
    bad, good = as_json(found)["runs"]
    assert (good["run"], bad["run"]) == ("good", "bad")
    assert set(good["verdicts"].values()) == {"holds"}
    assert "gap_free" in good["strongest"]
    assert "total_order" not in good["strongest"]
    assert bad["verdicts"]["fifo"] == bad["verdicts"]["total_order"] == "violated"
    assert bad["verdicts"]["agreement"] == "holds"
    assert set(bad["witnesses"]["total_order"]) == {"text", "messages", "members"}
    assert found.exit_code() == 1


def test_what_cannot_be_read_is_named_and_the_rest_is_judged(spark, tmp_path):
    write_trace(logs("good", [[0, 1, 2], [0, 1, 2]]), tmp_path)
    (tmp_path / "torn.trace.parquet").write_bytes(b"PAR1 and then nothing")
    old = logs("old", [[0, 1, 2]])
    old.info.format = 0
    write_trace(old, tmp_path)
    found = verify(spark, tmp_path)
    assert [run["run"] for run in found.runs] == ["good"]
    said = sorted(found.unreadable.values())
    assert "old.trace.parquet: a trace of format 0; this version reads format 1" in said[0]
    assert "torn.trace.parquet: not a Parquet file" in said[1]
    assert found.exit_code() == 2


def test_no_traces_is_said(spark, tmp_path):
    for place in (tmp_path, tmp_path / "absent"):
        with pytest.raises(TraceUnreadable, match="no traces"):
            verify(spark, place)


def test_a_run_larger_than_memory_is_refused_with_the_figures(tmp_path):
    path = write_trace(logs("large", [[0, 1, 2]] * 4), tmp_path)
    with pytest.raises(TraceUnreadable, match=r"a run of 15 rows may need 0\.0 GB and a task has 0\.0 GB"):
        verdicts_of(([path], 1000))
    assert verdicts_of(([path], 10_000))["run"] == "large"


def test_parts_of_a_run_are_read_together(spark, tmp_path):
    whole = logs("run", [[0, 1, 2], [0, 2, 1]])
    for part, rows in enumerate((whole.rows[:4], whole.rows[4:])):
        write_trace(type(whole)(whole.info, rows), tmp_path, part)
    found = verify(spark, tmp_path)
    assert len(found.runs) == 1
    assert found.runs[0]["deliveries"] == 6
    assert found.runs[0]["verdicts"]["fifo"] == "violated"
    assert read_info(next(tmp_path.iterdir())).run == "run"


def test_the_files_of_live_members_are_one_run(spark, tmp_path):
    whole = logs("live", [[0, 1, 2], [0, 1, 2], [0, 2, 1]])
    for member in range(2):  # the third was killed before it wrote anything
        info = msgspec.structs.replace(whole.info, facts={"recorded_by": member})
        rows = whole.rows[whole.rows["member"] == member]
        write_trace(type(whole)(info, rows), tmp_path, 0, member=member)
    (run,) = verify(spark, tmp_path).runs
    assert (run["run"], run["members"], run["deliveries"]) == ("live", 3, 6)
    assert run["verdicts"]["uniform_total_order"] == "holds"
    assert run["verdicts"]["agreement"] == "not_measured"
    (row,) = measure_runs(spark, tmp_path).rows
    assert row["delivery_s"] == pytest.approx(1.9)


def test_faults_that_a_run_met_excuse_it(spark, tmp_path):
    lossy = Run(protocol="boastful", members=3, messages=60, faults=(faults.Crash(member=1, at=0.5),), settle=1.0)
    sweep(spark, [lossy], tmp_path, protocols=TOYS)
    (run,) = verify(spark, tmp_path, protocols=TOYS).runs
    assert run["faults_met"] == ["crash"]
    assert run["promised"] == []


def test_facts_have_a_column_for_whatever_any_row_has(tmp_path):
    write_facts(
        [{"run": "a", "error": None, "x": 1.5}, {"run": "b", "error": None, "y": None}], tmp_path / "facts.parquet"
    )
    table = pq.read_table(tmp_path / "facts.parquet")
    assert table.column_names == ["run", "error", "x", "y"]
    assert str(table.schema.field("error").type) == "string"
    assert table.column("x").to_pylist() == [1.5, None]


def test_imported_logs_have_the_verdicts_of_the_known_histories(spark, tmp_path):
    cases = json.loads((Path(__file__).parent.parent / "vectors/data/histories.json").read_text())
    with (tmp_path / "log").open("w") as log:
        for case in cases:
            for member in case["members"]:
                common = {"run": str(case["id"]), "member": member["id"]}
                print(json.dumps(common | {"kind": "member"}), file=log)
                for kind, origin, n in member["events"]:
                    line = common | {"kind": kind, "origin": origin, "n": n}
                    to = case["to"].get(f"{origin},{n}")
                    print(json.dumps(line | ({"to": to} if to is not None else {})), file=log)
                if member["status"] != "correct":
                    print(json.dumps(common | {"kind": {"crashed": "crash"}.get(member["status"], "cut")}), file=log)
    import_logs([tmp_path / "log"], tmp_path / "out")
    found = {run["run"]: run["verdicts"] for run in as_json(verify(spark, tmp_path / "out"))["runs"]}
    assert len(found) == len(cases) >= 90
    for case in cases:
        assert found[str(case["id"])] == case["expect"], case["id"]
