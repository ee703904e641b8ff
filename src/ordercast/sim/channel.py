"""What a network is: a value with one method, `channel(simulation)`, that makes its live part.

A channel has one, too: `transmit(src, to, message, size, stamp)` schedules `member.arrive(src.pid, message, stamp)` for
the members of `to` (never empty; the sender may be among them): by `simulation.schedule` or, where link faults are
planned, by `spread`.  Some know more: `cost(src, to)` of a path, and `facts()` at the end of a run.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import msgspec

from ordercast.core import Message

if TYPE_CHECKING:
    from ordercast.sim.member import Member
    from ordercast.sim.simulation import Simulation


class Channel(Protocol):
    """The live part of a network."""

    point_to_point: bool  # a multicast is so many sends

    def transmit(self, src: "Member", to: Sequence["Member"], message: Message, size: int, stamp: Any) -> None: ...


class Network(msgspec.Struct, frozen=True, kw_only=True, tag=str.lower, tag_field="kind", forbid_unknown_fields=True):
    """Base of all networks."""

    gives: ClassVar[Mapping[str, str]] = {}  # what a protocol's contract may ask of it by `needs`

    def channel(self, simulation: "Simulation") -> Channel:
        raise NotImplementedError  # abstract


@runtime_checkable
class Breakable(Protocol):
    """A channel made of named links and sites that fail and return (`faults.Down`)."""

    def check(self, what: str) -> None: ...  # `ValueError` if nothing is called that
    def fail(self, what: str, *_: Any) -> None: ...
    def restore(self, what: str, *_: Any) -> None: ...
