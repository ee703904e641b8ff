"""A run as the properties see it: who broadcast and who delivered which message, each in its own order.

Messages have dense ids, ordered by origin and number, so that a column over messages is one numpy array and the
messages of an origin are a slice of it.  A number that nobody mentions, below one that somebody does, has an id as
well (numbers are consecutive, so that message exists); of a long stretch of such numbers one stands for all.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ordercast.trace import Member, Recorder, RunInfo, Trace
from ordercast.trace.columns import BROADCAST, CRASH, CUT, DELIVER, KINDS, LEAVE, REACH, REACHES, VIEW, WITHDRAW

Ints: TypeAlias = npt.NDArray[np.integer[Any]]
Bools: TypeAlias = npt.NDArray[np.bool_]

NEVER = np.iinfo(np.int32).max  # the position of a message in a log that lacks it


class Log:
    """One member's broadcasts and deliveries.  `at` is the row of an event: it orders the two kinds of events."""

    def __init__(self, broadcasts: Ints, broadcast_at: Ints, deliveries: Ints, delivered_at: Ints, size: int) -> None:
        self.broadcasts, self.broadcast_at = broadcasts, broadcast_at
        self.deliveries, self.delivered_at = deliveries, delivered_at
        where = np.full(size, NEVER, dtype=np.int32)
        steps = np.arange(len(deliveries), dtype=np.int32)
        where[deliveries[::-1]] = steps[::-1]  # of equal indices the last assignment stays: the first delivery
        first = where[deliveries] == steps
        if first.all():
            self.first, self.first_at, self.repeated = deliveries, delivered_at, deliveries[:0]
        else:
            self.first, self.first_at, self.repeated = deliveries[first], delivered_at[first], deliveries[~first]
        self._size = size

    def positions(self) -> Ints:
        """Per message, its place among this member's first deliveries, or NEVER."""
        where = np.full(self._size, NEVER, dtype=np.int32)
        where[self.first] = np.arange(len(self.first), dtype=np.int32)
        return where


