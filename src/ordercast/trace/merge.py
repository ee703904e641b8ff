"""One run out of the files of its members: each live member records itself, with all members named.

`facts["recorded_by"]` says whose events a trace holds.  A member without a trace, and one whose last file was never
written, is *cut*: what it did later is not measured.
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from ordercast.trace.columns import ROW, Member, Rows, Trace

RECORDED_BY = "recorded_by"


class NotOneRun(ValueError):
    """Traces that do not belong together; the message says why."""


def merge_members(traces: Sequence[Trace]) -> Trace:
    """The run whose members recorded `traces`, one each: in the order of time where they have a common clock."""
    if not traces:
        raise NotOneRun("there is no trace to merge")
    first = traces[0].info
    statuses: dict[int, Member] = {}
    for trace in traces:
        info, member = trace.info, trace.info.facts.get(RECORDED_BY)
        if not isinstance(member, int) or not 0 <= member < len(info.members):
            raise NotOneRun(f"a trace of run {info.run!r} does not say which member recorded it")
        if info.run != first.run or [each.name for each in info.members] != [each.name for each in first.members]:
            raise NotOneRun(f"runs {first.run!r} and {info.run!r} differ in their name or their members")
        if member in statuses:
            raise NotOneRun(f"two traces of run {info.run!r} were recorded by member {info.members[member].name}")
        statuses[member] = info.members[member]
    sets: dict[tuple[int, ...], int] = {}
    messages: dict[str, int] = {}
    rows = _in_one_order([_renumbered(trace, sets, messages) for trace in traces], first.common_clock)
    members = [statuses.get(place, Member(each.name, "cut")) for place, each in enumerate(first.members)]
    info = msgspec.structs.replace(
        first,
        members=members,
        sets=[list(each) for each in sets],
        messages=list(messages),
        finished=all(trace.info.finished for trace in traces) and len(traces) == len(members),
        faults_met=sorted({fault for trace in traces for fault in trace.info.faults_met}),
        facts={name: value for name, value in first.facts.items() if name != RECORDED_BY},
    )
    return Trace(info, rows)


def _renumbered(trace: Trace, sets: dict[tuple[int, ...], int], messages: dict[str, int]) -> Rows:
    """The rows, pointing into common tables."""
    rows = trace.rows.copy()
    names = rows.dtype.names or ()
    if "to" in names:
        new = [sets.setdefault(tuple(each), len(sets)) for each in trace.info.sets]
        rows["to"] = np.array([*new, -1], dtype=ROW["to"])[rows["to"]]  # -1 points to the last, which is -1
    if "message" in names:
        new = [messages.setdefault(each, len(messages)) for each in trace.info.messages]
        rows["message"] = np.array([*new, -1], dtype=ROW["message"])[rows["message"]]
    return rows


def _in_one_order(parts: list[Rows], common_clock: bool) -> Rows:
    starts = np.cumsum([0, *(len(part) for part in parts)])
    for start, part in zip(starts, parts, strict=False):
        if "cause" in (part.dtype.names or ()):
            part["cause"][part["cause"] >= 0] += start
    rows: Rows = np.concatenate(parts)
    if not common_clock or "time" not in (rows.dtype.names or ()):
        return rows
    # A member's own rows keep their order even where its clock was set back, so their times are made to rise.
    rising = np.concatenate([np.maximum.accumulate(part["time"]) for part in parts]) if len(rows) else rows["time"]
    order = np.argsort(rising, kind="stable")
    if "cause" in (rows.dtype.names or ()):
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        caused = rows["cause"] >= 0
        rows["cause"][caused] = place[rows["cause"][caused]]
    return rows[order]
