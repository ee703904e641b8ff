"""A small run as a space-time listing: a line per event, a column per member, time downwards.

time      a                    b
0.000000  broadcast (a, 0)
0.000000  send MSG (a, 0)
0.000412                       MSG (a, 0) from a
0.000412                       deliver (a, 0)
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ordercast.trace.columns import DROPS, KINDS, REACHES, Trace

_GAP = 2
_WIDEST = 160  # characters of a line; what would be wider gets one column for all members


def listing(trace: Trace, only: Iterable[str] | None = None, most: int | None = None) -> Iterator[str]:
    """The lines of a listing: of all events, or of the kinds named; of at most so many, and a line that says so."""
    rows = trace.rows
    if only is not None:
        wanted = list(only)
        for kind in wanted:
            if kind not in KINDS:
                raise ValueError(f"no event is called {kind!r}; there are: {', '.join(KINDS)}")
        shown = np.flatnonzero(np.isin(rows["kind"], [KINDS.index(kind) for kind in wanted]))
    else:
        shown = np.arange(len(rows))
    left_out = 0 if most is None else max(0, len(shown) - most)
    events = [(rows[i], _event(trace, rows[i])) for i in (shown if most is None else shown[:most])]
    names = [member.name for member in trace.info.members]
    times = [_time(float(row["time"])) for row, _ in events]
    left = max([len("time"), *map(len, times)]) + _GAP
    widths = [len(name) for name in names]
    for row, words in events:
        widths[row["member"]] = max(widths[row["member"]], len(words))
    if left + sum(widths) + _GAP * len(widths) <= _WIDEST:
        columns = [left, *(width + _GAP for width in widths)]
        yield _line(["time", *names], columns)
        for (row, words), time in zip(events, times, strict=True):
            yield _line([time, *[""] * int(row["member"]), words], columns)
    else:
        columns = [left, max(map(len, [*names, "member"])) + _GAP, 0]
        yield _line(["time", "member", "event"], columns)
        for (row, words), time in zip(events, times, strict=True):
            yield _line([time, names[row["member"]], words], columns)
    if left_out:
        yield f"… and {left_out:,} more events"
    yield from _statuses(trace)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=False)).rstrip()


def _time(time: float) -> str:
    return "" if math.isnan(time) else f"{time:.6f}"


def _statuses(trace: Trace) -> Iterator[str]:
    for member in trace.info.members:
        if member.status != "correct":
            yield f"{member.name} is {member.status}"


def _event(trace: Trace, row: Any) -> str:
    """What happened, in the words of one member."""
    info = trace.info
    kind, n = KINDS[row["kind"]], int(row["n"])
    origin = info.members[row["origin"]].name if row["origin"] >= 0 else "?"
    message = f"({origin}, {n})" if row["origin"] >= 0 else ""
    word = info.messages[row["message"]] if row["message"] >= 0 else ""
    to = _names(trace, int(row["to"]))
    match kind:
        case "broadcast":
            return f"broadcast {message}{to and ' to ' + to}"
        case "send":
            return " ".join(filter(None, ("send", word, message, to and f"to {to}")))
        case "receive" | "drop":
            cause = int(row["cause"])
            sender = f"from {info.members[trace.rows['member'][cause]].name}" if cause >= 0 else ""
            lost = "" if kind == "receive" else f"lost ({DROPS[row['level']]})"
            return " ".join(filter(None, (word, message, sender, lost)))
        case "deliver":
            return f"deliver {message}"
        case "withdraw":
            return f"withdraw the last {n}"
        case "reach":
            return f"{REACHES[row['level']]}: {origin} below {n}"
        case "timer":
            return f"timer {word}"
        case "view":
            return f"view of {to or 'all'}"
        case "pause" | "outage":
            return f"{kind} {'begins' if n else 'ends'}"
        case "suspect":
            return f"suspect {origin}"
        case "restart":
            return f"restart, after {info.members[int(row['position'])].name}"
    return kind


def _names(trace: Trace, some: int) -> str:
    return "" if some < 0 else ", ".join(trace.info.members[p].name for p in trace.info.sets[some]) or "nobody"
