"""The contract between a protocol and its world.

A protocol is a `Process`: a pure state machine that is told things in verbs.  The world is a `Port`: what a process
may ask for.  The simulator, a UDP socket and the schedule explorer are ports, and the protocol cannot tell which.

The rules of the door:

- A verb runs to completion.  An effect returns nothing and never calls back; what it causes arrives as a later verb.
- Questions (`room`, `cost`, `now`) are constant during one verb.  `random` is a draw: a choice point of the explorer.
- Protocols decide by timers, not by `now()`; only failure detection may use it.
- `multicast(message)` reaches the others.  A copy for oneself is asked for by naming oneself in `to`; it is never
  lost and comes through `receive`, in the channel's order where the network has one, else as the next event.
- While `ready()` is false the world keeps the application's broadcasts and asks again after the next verb.
- The `n`-th call of `broadcast` (from 0) is message `(me, n)`: `deliver` and `reach` use that number.
- A process is a value: it can be copied and compared.  The port is not part of it.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol, Self, TypeAlias

import msgspec

from ordercast.core.contract import Contract

Pid: TypeAlias = int  # a member of the group
Time: TypeAlias = float  # seconds
Reached: TypeAlias = Literal["stable", "known"]


class Message(msgspec.Struct, frozen=True, gc=False, tag=True, array_like=True):
    """Base of every message: immutable, hashable, and its own wire format (see `codec`).

    Subclasses repeat `frozen=True`, for the type checker.  Fields are scalars, bytes, tuples and other messages.
    """

    carries: ClassVar[Literal["payload", "control"]] = (
        "control"  # which size a frame of this kind has on a simulated wire
    )

    def about(self) -> tuple[Pid, int]:
        """The broadcast `(origin, n)` that this message carries or concerns, for the trace; (-1, -1): none."""
        return (-1, -1)


class Parameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of a protocol's parameters: every field has a default, and a unit and a sentence in its `msgspec.Meta`."""


class Port(Protocol):
    """What a process may ask of the world."""

    def send(self, to: Pid, message: Message, /) -> None: ...
    def multicast(self, message: Message, to: Sequence[Pid] | None = None, /) -> None: ...
    def deliver(self, origin: Pid, n: int, payload: bytes, /) -> None: ...
    def set_timer(self, name: Hashable, after: Time, /) -> None: ...  # replaces one of the same name
    def cancel_timer(self, name: Hashable, /) -> None: ...  # also when it is not set

    # Every message of `origin` numbered below `below` is held by every member (stable); every member knows it (known).
    def reach(self, level: Reached, origin: Pid, below: int, /) -> None: ...
    def view(self, members: Sequence[Pid], /) -> None: ...
    def suspect(self, member: Pid, /) -> None: ...
    def withdraw(self, count: int, /) -> None: ...  # the last `count` deliveries are taken back

    def room(self) -> int: ...  # free buffers of this member's receiver
    def cost(self, to: Pid, /) -> float: ...  # of the path to a member, now; infinite: there is none
    def random(self) -> float: ...  # uniform on [0, 1)
    def now(self) -> Time: ...


class Process:
    """One member of the group.  Each verb runs to completion before the next one begins."""

    name: ClassVar[str]  # as in the catalog
    contract: ClassVar[Contract]  # what it gives, under which faults
    Parameters: ClassVar[type[Parameters]] = Parameters
    handlers: ClassVar[Mapping[type[Message], Callable[..., None]]] = {}  # on_<message>(self, src, message)
    timers: ClassVar[
        Mapping[str, Callable[..., None]]
    ] = {}  # on_<timer>(self); a tuple's first item selects, the rest are arguments
    composes_late: ClassVar[bool] = False  # wants `clear` when the channel has taken its last transmission
    withdraws: ClassVar[bool] = False  # may take deliveries back
    joins: ClassVar[Literal["no", "as_new", "as_same"]] = (
        "no"  # how one that crashed comes back: under a new id or its own
    )

    def __init__(self, me: Pid, members: Sequence[Pid], port: Port, parameters: Any = None) -> None:
        self.me, self.members, self.port = me, tuple(members), port
        self.parameters: Any = self.Parameters() if parameters is None else parameters

    def start(self, joining: bool = False) -> None:
        """The first verb, called once: begin, as a founder or as a newcomer."""

    def broadcast(self, payload: bytes, to: Sequence[Pid] | None = None) -> None:
        """The application asks: deliver this to the group, or to a part of it.  Called only while `ready()`."""
        raise NotImplementedError  # abstract

    def ready(self) -> bool:
        """Would a broadcast be taken now?"""
        return True

    def receive(self, src: Pid, message: Message) -> None:
        """A message arrived: perhaps late, twice, or out of order, but never corrupted."""
        self.handlers[type(message)](self, src, message)

    def expire(self, timer: Hashable) -> None:
        """A timer that was set, and neither cancelled nor replaced since, ran out."""
        if isinstance(timer, tuple):
            self.timers[timer[0]](self, *timer[1:])
        else:
            self.timers[timer](self)  # type: ignore[index]

    def clear(self) -> None:
        """The channel has taken my last transmission: compose the next one now (only if `composes_late`)."""

    def install(self, members: Sequence[Pid]) -> None:
        """The membership, as decided outside."""
        raise ValueError(f"{self.name} has a fixed membership")

    def leave(self) -> None:
        """Go cleanly."""

    def buffers(self) -> Mapping[str, tuple[int, int]]:
        """How full each buffer of the contract's `bounds` is now, and its limit."""
        return {}

    def copy(self, port: Port) -> Self:
        """The same state at another port: what the explorer forks.  State is plain values, lists, dicts and sets."""
        twin = object.__new__(type(self))
        for key, value in self.__dict__.items():
            twin.__dict__[key] = port if key == "port" else _fork(value)
        return twin


def _fork(value: Any) -> Any:
    """A copy that shares what is immutable.  A part of a protocol with state of its own has a `copy` method."""
    kind = type(value)
    if kind is dict:
        return {key: _fork(item) for key, item in value.items()}
    if kind is list:
        return [_fork(item) for item in value]
    if kind in (int, float, bool, str, bytes, tuple, frozenset, type(None)) or isinstance(value, msgspec.Struct):
        return value
    return value.copy()
