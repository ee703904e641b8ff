"""Service levels above what a protocol delivers by itself."""

from collections import deque

import msgspec

from ordercast.core import LEVELS, Pid, Process, Reached
from ordercast.core.contract import Level
from ordercast.group.layer import Layer, around


class Safe(Layer):
    """Hands a message over once every member holds it, in the order in which the protocol delivers.

    So it hands over nothing that is taken back.  A message waits for those before it, or the order would differ from
    that of a member which learned of stability in another sequence.
    """

    def start(self, joining: bool = False) -> None:
        self.held: deque[tuple[Pid, int, bytes]] = deque()
        self.stable: dict[Pid, int] = dict.fromkeys(self.members, 0)
        super().start(joining)

    def delivered(self, origin: Pid, n: int, payload: bytes) -> None:
        self.held.append((origin, n, payload))
        self._release()

    def reached(self, level: Reached, origin: Pid, below: int) -> None:
        if level == "stable":
            self.stable[origin] = max(self.stable.get(origin, 0), below)
            self._release()
        self.port.reach(level, origin, below)

    def withdrawn(self, count: int) -> None:
        # What every member holds in its order is never taken back, so it is among those held here.
        assert count <= len(self.held), "a stable delivery was withdrawn"
        for _ in range(count):
            self.held.pop()

    def _release(self) -> None:
        held, stable = self.held, self.stable
        while held and held[0][1] < stable.get(held[0][0], 0):
            self.port.deliver(*held.popleft())


def at_level(process: type[Process], level: Level | None) -> type[Process]:
    """The protocol at a service level (None: as it delivers by itself); `ValueError` if its contract lacks it."""
    levels = process.contract.levels
    if level is None:
        return process
    if level not in levels:
        there = ", ".join(name for name in LEVELS if name in levels)
        raise ValueError(f"{process.name} does not give the level {level!r}; it gives: {there}")
    if level == "safe" and "stable" in process.contract.reports:
        return around(Safe, process)
    if level == "fifo" and process.contract.order == "none":
        return _in_order(process)
    return process


def _in_order(process: type[Process]) -> type[Process]:
    """A protocol that delivers as things come, unless its parameter `fifo` says otherwise: with that set."""
    base = process.Parameters
    assert any(field.name == "fifo" for field in msgspec.structs.fields(base)), f"{process.name} cannot keep an order"
    parameters = msgspec.defstruct(
        base.__name__, [("fifo", bool, True)], bases=(base,), frozen=True, kw_only=True, forbid_unknown_fields=True
    )
    contract = msgspec.structs.replace(process.contract, order="fifo")
    return type(f"{process.__name__}InOrder", (process,), {"Parameters": parameters, "contract": contract})
