"""Worlds, and what can happen next in one.

A frame under way may stay away as long as the search lasts, so where frames overtake one another a lost frame is one
that never arrives, and needs no event.  In a channel that keeps an order a loss lets the next frame through: it is
decided when that one arrives.  A duplicate is decided when the first copy arrives, and stays under way.

Of equal frames no more are under way than the budget has copies: a protocol that asks again and again would fill the
channel without end.
"""

from collections.abc import Hashable, Iterator
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from ordercast.explore.cells import Cells, Event

# Frames overtake one another; arrive in order per sender; arrive in one order everywhere, with holes.
Channel: TypeAlias = Literal["any", "multi", "one"]
Numbers: TypeAlias = tuple[int, ...]  # of cells or frames: see `Cells`
Left: TypeAlias = tuple[int, ...]
BROADCASTS, LOSSES, DUPLICATES, TIMEOUTS, CRASHES, ARRIVALS = range(6)
UNBOUNDED = 1 << 30


class Budget(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much may happen in a schedule, in the whole group."""

    broadcasts: int = 2
    losses: int = 0  # where frames overtake: 0, or as many as there are frames
    duplicates: int = 0
    timeouts: int = 0
    crashes: int = 0
    arrivals: int | None = None  # frames taken from the channel: for protocols that never rest
    copies: int = 1  # equal frames under way at one time; those of `duplicates` come on top

    def left(self) -> Left:
        """What there is at the start."""
        arrivals = UNBOUNDED if self.arrivals is None else self.arrivals
        return (self.broadcasts, self.losses, self.duplicates, self.timeouts, self.crashes, arrivals)


class Step(NamedTuple):
    """One event of a schedule, with what the world chose."""

    member: int
    event: Event
    draws: Numbers = ()
    lost: Numbers = ()  # frames that stood before the one that arrives
    kept: bool = False  # another copy of it stays under way


class World(NamedTuple):
    """Numbers of cells and frames.  The order of a flight counts only within a queue of the channel."""

    cells: Numbers
    flight: Numbers
    left: Left


class Next(NamedTuple):
    """A world that is one step away."""

    world: World
    step: Step
    error: str | None  # of the process that took the step


class Worlds:
    """The worlds of one group under one budget."""

    def __init__(self, cells: Cells, channel: Channel, budget: Budget) -> None:
        self.cells, self.channel, self.budget = cells, channel, budget
        self.members = {me: p for p, me in enumerate(cells.members)}

    def first(self) -> list[tuple[World, list[Step], str | None]]:
        """The worlds after all members started: one, unless they draw."""
        out: list[tuple[World, list[Step], str | None]] = [(World((), (), self.budget.left()), [], None)]
        for p, me in enumerate(self.cells.members):
            out = [
                (
                    World((*world.cells, cell), self._settled(world.flight + frames), world.left),
                    [*steps, Step(p, ("start",), draws)],
                    error or broken,
                )
                for world, steps, error in out
                for cell, frames, draws, broken in self.cells.born(me)
            ]
        return out

    def after(self, world: World) -> Iterator[Next]:
        """The worlds one event later."""
        left = world.left
        for frame, lost in self._arriving(world):
            p = self.members[self.cells.frames[frame].to]
            after = left if left[ARRIVALS] == UNBOUNDED else _spend(left, ARRIVALS, 1)
            if lost:
                after = _spend(after, LOSSES, len(lost))
            behind = _without(world.flight, lost)
            yield from self._step(world, p, ("receive", frame), _without(behind, (frame,)), after, lost)
            if left[DUPLICATES] and not lost:
                yield from self._step(world, p, ("receive", frame), behind, _spend(after, DUPLICATES, 1), kept=True)
        for p, number in enumerate(world.cells):
            cell = self.cells.cells[number]
            if cell.process is None:
                continue
            if left[BROADCASTS]:
                yield from self._step(world, p, ("ask",), world.flight, _spend(left, BROADCASTS, 1))
            if left[TIMEOUTS]:
                for name in cell.timers:
                    yield from self._step(world, p, ("expire", name), world.flight, _spend(left, TIMEOUTS, 1))
            if cell.untaken:
                yield from self._step(world, p, ("clear",), world.flight, left)
            if left[CRASHES]:
                yield from self._step(world, p, ("crash",), world.flight, _spend(left, CRASHES, 1))

    def _arriving(self, world: World) -> Iterator[tuple[int, Numbers]]:
        """Frames that may arrive next, each with those that are lost for it."""
        flight, losses = world.flight, world.left[LOSSES]
        if not world.left[ARRIVALS]:
            return
        if self.channel == "any":
            yield from ((frame, ()) for frame in dict.fromkeys(flight))
            return
        queues: dict[Hashable, list[int]] = {}
        for frame in flight:
            queue = queues.setdefault(self._queue(frame), [])
            if len(queue) <= losses and not any(self._own(before) for before in queue):
                yield frame, tuple(queue)
            queue.append(frame)

    def _own(self, frame: int) -> bool:
        """A copy for its sender, which is never lost."""
        src, to, _ = self.cells.frames[frame]
        return src == to

    def _step(
        self, world: World, p: int, event: Event, flight: Numbers, left: Left, lost: Numbers = (), kept: bool = False
    ) -> Iterator[Next]:
        """What an event of one member makes of a world."""
        for cell, frames, draws, broken in self.cells.react(world.cells[p], event):
            cells = (*world.cells[:p], cell, *world.cells[p + 1 :])
            under_way = flight
            if frames:
                under_way = flight + frames
            if self.budget.crashes:
                dead = [me for me, number in zip(self.members, cells, strict=True) if self._dead(number)]
                under_way = tuple(frame for frame in under_way if self.cells.frames[frame].to not in dead)
            if frames:
                under_way = self._settled(under_way)
            yield Next(World(cells, under_way, left), Step(p, event, draws, lost, kept), broken)

    def _dead(self, cell: int) -> bool:
        return self.cells.cells[cell].process is None

    def _settled(self, frames: Numbers) -> Numbers:
        """One form for equal flights, with no more copies than there may be."""
        most = self.budget.copies + self.budget.duplicates
        if len(set(frames)) < len(frames):
            frames = tuple(frame for i, frame in enumerate(frames) if frames[:i].count(frame) < most)
        return tuple(sorted(frames, key=None if self.channel == "any" else self._queue))

    def _queue(self, frame: int) -> tuple[int, ...]:
        src, to, _ = self.cells.frames[frame]
        return (to,) if self.channel == "one" else (to, src)

    def still(self, world: World) -> bool:
        """Nothing happens any more, unless an application asks: no timer is armed, and what is under way is lost."""
        for number in world.cells:
            cell = self.cells.cells[number]
            if cell.timers or cell.untaken:
                return False
        if any(self._own(frame) for frame in world.flight):
            return False
        losses = world.left[LOSSES]
        lossy = losses if self.channel != "any" else losses and len(world.flight)
        return len(world.flight) <= lossy

    def rank(self, world: World) -> tuple[Hashable, int]:
        """Worlds of one key compare: one with a larger set of frames under way (as bits) can do whatever the other can.

        So it is where frames overtake and may be lost; else only equal flights compare.
        """
        if self.channel != "any" or not self.budget.losses:
            return (world.cells, world.flight), 0
        copies = self.budget.copies + self.budget.duplicates
        bits = 0
        for i, frame in enumerate(world.flight):
            again = copies > 1 and i > 0 and world.flight[i - 1] == frame
            bits |= 1 << (frame * copies + (world.flight[:i].count(frame) if again else 0))
        return world.cells, bits


def _spend(left: Left, which: int, much: int) -> Left:
    return (*left[:which], left[which] - much, *left[which + 1 :])


def _without(frames: Numbers, gone: Numbers) -> Numbers:
    for frame in gone:
        at = frames.index(frame)
        frames = frames[:at] + frames[at + 1 :]
    return frames
