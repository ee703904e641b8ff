"""The space-time listing of a small run."""

import math

import pytest

from ordercast.trace import Member, Recorder
from ordercast.trace.columns import KINDS
from ordercast.trace.listing import listing


def run(members=("a", "b"), time=0.5):
    recorder = Recorder()

    def row(kind, member, **more):
        fields = {"position": 0, "to": -1, "origin": -1, "n": 0, "cause": -1, "message": -1, "level": 0} | more
        values = [fields[name] for name in ("position", "to", "origin", "n", "cause", "message", "level")]
        position, to, origin, n, cause, message, level = values
        recorder.row(time, position, member, to, origin, n, 0, cause, message, KINDS.index(kind), level)

    word, both = recorder.message_index("MSG"), recorder.set_index([0, 1])
    row("broadcast", 0, origin=0, n=3, to=both)
    row("send", 0, origin=0, n=3, message=word)
    row("receive", 1, origin=0, n=3, message=word, cause=1)
    row("drop", 1, message=word, cause=1, level=1)
    row("deliver", 1, origin=0, n=3)
    row("reach", 1, origin=0, n=4, level=1)
    row("timer", 1, message=recorder.message_index("null"))
    row("view", 0, to=both)
    row("withdraw", 1, n=2)
    row("pause", 0, n=1)
    row("suspect", 0, origin=1)
    row("crash", 0)
    return recorder.trace("r", [Member(members[0], "crashed"), Member(members[1])])


EXPECTED = """\
time      a                         b
0.500000  broadcast (a, 3) to a, b
0.500000  send MSG (a, 3)
0.500000                            MSG (a, 3) from a
0.500000                            MSG from a lost (loss)
0.500000                            deliver (a, 3)
0.500000                            stable: a below 4
0.500000                            timer null
0.500000  view of a, b
0.500000                            withdraw the last 2
0.500000  pause begins
0.500000  suspect b
0.500000  crash
a is crashed"""


def test_each_member_has_a_column_and_each_event_a_line():
    assert "\n".join(listing(run())) == EXPECTED


def test_some_kinds_and_not_too_many():
    lines = list(listing(run(), only=("deliver", "crash"), most=1))
    assert lines == ["time      a  b", "0.500000     deliver (a, 3)", "… and 1 more events", "a is crashed"]


def test_a_wide_group_has_one_column():
    lines = list(listing(run(("a" * 90, "b" * 90))))
    assert lines[0] == "time      " + "member".ljust(92) + "event"
    assert lines[5].endswith(f"{'b' * 90}  deliver ({'a' * 90}, 3)")


def test_what_has_no_time_shows_none():
    assert next(line for line in listing(run(time=math.nan)) if "crash" in line) == "      crash"


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="sent"):
        list(listing(run(), only=["sent"]))