class History:
    """What the properties judge.  Made by `from_trace` or `from_logs`; withdrawn deliveries are struck already."""

    def __init__(self, info: RunInfo, status: Sequence[str]) -> None:
        self.info = info
        self.names = tuple(member.name for member in info.members)
        self.status = tuple(status)
        self.correct = [p for p, word in enumerate(status) if word == "correct"]
        self.cut = [p for p, word in enumerate(status) if word == "cut"]
        self.finished = info.finished
        self.start: Ints = np.zeros(1, dtype=np.int64)  # ids of origin o: start[o] to start[o + 1]
        self.origins: Ints = np.empty(0, dtype=np.int32)  # per id
        self.numbers: Ints = np.empty(0, dtype=np.int64)  # per id
        self.to: Ints = np.empty(0, dtype=np.int32)  # per id: a row of `addressed`
        self.addressed: Bools = np.ones((1, len(self.names)), dtype=np.bool_)  # row 0: all
        self.logs: list[Log] = []
        self.times: npt.NDArray[np.float64] | None = None  # per row of the trace
        self.stable: list[tuple[int, int]] = []  # (origin, below): the most that was ever reported stable

    @classmethod
    def from_trace(cls, trace: Trace, to: Sequence[tuple[int, int, int]] = ()) -> "History":
        """The history in a trace.  It needs the columns member, kind, to, origin and n; `live` also time.

        `to` has (origin, n, set) for messages whose destinations are known though no row has them."""
        rows, info = trace.rows, trace.info
        kind = rows["kind"]
        self = cls(info, _statuses(trace))
        events = np.flatnonzero((kind == BROADCAST) | (kind == DELIVER))
        kinds, member = kind[events], rows["member"][events]
        origin, n = rows["origin"][events], rows["n"][events].astype(np.int64)
        _refuse_nonsense(self.names, kinds, member, origin, n)
        more = np.array(to, dtype=np.int64).reshape(-1, 3)
        ids = self._number(np.concatenate((origin, more[:, 0])), np.concatenate((n, more[:, 1])))
        ids, unseen = ids[: len(events)], ids[len(events) :]
        by_member = np.argsort(member.astype(np.int16 if len(self.names) < 2**15 else np.int32), kind="stable")
        ends = np.searchsorted(member[by_member], np.arange(len(self.names) + 1))
        struck = _withdrawals(rows)
        for p in range(len(self.names)):
            mine = by_member[ends[p] : ends[p + 1]]
            delivering = kinds[mine] == DELIVER
            casts, gets = mine[~delivering], mine[delivering]
            if p in struck:
                gets = _strike(gets, events, struck[p])
            self.logs.append(Log(ids[casts], events[casts], ids[gets], events[gets], len(self.to)))
        if "time" in (rows.dtype.names or ()):
            self.times = rows["time"]
        self._address(rows, np.concatenate((ids, unseen)), np.concatenate((rows["to"][events], more[:, 2])))
        if "level" in (rows.dtype.names or ()):
            told = rows[(kind == REACH) & (rows["level"] == REACHES.index("stable"))]
            for o in range(len(self.names)):
                below = told["n"][told["origin"] == o]
                if len(below):
                    self.stable.append((o, int(below.max())))
        return self

    @classmethod
    def from_logs(
        cls,
        members: Sequence[tuple[str, str, Sequence[tuple[Any, ...]]]],
        to: Mapping[tuple[str, int], Sequence[str]] = {},
        finished: bool = True,
    ) -> "History":
        """From plain lists: per member its name, status and events, each ("broadcast" or "deliver", origin, n),
        ("withdraw", count), or ("view", names).  `to` has the destinations of messages not addressed to all."""
        recorder = Recorder()
        index = {name: p for p, (name, _, _) in enumerate(members)}
        for p, (_, _, events) in enumerate(members):
            for kind, *rest in events:
                where, origin, n = -1, -1, 0
                if kind == "view":
                    where = recorder.set_index(index[name] for name in rest[0])
                elif kind == "withdraw":
                    n = rest[0]
                else:
                    origin, n = index[rest[0]], rest[1]
                recorder.row(0.0, -1, p, where, origin, n, 0, -1, -1, KINDS.index(kind), 0)
        known = [(index[o], n, recorder.set_index(index[name] for name in some)) for (o, n), some in to.items()]
        listed = [Member(name, status) for name, status, _ in members]  # type: ignore[arg-type]
        return cls.from_trace(recorder.trace("logs", listed, finished=finished), known)

    def _number(self, origin: Ints, n: Ints) -> Ints:
        """Give every message its id; return those of the events."""
        size = len(self.names)
        last = np.full(size, -1, dtype=np.int64)
        np.maximum.at(last, origin, n)
        if int(last.sum()) + size <= 4 * len(n) + 1024:
            self.start = np.concatenate(([0], np.cumsum(last + 1)))
            self.origins = np.repeat(np.arange(size, dtype=np.int32), last + 1)
            self.numbers = np.arange(len(self.origins), dtype=np.int64) - self.start[self.origins]
            ids = self.start[origin] + n
        else:  # far apart: the mentioned numbers, and before each gap's end its first number for the whole gap
            keys = np.unique(origin.astype(np.int64) << 32 | n)
            before = np.concatenate(([-1], keys[:-1]))
            same = before >> 32 == keys >> 32
            lowest = np.where(same, before + 1, keys >> 32 << 32)
            keys = np.unique(np.concatenate((keys, lowest)))
            self.origins, self.numbers = (keys >> 32).astype(np.int32), keys & 0xFFFFFFFF
            self.start = np.searchsorted(self.origins, np.arange(size + 1))
            ids = np.searchsorted(keys, origin.astype(np.int64) << 32 | n)
        self.to = np.zeros(len(self.origins), dtype=np.int32)
        return ids.astype(np.int32)

    def _address(self, rows: npt.NDArray[Any], ids: Ints, to: Ints) -> None:
        """Find each message's destinations: as said on a row of it, else the view it was first delivered in."""
        sets = self.info.sets
        if not sets:
            return
        size = len(self.names)
        self.addressed = np.zeros((1 + len(sets), size), dtype=np.bool_)
        self.addressed[0] = True
        for i, chosen in enumerate(sets, start=1):
            self.addressed[i, chosen] = True
        if (rows["kind"] == VIEW).any():
            self._address_by_views(rows)
        said = np.flatnonzero(to >= 0)[::-1]
        self.to[ids[said]] = to[said] + 1
        self.to[self.addressed[self.to].all(axis=1)] = 0

    def _address_by_views(self, rows: npt.NDArray[Any]) -> None:
        clock = self.times if self.info.common_clock else None
        found: list[tuple[Ints, Ints, Ints]] = []  # (ids, rows, sets) of deliveries
        for p, log in enumerate(self.logs):
            views = np.flatnonzero((rows["kind"] == VIEW) & (rows["member"] == p))
            in_view = np.concatenate(([0], rows["to"][views] + 1))
            self.to[log.broadcasts] = in_view[np.searchsorted(views, log.broadcast_at)]  # unless it is delivered
            found.append((log.first, log.first_at, in_view[np.searchsorted(views, log.first_at)]))
        ids, at, view = (np.concatenate(column) for column in zip(*found, strict=True))
        earliest = np.argsort(at) if clock is None else np.lexsort((at, clock[at]))
        self.to[ids[earliest[::-1]]] = view[earliest[::-1]]

    @cached_property
    def to_all(self) -> bool:
        """Every message is addressed to every member."""
        return not self.to.any()

    @cached_property
    def recorded(self) -> Bools:
        """Per message: its broadcast is on record."""
        out = np.zeros(len(self.to), dtype=np.bool_)
        for log in self.logs:
            out[log.broadcasts] = True
        return out

    @cached_property
    def one_sequence(self) -> bool:
        """Every log is a prefix of the longest one: the usual end of a total order, and cheap to see."""
        longest = max((log.first for log in self.logs), key=len)
        return all(np.array_equal(log.first, longest[: len(log.first)]) for log in self.logs)

    def addressed_to(self, p: int) -> Bools | None:
        """Per message: p is a destination.  None: of every message."""
        return None if self.to_all else self.addressed[self.to, p]

    def message(self, m: int) -> tuple[str, int]:
        """The name of a message."""
        return self.names[self.origins[m]], int(self.numbers[m])


