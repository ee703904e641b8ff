"""Faults, as values that compose: what happens to copies on their way, and to members.

A link fault sees each frame's copies, `(receiver, extra delay)`, after the faults before it in the list, and returns
what is left of them.  `on` aims it at kinds of message (the token), `begin` and `end` at a time.  A member fault is an
event of the schedule.  A fault counts as met only when it touched traffic; a member's copies to itself are exempt.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import ClassVar, Protocol, TypeAlias

import msgspec

from ordercast.core.contract import Fault as Kind

FOREVER = 1e15  # seconds: the end of a fault that has none, beyond any run; JSON, in which runs travel, has no infinity


class End(Protocol):
    """What a link fault sees of a frame's sender or receiver."""

    home: int  # the founding member whose machine it runs on: its own number, or that of the one it follows


Copies: TypeAlias = list[tuple[End, float]]  # (receiver, delay beyond the network's own)
Link: TypeAlias = Callable[[End, Copies], Copies]  # (src, copies) -> what is left of them


class Fault(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    tag=str.lower,
    tag_field="kind",
    forbid_unknown_fields=True,
):
    """Base of all faults.  `fault` is its name in a contract's `safe_under` and `live_under`."""

    fault: ClassVar[Kind]

    def names(self) -> Sequence[int]:
        """The members that it names."""
        return ()


class LinkFault(Fault, frozen=True, kw_only=True):
    """A fault of copies on their way."""

    on: tuple[str, ...] = ()  # kinds of message; none named: all
    begin: float = 0.0
    end: float = FOREVER

    def link(self, random: Random) -> Link:
        raise NotImplementedError  # abstract


class Loss(LinkFault, frozen=True, kw_only=True):
    """Each copy is lost with probability `rate`, independently."""

    fault = "loss"
    rate: float

    def __post_init__(self) -> None:
        _probability(rate=self.rate)

    def link(self, random: Random) -> Link:
        draw, rate = random.random, self.rate
        return lambda src, copies: [copy for copy in copies if draw() >= rate]


class Bursts(LinkFault, frozen=True, kw_only=True):
    """Receivers have bad spells in which they lose all: per copy one begins with `enter` and ends with `leave`."""

    fault = "loss"
    enter: float
    leave: float = 0.3

    def __post_init__(self) -> None:
        _probability(enter=self.enter, leave=self.leave)

    def link(self, random: Random) -> Link:
        draw = random.random
        bad: dict[int, bool] = {}

        def hears(receiver: End) -> bool:
            bad[receiver.home] = here = draw() >= self.leave if bad.get(receiver.home) else draw() < self.enter
            return not here

        return lambda src, copies: [copy for copy in copies if hears(copy[0])]


class Correlated(LinkFault, frozen=True, kw_only=True):
    """A whole multicast is lost at all its receivers with probability `rate`."""

    fault = "loss"
    rate: float

    def __post_init__(self) -> None:
        _probability(rate=self.rate)

    def link(self, random: Random) -> Link:
        return lambda src, copies: [] if random.random() < self.rate else copies


class Duplication(LinkFault, frozen=True, kw_only=True):
    """A copy arrives a second time with probability `rate`, up to `within` seconds after the first."""

    fault = "duplication"
    rate: float
    within: float = 0.01

    def __post_init__(self) -> None:
        _probability(rate=self.rate)

    def link(self, random: Random) -> Link:
        draw = random.random

        def twice(src: End, copies: Copies) -> Copies:
            again = [(receiver, late + draw() * self.within) for receiver, late in copies if draw() < self.rate]
            return copies + again if again else copies

        return twice


class Reordering(LinkFault, frozen=True, kw_only=True):
    """A copy is held back by up to `by` seconds with probability `rate`, so that later ones overtake it."""

    fault = "reordering"
    rate: float
    by: float = 0.01

    def __post_init__(self) -> None:
        _probability(rate=self.rate)

    def link(self, random: Random) -> Link:
        draw = random.random
        return lambda src, copies: [
            (receiver, late + draw() * self.by) if draw() < self.rate else (receiver, late) for receiver, late in copies
        ]


class Spikes(LinkFault, frozen=True, kw_only=True):
    """A whole multicast is late by `delay` seconds with probability `rate`."""

    fault = "delay"
    rate: float
    delay: float = 0.2

    def __post_init__(self) -> None:
        _probability(rate=self.rate)

    def link(self, random: Random) -> Link:
        return lambda src, copies: (
            [(receiver, late + self.delay) for receiver, late in copies] if random.random() < self.rate else copies
        )


class Partition(LinkFault, frozen=True, kw_only=True):
    """From `begin` to `end` no copy crosses between groups; members in none of them form one more.

    `one_way`: only copies from the first group to the others are lost.
    """

    fault = "partition"
    groups: tuple[tuple[int, ...], ...]
    one_way: bool = False

    def __post_init__(self) -> None:
        named = [member for group in self.groups for member in group]
        if len(set(named)) != len(named):
            raise ValueError("a member stands in two groups of a partition")

    def names(self) -> Sequence[int]:
        return [member for group in self.groups for member in group]

    def link(self, random: Random) -> Link:
        side = {member: k for k, group in enumerate(self.groups) for member in group}

        def cut(src: End, copies: Copies) -> Copies:
            mine = side.get(src.home, -1)
            if self.one_way and mine != 0:
                return copies
            return [copy for copy in copies if side.get(copy[0].home, -1) == mine]

        return cut


class MemberFault(Fault, frozen=True, kw_only=True):
    """A fault of one member."""

    member: int

    def names(self) -> Sequence[int]:
        return (self.member,)


class Crash(MemberFault, frozen=True, kw_only=True):
    """It stops for good."""

    fault = "crash"
    at: float


class Restart(MemberFault, frozen=True, kw_only=True):
    """A member that crashed comes back: a new incarnation without memory joins, where the protocol knows joining."""

    fault = "restart"
    at: float


class Pause(MemberFault, frozen=True, kw_only=True):
    """It stops for a while; what arrives meanwhile waits in its socket, of `socket` frames."""

    fault = "pause"
    begin: float
    end: float
    socket: int = 256


class Outage(MemberFault, frozen=True, kw_only=True):
    """Deaf and mute for a while; it keeps its memory, and its timers go on."""

    fault = "outage"
    begin: float
    end: float


class Leave(MemberFault, frozen=True, kw_only=True):
    """It is asked to leave."""

    fault = "leave"
    at: float


class Install(Fault, frozen=True, kw_only=True):
    """An event of the world: a membership is decided outside and told to those in it."""

    fault = "leave"
    at: float
    members: tuple[int, ...]

    def names(self) -> Sequence[int]:
        return self.members


class Down(Fault, frozen=True, kw_only=True):
    """A link or a site of a switched network, by its name, fails and returns."""

    fault = "partition"
    what: str
    begin: float
    end: float


AnyFault: TypeAlias = (
    Loss
    | Bursts
    | Correlated
    | Duplication
    | Reordering
    | Spikes
    | Partition
    | Crash
    | Restart
    | Pause
    | Outage
    | Leave
    | Install
    | Down
)


def _probability(**values: float) -> None:
    for name, value in values.items():
        if not 0 <= value <= 1:
            raise ValueError(f"{name} is a probability, from 0 to 1, not {value}")
