"""Logs from anywhere: what a line says reaches the trace, and a broken one is named by file and line."""

import json
import random
from pathlib import Path

import pytest

from ordercast.spec import check
from ordercast.trace import find_runs, foreign, read_info, read_run
from ordercast.trace.columns import KINDS
from ordercast.trace.foreign import LogMapping, LogUnreadable, import_logs

LOG = [
    {"run": "17", "member": "ann", "kind": "broadcast", "origin": "ann", "n": 0, "to": ["ann", 7], "time": 0.5},
    {"run": "17", "member": 7, "kind": "deliver", "origin": "ann", "n": 0, "time": 0.75},
    {"run": "17", "member": "ann", "kind": "deliver", "origin": "ann", "n": 0, "time": 1},
    {"run": "17", "member": "idle", "kind": "member", "time": 1.0},
    {"run": "17", "member": "7", "kind": "crash", "time": 1.5},
]


def write(path, lines):
    path.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines))
    return path


def only_run(out):
    (parts,) = find_runs(out).values()
    return read_run(parts)


def test_the_lines_become_the_rows_of_a_trace(tmp_path):
    made = import_logs([write(tmp_path / "log", [*LOG, "\n"])], tmp_path / "out", common_clock=True)
    assert (made.lines, made.runs, made.unheard) == (5, ["17"], [])
    trace = only_run(tmp_path / "out")
    assert [(member.name, member.status) for member in trace.info.members] == [
        ("ann", "correct"),
        ("7", "crashed"),
        ("idle", "correct"),
    ]
    assert trace.info.sets == [[0, 1]]
    assert trace.info.common_clock
    found = [(KINDS[row["kind"]], row["time"], row["member"], row["to"], row["origin"], row["n"]) for row in trace.rows]
    assert found == [
        ("broadcast", 0.5, 0, 0, 0, 0),
        ("deliver", 0.75, 1, -1, 0, 0),
        ("deliver", 1.0, 0, -1, 0, 0),
        ("crash", 1.5, 1, -1, -1, 0),
    ]
    assert {verdict.result for verdict in check(trace).values()} == {"holds"}


def test_times_compare_only_if_said_and_if_every_line_has_one(tmp_path):
    untimed = [{key: value for key, value in LOG[0].items() if key != "time"}, *LOG[1:]]
    for lines, said, common in ((LOG, False, False), (LOG, True, True), (untimed, True, False)):
        import_logs([write(tmp_path / "log", lines)], tmp_path / "out", common_clock=said)
        assert only_run(tmp_path / "out").info.common_clock is common


def test_runs_interleave_over_files_and_each_gets_its_own_trace(tmp_path):
    lines = [{**line, "run": run} for line in LOG for run in ("a/b", 2)]
    files = [write(tmp_path / "one", lines[:5]), write(tmp_path / "two", lines[5:])]
    import_logs(files, tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["2.trace.parquet", "a%2fb.trace.parquet"]
    for parts in find_runs(tmp_path / "out").values():
        assert len(read_run(parts).rows) == 4


def test_a_large_log_is_written_in_parts_and_read_as_one(tmp_path, monkeypatch):
    whole = import_logs([write(tmp_path / "log", LOG)], tmp_path / "whole")
    monkeypatch.setattr(foreign, "_BUFFER_ROWS", 2)
    parts = import_logs([tmp_path / "log"], tmp_path / "parts")
    assert whole == parts
    assert len(list((tmp_path / "parts").iterdir())) > 1
    assert only_run(tmp_path / "parts").digest() == only_run(tmp_path / "whole").digest()
    monkeypatch.undo()
    import_logs([tmp_path / "log"], tmp_path / "parts")
    assert [path.name for path in (tmp_path / "parts").iterdir()] == ["17.trace.parquet"]


def test_a_status_told_after_the_last_row_is_in_the_trace(tmp_path, monkeypatch):
    monkeypatch.setattr(foreign, "_BUFFER_ROWS", 1)
    import_logs(
        [write(tmp_path / "log", [LOG[0], {"run": "17", "member": "late", "kind": "member"}])], tmp_path / "out"
    )
    (parts,) = find_runs(tmp_path / "out").values()
    assert [member.name for member in read_info(parts[-1]).members] == ["ann", "7", "late"]


def test_a_member_that_only_others_name_is_cut(tmp_path):
    made = import_logs([write(tmp_path / "log", LOG[:1])], tmp_path / "out")
    assert made.unheard == [("17", "7")]
    assert check(only_run(tmp_path / "out"))["agreement"].result == "not_measured"


def test_a_foreign_log_with_other_names(tmp_path):
    theirs = [
        {"node": "x", "what": "sent", "by": "x", "seq": 1, "ms": 500, "kind": ["not", "ours"]},
        {"node": "x", "what": "heartbeat", "seq": "?"},
        {"node": "y", "what": "got", "by": "x", "seq": 1, "ms": 750},
    ]
    (tmp_path / "map.toml").write_text(
        'others = "ignore"\nfirst = 1\ntime_unit = 0.001\n'
        '[fields]\nmember = "node"\nkind = "what"\norigin = "by"\nn = "id"\ntime = "ms"\n[kinds]\nbroadcast = "sent"\n'
    )
    mapping = LogMapping.of(tmp_path / "map.toml", ["n=seq", "kind.deliver=got"])
    made = import_logs([write(tmp_path / "log", theirs)], tmp_path / "out", mapping, common_clock=True)
    assert made.lines == 2
    trace = only_run(tmp_path / "out")
    assert trace.rows["time"].tolist() == [0.5, 0.75]
    assert trace.rows["n"].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("pairs", "what"),
    [(["sender=x"], "'sender'; there are: run, member"), (["kind.got=x"], "'got'"), (["member"], "field=theirs")],
)
def test_a_mapping_names_what_there_is(pairs, what):
    with pytest.raises(ValueError, match=what):
        LogMapping.of(None, pairs)


