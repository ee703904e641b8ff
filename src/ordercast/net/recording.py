"""The trace of a live member: the same rows as the simulator's, written as parts while the member lives.

Each member writes its own files, with all members named; whoever is killed leaves a prefix.
`ordercast.trace.merge_members` makes the run of them.
"""

import asyncio
import glob
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ordercast.core import Message, Pid, Time
from ordercast.trace import Recorder, Rows, RunInfo, Trace, write_trace
from ordercast.trace import columns as c
from ordercast.trace.columns import Status
from ordercast.trace.files import SUFFIX, file_name


class Recording:
    """Rows of one member, and their files.  Times count from `begin`, one moment for all members of a host."""

    def __init__(self, directory: Path, run: str, me: Pid, members: Sequence[Pid], common_clock: bool) -> None:
        self.directory, self.run, self.members = directory, run, tuple(members)
        self.index = {member: place for place, member in enumerate(self.members)}
        self.me = self.index[me]
        self.common_clock = common_clock
        self.about: Mapping[str, Any] = {}
        self.payload_kinds: list[str] = []  # the messages that carry a payload, for the metrics
        self.parts = 0
        self.delivered = 0
        self.lost = False
        self.writing: asyncio.Future[None] | None = None
        self.recorder = Recorder()
        self.row = self.recorder.row
        self.zero: Time = 0.0
        self.begin(time.time())
        directory.mkdir(parents=True, exist_ok=True)
        for path in directory.glob(
            f"{glob.escape(file_name(run, member=self.me).removesuffix(SUFFIX))}.part-*{SUFFIX}"
        ):
            path.unlink()  # of an earlier run of this name

    def begin(self, wall: float) -> None:
        """The run began at this time of the wall clock."""
        self.zero = time.monotonic() - (time.time() - wall)

    # ------------------------------------------------------------------ rows

    def event(self, kind: int, origin: Pid = -1, n: int = -1, to: Sequence[Pid] | None = None, level: int = 0) -> None:
        """Anything but a message on the wire or a delivery."""
        place = -1 if to is None else self.recorder.set_index(self.index[member] for member in to)
        number = self.index.get(origin, -1)
        self.row(time.monotonic() - self.zero, 0, self.me, place, number, n, 0, -1, -1, kind, level)

    def broadcast(self, n: int, size_bytes: int, to: Sequence[Pid] | None) -> None:
        """The application's wish was taken."""
        place = -1 if to is None else self.recorder.set_index(self.index[member] for member in to)
        self.row(time.monotonic() - self.zero, 0, self.me, place, self.me, n, size_bytes, -1, -1, c.BROADCAST, 0)

    def timer(self, name: object) -> None:
        """A timer ran out."""
        text = str(name[0] if isinstance(name, tuple) else name)
        index = self.recorder.message_index(text)
        self.row(time.monotonic() - self.zero, 0, self.me, -1, -1, -1, 0, -1, index, c.TIMER, 0)

    def wire(self, kind: int, message: Message, size_bytes: int, to: tuple[Pid, ...] | None, level: int = 0) -> None:
        """A message is sent, arrived or was lost."""
        place = -1 if to is None else self.recorder.set_index(self.index[member] for member in to)
        index = self.recorder.message_index(type(message).__name__)
        self.row(time.monotonic() - self.zero, 0, self.me, place, -1, -1, size_bytes, -1, index, kind, level)

    def deliveries(self, origin: Pid, first: int, payloads: Sequence[bytes]) -> None:
        """Messages are handed over."""
        now, number, row, position = time.monotonic() - self.zero, self.index[origin], self.row, self.delivered
        for n, payload in enumerate(payloads, first):
            row(now, position, self.me, -1, number, n, len(payload), -1, -1, c.DELIVER, 0)
            position += 1
        self.delivered = position

    # ------------------------------------------------------------------ files

    def flush(self) -> None:
        """Write what there is as the next part, beside the event loop."""
        if self.writing is not None and self.writing.done() and self.writing.exception() is not None:
            return  # what follows a part that is missing cannot be judged; `close` says what was wrong
        if self.writing is None or self.writing.done():
            rows = self._take()
            if len(rows):
                trace = self._part(rows, "cut", finished=False)
                loop = asyncio.get_running_loop()
                self.writing = loop.run_in_executor(None, self._write, trace, self.parts - 1)

    async def close(self, status: Status, finished: bool) -> None:
        """The last part: how the member ended."""
        if self.writing is not None:
            await self.writing
        self._write(self._part(self._take(), status, finished), self.parts - 1)

    def _take(self) -> Rows:
        rows = self.recorder.rows()
        fresh = Recorder()
        fresh.sets, fresh.messages = self.recorder.sets, self.recorder.messages
        self.recorder, self.row = fresh, fresh.row
        return rows

    def _part(self, rows: Rows, status: Status, finished: bool) -> Trace:
        self.parts += 1
        named = [
            c.Member(str(member), status if place == self.me else "cut") for place, member in enumerate(self.members)
        ]
        info = RunInfo(
            run=self.run,
            members=named,
            sets=[list(members) for members in self.recorder.sets],
            messages=list(self.recorder.messages),
            finished=finished,
            faults_met=["loss"] if self.lost else [],
            common_clock=self.common_clock,
            **self.about,
        )
        return Trace(
            msgspec.structs.replace(info, facts={"recorded_by": self.me, "payload_kinds": self.payload_kinds}), rows
        )

    def _write(self, trace: Trace, part: int) -> None:
        write_trace(trace, self.directory, part, member=self.me)