def say(message: tuple[str, int]) -> str:
    """A message in a sentence."""
    return f"({message[0]}, {message[1]})"


def _statuses(trace: Trace) -> list[str]:
    status: list[str] = [member.status for member in trace.info.members]
    kind = trace.rows["kind"]
    for row_kind, word in ((CRASH, "crashed"), (LEAVE, "crashed"), (CUT, "cut")):
        for p in trace.rows["member"][kind == row_kind]:
            if status[p] == "correct":
                status[p] = word
    return status


def _refuse_nonsense(names: Sequence[str], kinds: Ints, member: Ints, origin: Ints, n: Ints) -> None:
    for what, wrong in (
        ("a number below 0", n < 0),
        ("an origin that is not a member", (origin < 0) | (origin >= len(names))),
        ("a broadcast of another member's message", (kinds == BROADCAST) & (origin != member)),
    ):
        if wrong.any():
            p = int(member[np.argmax(wrong)])
            raise ValueError(f"the log of member {names[p]} has {what}")


def _withdrawals(rows: npt.NDArray[Any]) -> dict[int, list[tuple[int, int]]]:
    """Per member that took deliveries back: (row, count)."""
    out: dict[int, list[tuple[int, int]]] = {}
    for row in np.flatnonzero(rows["kind"] == WITHDRAW):
        out.setdefault(int(rows["member"][row]), []).append((int(row), int(rows["n"][row])))
    return out


def _strike(gets: Ints, events: Ints, withdrawals: Sequence[tuple[int, int]]) -> Ints:
    """A member's deliveries without those that it took back."""
    kept: list[int] = []
    done = 0
    for row, count in withdrawals:
        upto = int(np.searchsorted(events[gets], row))
        kept.extend(gets[done:upto].tolist())
        del kept[max(0, len(kept) - count) :]
        done = upto
    kept.extend(gets[done:].tolist())
    return np.array(kept, dtype=np.int64)
