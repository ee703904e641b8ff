"""A member whose events are written down.  What it adds to `Member` is rows, nothing else."""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from ordercast.core import Message, Pid, Reached
from ordercast.sim.member import DEAF, Member
from ordercast.trace.columns import (
    BROADCAST,
    DELIVER,
    DROP,
    DROPS,
    KINDS,
    REACH,
    REACHES,
    RECEIVE,
    SEND,
    SUSPECT,
    TIMER,
    VIEW,
    WITHDRAW,
)

if TYPE_CHECKING:
    from ordercast.sim.simulation import Simulation

_DROP_LEVEL = {name: level for level, name in enumerate(DROPS)}
_REACH_LEVEL = {name: level for level, name in enumerate(REACHES)}
_KIND = {name: kind for kind, name in enumerate(KINDS)}


class RecordingMember(Member):
    """A stamp travels with each frame: (row of its send, kind of message, origin, n, size)."""

    def __init__(self, simulation: "Simulation", index: int, pid: Pid, home: int, name: str) -> None:
        super().__init__(simulation, index, pid, home, name)
        recorder = simulation.recorder
        assert recorder is not None
        self.recorder, self.row = recorder, recorder.row
        self.keeps = recorder.keeps
        self.cause = -1  # row of the event whose verb is running here
        self.kinds: dict[type[Message], int] = {}  # kind of message -> its index in the trace

    def event(self, kind: str, n: int = 0, position: int = 0) -> None:
        """A row about the member itself."""
        if self.keeps[_KIND[kind]]:
            self.row(self.simulation.now, position, self.index, -1, -1, n, 0, -1, -1, _KIND[kind], 0)

    def put(self, message: Message, to: tuple[Member, ...]) -> None:
        simulation = self.simulation
        own = to == (self,)
        if self.state == DEAF and not own:
            self.mute()
            to = (self,) if self in to else ()
            own = True
        if own:
            if to and simulation.one_channel:
                self.transmit(to, message, self.size_of(message), self.stamp(message, -1, 0))
            elif to:
                simulation.schedule(simulation.now, self.arrive, self.pid, message, self.stamp(message, -1, 0))
            return
        size = self.size_of(message)
        if simulation.channel.point_to_point:
            for member in to:
                if member is self:
                    simulation.schedule(simulation.now, self.arrive, self.pid, message, self.stamp(message, -1, 0))
                else:
                    only = self.recorder.set_index((member.index,))
                    self.transmit((member,), message, size, self.stamp(message, only, size))
            return
        if to is self.others:
            destination = -1
        else:
            destination = self.recorder.set_index([member.index for member in to])
        self.transmit(to, message, size, self.stamp(message, destination, size))

    def stamp(self, message: Message, destination: int, size: int) -> tuple[int, int, int, int, int]:
        kind = self.kinds.get(type(message))
        if kind is None:
            kind = self.kinds[type(message)] = self.recorder.message_index(type(message).__name__)
        origin, n = message.about()
        if origin >= 0:
            source = self.simulation.by_pid.get(origin)
            origin = -1 if source is None else source.index
        row = -1
        if self.keeps[SEND] and size:
            row = self.row(self.simulation.now, 0, self.index, destination, origin, n, size, self.cause, kind, SEND, 0)
        return (row, kind, origin, n, size)

    def deliver(self, origin: Pid, n: int, payload: bytes, /) -> None:
        simulation = self.simulation
        position = self.delivered
        super().deliver(origin, n, payload)
        source = simulation.author(origin, n, payload)
        index = -1 if source is None else source.index
        self.row(simulation.now, position, self.index, -1, index, n, 0, self.cause, -1, DELIVER, 0)

    def withdraw(self, count: int, /) -> None:
        super().withdraw(count)
        self.row(self.simulation.now, self.delivered, self.index, -1, -1, count, 0, self.cause, -1, WITHDRAW, 0)

    def reach(self, level: Reached, origin: Pid, below: int, /) -> None:
        super().reach(level, origin, below)
        simulation = self.simulation
        if self.keeps[REACH]:
            index = simulation.by_pid[origin].index
            kind = _REACH_LEVEL[level]
            self.row(simulation.now, 0, self.index, -1, index, below, 0, self.cause, -1, REACH, kind)

    def view(self, members: Sequence[Pid], /) -> None:
        super().view(members)
        known = self.simulation.by_pid
        indices = self.recorder.set_index([known[pid].index for pid in members])
        self.row(self.simulation.now, 0, self.index, indices, -1, 0, 0, self.cause, -1, VIEW, 0)

    def suspect(self, member: Pid, /) -> None:
        index = self.simulation.by_pid[member].index
        self.row(self.simulation.now, 0, self.index, -1, index, 0, 0, self.cause, -1, SUSPECT, 0)

    def arrive(self, src: Pid, message: Message, stamp: Any) -> None:
        if self.state or self.slow:
            self.arrive_odd(src, message, stamp)
        else:
            self.take(src, message, stamp)

    def take(self, src: Pid, message: Message, stamp: tuple[int, int, int, int, int]) -> None:
        sent, kind, origin, n, size = stamp
        if self.keeps[RECEIVE] and (message.carries == "payload" or self.recorder.control_receipts):
            self.cause = self.row(self.simulation.now, 0, self.index, -1, origin, n, size, sent, kind, RECEIVE, 0)
        else:
            self.cause = sent
        self.process.receive(src, message)
        if self.waiting:
            self.pump()
        self.cause = -1

    def dropped(self, reason: str, stamp: tuple[int, int, int, int, int]) -> None:
        if self.keeps[DROP]:
            sent, kind, origin, n, size = stamp
            level = _DROP_LEVEL[reason]
            self.row(self.simulation.now, 0, self.index, -1, origin, n, size, sent, kind, DROP, level)

    def expired(self, name: Hashable) -> None:
        if self.keeps[TIMER]:
            word = self.recorder.message_index(str(name[0]) if isinstance(name, tuple) else str(name))
            self.cause = self.row(self.simulation.now, 0, self.index, -1, -1, 0, 0, -1, word, TIMER, 0)
        super().expired(name)
        self.cause = -1

    def asked(self, n: int, to: tuple[int, ...] | None) -> None:
        destination = -1 if to is None else self.recorder.set_index([self.simulation.by_pid[pid].index for pid in to])
        self.cause = self.row(self.simulation.now, 0, self.index, destination, self.index, n, 0, -1, -1, BROADCAST, 0)

    def ask_now(self, size: int | None, to: tuple[int, ...] | None) -> None:
        super().ask_now(size, to)
        self.cause = -1

    def crash(self) -> None:
        super().crash()
        self.event("crash")

    def pause(self, socket: int) -> None:
        super().pause(socket)
        self.event("pause", n=1)

    def resume(self) -> None:
        self.event("pause", n=0)
        super().resume()