def test_a_broken_mapping_file_is_named(tmp_path):
    (tmp_path / "map.toml").write_text("fields = 3")
    with pytest.raises(ValueError, match=r"map\.toml: .*fields"):
        LogMapping.of(tmp_path / "map.toml", [])


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("{", "truncated"),
        ("[1]", "object"),
        (b"\xff\xfe".decode("latin1"), "malformed"),
        ({"member": 1}, "`kind`"),
        ({"kind": "deliver"}, "`member`"),
        ({"member": 1, "kind": "sent"}, "no event is called 'sent'; there are: broadcast"),
        ({"member": 1, "kind": "deliver", "origin": 1}, "a deliver has an origin and a number n"),
        ({"member": 1, "kind": "deliver", "origin": 1, "n": -1}, r"\$\.n"),
        ({"member": 1, "kind": "deliver", "origin": 1, "n": 2**31}, r"\$\.n"),
        ({"member": 1, "kind": "deliver", "origin": 1, "n": "0"}, r"got `str` - at `\$\.n`"),
        ({"member": 1.5, "kind": "member"}, r"\$\.member"),
        ({"member": 1, "kind": "broadcast", "origin": 2, "n": 0}, "member 1 cannot broadcast a message of 2"),
        ({"member": 1, "kind": "view"}, "a view has members"),
        ({"member": 1, "kind": "withdraw", "count": 1}, "at most the 0 deliveries"),
        ({"member": 9, "kind": "deliver", "origin": 1, "n": 0}, r"member 9 goes on after its last line \(cut\)"),
        ({"run": "", "member": 1, "kind": "member"}, "a run has a name"),
    ],
)
def test_a_broken_line_is_named_and_nothing_is_changed(tmp_path, line, what):
    import_logs([write(tmp_path / "good", LOG)], tmp_path / "out")
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    end = {"member": 9, "kind": "cut"}
    log = write(tmp_path / "log", [{"run": "17", "member": 1, "kind": "member"}, end, line])
    with pytest.raises(LogUnreadable, match=rf"log:3: .*{what}") as error:
        import_logs([log], tmp_path / "out")
    assert "\n" not in str(error.value)
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["good", "log", "out"]


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(LogUnreadable, match="nowhere: No such file"):
        import_logs([tmp_path / "nowhere"], tmp_path / "out")


def test_a_log_without_an_event_is_refused(tmp_path):
    with pytest.raises(LogUnreadable, match="no event"):
        import_logs([write(tmp_path / "log", ["\n"])], tmp_path / "out")


def test_the_known_histories_as_lines_have_the_known_verdicts(tmp_path):
    """One log of all of them, their lines mixed; destinations stand on the last line of a message."""
    known = json.loads((Path(__file__).parents[1] / "vectors" / "data" / "histories.json").read_text())
    last = {"crashed": "crash", "cut": "cut"}
    streams = []
    for case in known:
        told = {}
        for member in case["members"]:
            lines = [{"kind": "member"}]
            lines += [{"kind": kind, "origin": origin, "n": n} for kind, origin, n in member["events"]]
            lines += [{"kind": last[status]} for status in [member["status"]] if status in last]
            streams.append([{"run": case["id"], "member": member["id"], **line} for line in lines])
            told.update({f"{line['origin']},{line['n']}": line for line in streams[-1] if "n" in line})
        for message, some in case["to"].items():
            told[message]["to"] = some
    rng = random.Random(1)
    lines = []
    while streams:
        stream = rng.choice(streams)
        lines.append(stream.pop(0))
        if not stream:
            streams.remove(stream)
    import_logs([write(tmp_path / "log", lines)], tmp_path / "out")
    runs = {Path(name).name: parts for name, parts in find_runs(tmp_path / "out").items()}
    assert len(runs) == len(known)
    for case in known:
        verdicts = check(read_run(runs[str(case["id"])]))
        assert {name: verdicts[name].result for name in case["expect"]} == case["expect"], case["id"]
