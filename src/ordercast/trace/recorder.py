"""Recording a run: rows packed into chunks of bytes as they happen, read back as one numpy array."""

import struct
from collections.abc import Callable, Iterable

import numpy as np

from ordercast.trace.columns import FORMAT, KINDS, PACKING, ROW, Member, Rows, RunInfo, Trace

_CHUNK_ROWS = 1 << 15


class Recorder:
    """Takes rows, by `row`, in the order of `PACKING`.  `only` names the kinds to keep; `keeps[kind]` tells a caller.

    `row(time, position, member, to, origin, n, bytes, cause, message, kind, level)` returns the new row's index.
    It is a closure over its chunk, which costs half of what a method with attributes does.
    """

    def __init__(self, only: Iterable[str] | None = None, control_receipts: bool = True) -> None:
        wanted = KINDS if only is None else tuple(only)
        self.keeps = tuple(kind in wanted for kind in KINDS)
        self.control_receipts = control_receipts  # keep rows of received frames that carry no payload
        self.sets: dict[tuple[int, ...], int] = {}
        self.messages: dict[str, int] = {}
        self.row, self.rows = _chunks()

    def set_index(self, members: Iterable[int]) -> int:
        """The index of a set of members in the table of sets."""
        return self.sets.setdefault(tuple(sorted(members)), len(self.sets))

    def message_index(self, name: str) -> int:
        """The index of a kind of message, or a name of timer, in the table of messages."""
        return self.messages.setdefault(name, len(self.messages))

    def trace(self, run: str, members: list[Member], **more: object) -> Trace:
        """Everything recorded so far, as a trace."""
        info = RunInfo(
            run=run,
            members=members,
            sets=[list(members) for members in self.sets],
            messages=list(self.messages),
            format=FORMAT,
            **more,  # type: ignore[arg-type]
        )
        return Trace(info, self.rows())


def _chunks() -> tuple[Callable[..., int], Callable[[], Rows]]:
    """(append a row, all rows so far) over a growing list of chunks."""
    pack = struct.Struct(PACKING).pack_into
    size = ROW.itemsize
    end = _CHUNK_ROWS * size
    full: list[bytearray] = []
    chunk, offset, before = bytearray(end), 0, 0

    def row(
        time: float,
        position: int,
        member: int,
        to: int,
        origin: int,
        n: int,
        size_bytes: int,
        cause: int,
        message: int,
        kind: int,
        level: int,
    ) -> int:
        nonlocal chunk, offset, before
        pack(chunk, offset, time, position, member, to, origin, n, size_bytes, cause, message, kind, level)
        index = before + offset // size
        offset += size
        if offset == end:
            full.append(chunk)
            chunk, offset, before = bytearray(end), 0, before + _CHUNK_ROWS
        return index

    def rows() -> Rows:
        parts = [np.frombuffer(part, dtype=ROW) for part in full]
        parts.append(np.frombuffer(chunk, dtype=ROW, count=offset // size))
        return np.concatenate(parts)

    return row, rows


assert struct.calcsize(PACKING) == ROW.itemsize
