"""One channel made of many: the frames of all members in one sequence, the same at each, with holes.

Source: Lamport, "Time, clocks, and the ordering of events in a distributed system" (1978): frames carry a logical
time, and are taken in the order of (time, sender) once something later has been heard from every other member.  A
frame that was lost is a hole, and so is one that comes when its sender's later frames are no longer held back for it;
what has been taken is never overtaken.  One's own frames are never lost.  So this is NT's one-channel service, over
any network.  It is as fast as the slowest member speaks.
"""

from bisect import insort
from collections.abc import Sequence
from typing import Generic, Self, TypeAlias, TypeVar

from ordercast.core import Pid

Frame = TypeVar("Frame")
Stamp: TypeAlias = tuple[int, int]  # (time of the sender's frame before, time of this one)


class MergedChannel(Generic[Frame]):
    def __init__(self, members: Sequence[Pid], me: Pid) -> None:
        self.me = me
        self.heard = dict.fromkeys(members, 0)  # the latest time of each, without a gap before it; mine: that I sent
        self.last = 0  # the time of my last frame to all
        self.clock = 0
        self.queue: list[tuple[int, Pid, Frame]] = []  # not taken yet, by (time, sender); no two are alike in these
        self.early: list[tuple[int, Pid, int, Frame | None]] = []  # (time, sender, time before, frame), after a gap
        self.seen: list[tuple[int, Pid]] = []  # of these, the ones that were there at the last `skip`

    def stamp(self, to_all: bool = True) -> Stamp:
        """The stamp of my next frame."""
        self.clock += 1
        stamp = (self.last, self.clock)
        if to_all:
            self.last = self.clock
        self.heard[self.me] = self.clock
        return stamp

    def put(self, src: Pid, stamp: Stamp, frame: Frame | None = None) -> None:
        """Something arrived: a frame, or only the time."""
        before, at = stamp
        if src == self.me:
            if frame is not None:
                insort(self.queue, (at, src, frame), key=_place)
        elif at > self.heard[src]:
            self.clock = max(self.clock, at)
            if all(entry[:2] != (at, src) for entry in self.early):
                insort(self.early, (at, src, before, frame), key=_place)
            self._join()

    def forget(self, src: Pid, kind: type) -> None:
        """Take a member's frames of a kind out of the sequence: holes, at no other member's cost."""
        self.queue = [entry for entry in self.queue if entry[1] != src or not isinstance(entry[2], kind)]

    def skip(self) -> None:
        """Wait no longer for what is missing before the frames that were early at the last call, too."""
        for at, src, _, _ in self.early:
            if (at, src) in self.seen:
                self.heard[src] = max(self.heard[src], at - 1)
        self._join()
        self.seen = [_place(entry) for entry in self.early]

    def take(self) -> list[tuple[Pid, Frame]]:
        """The next frames in the channel's order."""
        due = 0
        while due < len(self.queue) and self._passed(*self.queue[due][:2]):
            due += 1
        taken, self.queue = self.queue[:due], self.queue[due:]
        return [(src, frame) for _, src, frame in taken]

    def waits(self) -> bool:
        return bool(self.queue or self.early)

    def speaks(self) -> bool:
        """Do others wait to hear from me, before they can take the first frame?"""
        return bool(self.queue) and (self.heard[self.me], self.me) < _place(self.queue[0])

    def silent(self) -> list[Pid]:
        """From whom I wait to hear before I can take the first frame."""
        first = _place(self.queue[0]) if self.queue else (0, self.me)
        return [member for member, heard in self.heard.items() if member != self.me and (heard, member) < first]

    def _join(self) -> None:
        """Queue what is early no more."""
        left = []
        for at, src, before, frame in self.early:
            if before > self.heard[src]:
                left.append((at, src, before, frame))
            elif at > self.heard[src]:
                self.heard[src] = at
                if frame is not None:
                    insort(self.queue, (at, src, frame), key=_place)
        self.early = left

    def _passed(self, at: int, src: Pid) -> bool:
        """Can nothing that is still to come go before this frame?  My own later frames have later times."""
        return all(member == self.me or (heard, member) >= (at, src) for member, heard in self.heard.items())

    def copy(self) -> Self:
        twin = object.__new__(type(self))
        lists = {"queue": list(self.queue), "early": list(self.early), "seen": list(self.seen)}
        twin.__dict__.update(self.__dict__, heard=dict(self.heard), **lists)
        return twin


def _place(entry: tuple[int, Pid, *tuple[object, ...]]) -> tuple[int, Pid]:
    return entry[:2]
