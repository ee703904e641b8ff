"""A process around a process: the inner one's messages and timers pass through, its deliveries do not.

A layer is a `Process` like any other, so the simulator, the explorer and a socket run it; and it has no messages of
its own, so that on the wire it is the inner protocol.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Self, TypeVar

from ordercast.core import Message, Pid, Port, Process, Reached
from ordercast.core.process import _fork


class Layer(Process):
    """A process whose protocol is `inner_class`; subclasses say what becomes of a delivery and a report."""

    inner_class: ClassVar[type[Process]]

    def __init__(self, me: Pid, members: Sequence[Pid], port: Port, parameters: Any = None) -> None:
        super().__init__(me, members, port, parameters)
        self.inner = self.inner_class(me, members, Inside(self, port), self.parameters)

    def start(self, joining: bool = False) -> None:
        self.inner.start(joining)

    def broadcast(self, payload: bytes, to: Sequence[Pid] | None = None) -> None:
        self.inner.broadcast(payload, to)

    def ready(self) -> bool:
        return self.inner.ready()

    def receive(self, src: Pid, message: Message) -> None:
        self.inner.receive(src, message)

    def expire(self, timer: Any) -> None:
        self.inner.expire(timer)

    def clear(self) -> None:
        self.inner.clear()

    def install(self, members: Sequence[Pid]) -> None:
        self.inner.install(members)

    def leave(self) -> None:
        self.inner.leave()

    def copy(self, port: Port) -> Self:
        twin = object.__new__(type(self))
        for key, value in self.__dict__.items():
            if key not in ("port", "inner"):
                twin.__dict__[key] = _fork(value)
        twin.port = port
        twin.inner = self.inner.copy(Inside(twin, port))
        return twin

    # What the inner process says, where a layer may change it.

    def delivered(self, origin: Pid, n: int, payload: bytes) -> None:
        """The inner process delivers."""
        self.port.deliver(origin, n, payload)

    def reached(self, level: Reached, origin: Pid, below: int) -> None:
        """The inner process reports."""
        self.port.reach(level, origin, below)

    def withdrawn(self, count: int) -> None:
        """The inner process takes its last deliveries back."""
        self.port.withdraw(count)


class Inside:
    """The port that an inner process has."""

    def __init__(self, layer: Layer, port: Port) -> None:
        self.send, self.multicast = port.send, port.multicast
        self.set_timer, self.cancel_timer = port.set_timer, port.cancel_timer
        self.view, self.suspect = port.view, port.suspect
        self.room, self.cost, self.random, self.now = port.room, port.cost, port.random, port.now
        self.deliver, self.reach, self.withdraw = layer.delivered, layer.reached, layer.withdrawn


L = TypeVar("L", bound=Layer)


def around(layer: type[L], inner: type[Process], **settings: object) -> type[L]:
    """The class of processes that are `inner` within `layer`; to its world it looks like `inner`."""
    passed = ("name", "contract", "Parameters", "handlers", "timers", "composes_late", "joins")
    names = {name: getattr(inner, name) for name in passed} | {"__doc__": layer.__doc__, "inner_class": inner}
    return type(f"{layer.__name__}{inner.__name__}", (layer,), names | settings)
