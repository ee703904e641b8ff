"""Workloads: when each member's application asks for broadcasts.

A workload is a value with one method, `asks(member, members, random)`: one member's broadcasts, by ascending time, as
`(time, size_bytes or None, destinations or None)`.  What `Saturated` gives is a window: the member asks again whenever
it and some other member have delivered one of its broadcasts.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from math import inf
from random import Random
from typing import TypeAlias

import msgspec

from ordercast.sim.streams import exponential

SHORTEST, LONGEST = 1e-6, 1e6  # seconds between one member's broadcasts: beyond these a run would never end

Ask: TypeAlias = tuple[float, int | None, tuple[int, ...] | None]


class Workload(msgspec.Struct, frozen=True, kw_only=True, tag=str.lower, tag_field="kind", forbid_unknown_fields=True):
    """Base of all workloads."""

    def asks(self, member: int, members: int, random: Random) -> Iterator[Ask]:
        raise NotImplementedError  # abstract

    def names(self) -> Sequence[int]:
        """The members that it names."""
        return ()


class Poisson(Workload, frozen=True, kw_only=True):
    """Independent Poisson arrivals at every member (or those named), with this mean time between one's broadcasts.

    `each`: a member asks for so many at most.
    """

    interval: float = 0.1
    senders: tuple[int, ...] | None = None
    each: int | None = None

    def __post_init__(self) -> None:
        _positive(interval=self.interval)

    def names(self) -> Sequence[int]:
        return self.senders or ()

    def asks(self, member: int, members: int, random: Random) -> Iterator[Ask]:
        if self.senders is None or member in self.senders:
            return islice(_poisson(self.interval, random), self.each)
        return iter(())


class Bursts(Workload, frozen=True, kw_only=True):
    """Each member asks for `size` broadcasts at once, at Poisson times whose mean keeps the rate of `interval`."""

    interval: float = 0.1
    size: int = 10

    def __post_init__(self) -> None:
        _positive(interval=self.interval, size=self.size)

    def asks(self, member: int, members: int, random: Random) -> Iterator[Ask]:
        for ask in _poisson(self.interval * self.size, random):
            for _ in range(self.size):
                yield ask


class Hot(Workload, frozen=True, kw_only=True):
    """One member asks `times` as often as each of the others; the group's rate is that of `interval` for all."""

    interval: float = 0.1
    member: int = 0
    times: float = 10.0

    def __post_init__(self) -> None:
        _positive(interval=self.interval, times=self.times)

    def names(self) -> Sequence[int]:
        return (self.member,)

    def asks(self, member: int, members: int, random: Random) -> Iterator[Ask]:
        slow = self.interval * (members - 1 + self.times) / members
        return _poisson(slow / self.times if member == self.member else slow, random)


class Saturated(Workload, frozen=True, kw_only=True):
    """Every member (or those named) always has `window` broadcasts not yet delivered by it and by another."""

    window: int = 1
    senders: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        _positive(window=self.window)

    def names(self) -> Sequence[int]:
        return self.senders or ()

    def asks(self, member: int, members: int, random: Random) -> Iterator[Ask]:
        if self.senders is None or member in self.senders:
            for _ in range(self.window):
                yield (0.0, None, None)


class Script(Workload, frozen=True, kw_only=True):
    """Broadcasts at given times: (time, member, size or None, destinations or None)."""

    lines: tuple[tuple[float, int, int | None, tuple[int, ...] | None], ...]

    def asks(self, member: int, members: int, random: Random) -> Iterator[Ask]:
        mine = [(time, size, to) for time, who, size, to in self.lines if who == member]
        return iter(sorted(mine, key=lambda ask: ask[0]))

    def names(self) -> Sequence[int]:
        return [member for _, who, _, to in self.lines for member in (who, *(to or ()))]


AnyWorkload: TypeAlias = Poisson | Bursts | Hot | Saturated | Script


def parse_script(text: str, source: str) -> Script:
    """A workload file: lines of `TIME MEMBER [SIZE|- [DESTINATIONS]]`, destinations with commas, `#` for comments."""
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            if not 2 <= len(words) <= 4:
                raise ValueError("wants TIME MEMBER [SIZE|- [DESTINATIONS]]")
            time, member = float(words[0]), int(words[1])
            size = int(words[2]) if len(words) > 2 and words[2] != "-" else None
            to = tuple(int(word) for word in words[3].split(",")) if len(words) > 3 else None
            if not 0 <= time < float("inf") or member < 0 or (size is not None and size < 1):
                raise ValueError("times and members begin at 0, sizes at 1")
        except ValueError as error:
            raise ValueError(f"{source}:{number}: {error}") from None
        lines.append((time, member, size, to))
    if not lines:
        raise ValueError(f"{source}: no broadcast in this workload")
    return Script(lines=tuple(lines))


def _poisson(mean: float, random: Random) -> Iterator[Ask]:
    time = 0.0
    draw = random.random
    while True:
        time += exponential(draw(), mean)
        yield (time, None, None)


def _positive(**values: float) -> None:
    for name, value in values.items():
        if name == "interval" and not SHORTEST <= value <= LONGEST:
            raise ValueError(f"interval must be from {SHORTEST:g} to {LONGEST:g} seconds, not {value:g}")
        if not 0 < value < inf:
            raise ValueError(f"{name} must be above 0 and finite, not {value}")
