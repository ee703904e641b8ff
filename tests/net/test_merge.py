"""The files of a run's members become one trace."""

import asyncio

import msgspec
import numpy as np
import pytest

from ordercast.net.recording import Recording
from ordercast.trace import Member, NotOneRun, Recorder, TraceUnreadable, find_runs, merge_members, read_run
from ordercast.trace.columns import BROADCAST, DELIVER, SEND
from ordercast.trace.files import write_trace


def of_member(me, events, status="correct", run="r", finished=True):
    """A trace that member `me` of three recorded: (time, kind, n, set or None, message or None, cause)."""
    recorder = Recorder()
    for time, kind, n, to, message, cause in events:
        place = -1 if to is None else recorder.set_index(to)
        what = -1 if message is None else recorder.message_index(message)
        recorder.row(time, 0, me, place, me, n, 0, cause, what, kind, 0)
    members = [Member(str(each), status if each == me else "cut") for each in range(3)]
    return recorder.trace(run, members, finished=finished, facts={"recorded_by": me})


def test_rows_come_in_the_order_of_time_and_point_into_common_tables():
    one = of_member(0, [(0.1, BROADCAST, 0, (0, 1), None, -1), (0.4, SEND, 0, None, "Msg", 0)])
    two = of_member(2, [(0.2, SEND, 0, None, "Ack", -1), (0.3, SEND, 1, (1, 2), "Msg", 0)], "crashed")
    trace = merge_members([one, two])
    assert trace.rows["time"].tolist() == [0.1, 0.2, 0.3, 0.4]
    assert trace.rows["member"].tolist() == [0, 2, 2, 0]
    assert trace.rows["cause"].tolist() == [-1, -1, 1, 0]
    assert [trace.info.messages[m] if m >= 0 else None for m in trace.rows["message"]] == [None, "Ack", "Msg", "Msg"]
    assert [trace.info.sets[s] if s >= 0 else None for s in trace.rows["to"]] == [[0, 1], None, [1, 2], None]
    assert [member.status for member in trace.info.members] == ["correct", "cut", "crashed"]
    assert not trace.info.finished, "a member's log is missing"
    assert trace.info.facts == {}


def test_a_members_own_rows_keep_their_order_whatever_its_clock_did():
    one = of_member(0, [(0.5, DELIVER, 0, None, None, -1), (0.1, DELIVER, 1, None, None, -1)])
    two = of_member(1, [(0.3, DELIVER, 2, None, None, -1), (0.6, DELIVER, 3, None, None, -1)])
    assert merge_members([one, two]).rows["n"].tolist() == [2, 0, 1, 3]
    apart = [
        msgspec.structs.replace(trace, info=msgspec.structs.replace(trace.info, common_clock=False))
        for trace in (one, two)
    ]
    assert merge_members(apart).rows["n"].tolist() == [0, 1, 2, 3]


def test_what_is_not_one_run_is_refused():
    one = of_member(0, [])
    with pytest.raises(NotOneRun, match="no trace"):
        merge_members([])
    with pytest.raises(NotOneRun, match="two traces of run 'r' were recorded by member 0"):
        merge_members([one, of_member(0, [])])
    with pytest.raises(NotOneRun, match="'r' and 'other' differ"):
        merge_members([one, of_member(1, [], run="other")])
    nobody = Recorder().trace("r", [Member("0")])
    with pytest.raises(NotOneRun, match="does not say which member"):
        merge_members([nobody])


def test_files_are_found_by_member_and_part_and_read_as_one_run(tmp_path):
    whole = of_member(1, [(time / 10, DELIVER, time, None, None, -1) for time in range(12)])
    for part in range(12):
        piece = msgspec.structs.replace(whole, rows=whole.rows[part : part + 1])
        write_trace(piece, tmp_path, part, member=1)
    write_trace(of_member(0, [(0.05, DELIVER, 99, None, None, -1)]), tmp_path, 0, member=0)
    write_trace(of_member(0, [], run="r.2"), tmp_path, member=0)
    runs = find_runs(tmp_path)
    assert [name.rpartition("/")[2] for name in runs] == ["r", "r.2"]
    trace = read_run(runs[str(tmp_path / "r")])
    assert trace.rows["n"].tolist() == [0, 99, *range(1, 12)]
    write_trace(of_member(2, [], run="another"), tmp_path / "mixed", member=2)
    (tmp_path / "mixed" / "another.member-2.trace.parquet").rename(tmp_path / "r.member-2.trace.parquet")
    with pytest.raises(TraceUnreadable, match="differ in their name"):
        read_run(find_runs(tmp_path)[str(tmp_path / "r")])


def test_a_recording_is_a_prefix_at_every_moment_and_replaces_an_earlier_one(tmp_path):
    async def record(flushes):
        recording = Recording(tmp_path, "r", 7, [7, 8], common_clock=True)
        for n in range(flushes):
            recording.deliveries(8, 10 * n, [b"x"] * 10)
            recording.flush()
            await recording.writing
            (files,) = find_runs(tmp_path).values()
            trace = read_run(files)
            assert trace.rows["n"].tolist() == list(range(10 * n + 10))
            assert trace.rows["position"].tolist() == list(range(10 * n + 10))
            assert [member.status for member in trace.info.members] == ["cut", "cut"]
        await recording.close("correct", finished=True)
        (files,) = find_runs(tmp_path).values()
        return read_run(files)

    assert len(asyncio.run(record(3)).rows) == 30
    trace = asyncio.run(record(1))
    assert len(trace.rows) == 10
    assert [(member.name, member.status) for member in trace.info.members] == [("7", "correct"), ("8", "cut")]
    assert np.all(np.diff(trace.rows["time"]) >= 0)


def test_after_a_part_that_could_not_be_written_nothing_is(tmp_path):
    async def scenario():
        folder = tmp_path / "gone"
        recording = Recording(folder, "r", 0, [0], common_clock=True)
        recording.deliveries(0, 0, [b"x"])
        folder.rmdir()
        folder.write_text("in the way")
        recording.flush()
        await asyncio.wait([recording.writing])
        folder.unlink()
        recording.deliveries(0, 1, [b"x"])
        recording.flush()
        with pytest.raises(OSError, match="gone"):
            await recording.close("correct", finished=True)
        assert not list(tmp_path.rglob("*.parquet"))

    asyncio.run(scenario())
