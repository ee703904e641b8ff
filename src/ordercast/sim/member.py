"""One member of a simulated group: the port of its process, and the application above it."""

from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from heapq import heappush
from typing import TYPE_CHECKING, Any

from ordercast.core import Message, Pid, Process, Reached, Time
from ordercast.sim.workloads import Ask

if TYPE_CHECKING:
    from ordercast.sim.simulation import Simulation

RUNNING, PAUSED, DEAF, DEAD = range(4)  # states of a member
LOAD, TAIL, DRAIN, OVER = range(4)  # phases of a run: see the simulation
PLENTY = 1 << 16  # free buffers of a receiver that takes everything at once


class Member:
    """A port.  `arrive`, `fire` and `ask` are what the simulation's queue calls; each ends by `after_verb`."""

    def __init__(self, simulation: "Simulation", index: int, pid: Pid, home: int, name: str) -> None:
        self.simulation, self.index, self.pid, self.home, self.name = simulation, index, pid, home, name
        self.process: Process
        self.composes_late = simulation.kind.composes_late
        self.sizes = {"payload": simulation.run.size_bytes, "control": simulation.run.control_bytes}
        self.slow = simulation.takes is not None  # it takes frames at a rate of its own
        self.state = RUNNING
        self.left = False
        self.others: tuple[Member, ...] = ()
        self.timers: dict[Hashable, int] = {}  # name -> tick of the queue entry that counts
        self.transmitting = 0  # frames that the channel has not yet taken, for `clear`
        self.clear_due = False  # it took the last one while the member was paused
        self.socket = 0  # frames that it holds while the member is paused
        # The application: what it asked for, what waits for `ready`, what it was given.
        self.asks: Iterator[Ask] = iter(())
        self.payloads: list[bytes] = []
        self.frame_sizes: dict[int, int] = {}  # n -> size, where the workload gave one
        self.waiting: deque[tuple[bytes, tuple[int, ...] | None]] = deque()
        self.outstanding: dict[int, int] = {}  # n -> 1: I delivered it, 2: another did; for a saturated workload
        self.delivered = 0
        self.log: list[int] = []  # origins in the order of delivery, where deliveries may be withdrawn
        self.got: list[int] = []  # origin -> deliveries here
        self.stable: list[int] = []  # origin -> number below which all is known stable here
        self.held: deque[tuple[Pid, Message, Any]] = deque()  # while paused, or waiting to be taken
        self.due: list[tuple[Hashable, int]] = []  # timers that ran out while paused, and what counts for them
        self.taking = 0  # payload frames in `held` that wait to be taken

    # ------------------------------------------------------------------ what a process asks of its world

    def send(self, to: Pid, message: Message, /) -> None:
        member = self.simulation.by_pid.get(to)
        if member is not None:
            self.put(message, (member,))

    def multicast(self, message: Message, to: Sequence[Pid] | None = None, /) -> None:
        if to is None:
            members = self.others
        else:
            known = self.simulation.by_pid
            members = tuple(known[pid] for pid in to if pid in known)
        if members:
            self.put(message, members)

    def put(self, message: Message, to: "tuple[Member, ...]") -> None:
        if self.state == DEAF and to != (self,):
            self.mute()
            to = (self,) if self in to else ()
        if to == (self,) and not self.simulation.one_channel:
            self.simulation.schedule(self.simulation.now, self.arrive, self.pid, message, None)
        elif to:
            self.transmit(to, message, self.size_of(message), None)

    def transmit(self, to: "tuple[Member, ...]", message: Message, size: int, stamp: Any) -> None:
        self.transmitting += self.composes_late
        self.simulation.channel.transmit(self, to, message, size, stamp)

    def mute(self) -> None:
        """A frame is handed to a channel that does not carry it: taken at once, and lost."""
        self.simulation.meet("outage")
        if self.composes_late:
            self.transmitting += 1
            self.simulation.schedule(self.simulation.now, self.cleared)

    def size_of(self, message: Message) -> int:
        """What a frame costs on the wire, as declared."""
        if self.frame_sizes and message.carries == "payload":
            origin, n = message.about()
            source = self.simulation.by_pid.get(origin)
            if source is not None and n in source.frame_sizes:
                return source.frame_sizes[n]
        return self.sizes[message.carries]

    def deliver(self, origin: Pid, n: int, payload: bytes, /) -> None:
        simulation = self.simulation
        source = simulation.author(origin, n, payload)
        assert source is not None, f"{self.name} delivers as ({origin}, {n}) what was not broadcast as that"
        self.delivered += 1
        self.got[source.index] += 1
        simulation.last_progress = simulation.now
        if source is self:
            simulation.pending -= 1
        if simulation.attentive:
            simulation.on_deliver(self, source, n)

    def withdraw(self, count: int, /) -> None:
        assert self.simulation.kind.withdraws, f"{self.process.name} withdraws, but does not say so"
        for index in self.log[-count:]:
            self.got[index] -= 1
        del self.log[-count:]
        self.delivered -= count

    def reach(self, level: Reached, origin: Pid, below: int, /) -> None:
        if level == "stable":
            simulation = self.simulation
            index = simulation.by_pid[origin].index
            if below > self.stable[index]:
                self.stable[index] = below
                simulation.last_stable = simulation.now
                if simulation.attentive:
                    simulation.on_stable(self)

    def set_timer(self, name: Hashable, after: Time, /) -> None:
        simulation = self.simulation
        self.timers[name] = tick = next(simulation.tick)
        heappush(simulation.queue, (simulation.now + after, tick, self.fire, name, tick, None))

    def cancel_timer(self, name: Hashable, /) -> None:
        self.timers.pop(name, None)

    def view(self, members: Sequence[Pid], /) -> None:
        simulation = self.simulation
        simulation.left_out |= any(pid not in members for pid in range(simulation.run.members))

    def suspect(self, member: Pid, /) -> None:
        pass

    def room(self) -> int:
        return PLENTY if self.simulation.run.consume is None else max(0, self.simulation.run.buffer - self.taking)

    def cost(self, to: Pid, /) -> float:
        return self.simulation.cost(self, self.simulation.by_pid[to])

    def random(self) -> float:
        return self.simulation.stream(f"member {self.name}").random()

    def now(self) -> Time:
        return self.simulation.now

    # ------------------------------------------------------------------ what happens to it

    def arrive(self, src: Pid, message: Message, stamp: Any) -> None:
        if self.state or self.slow:
            self.arrive_odd(src, message, stamp)
        else:  # `take`, unfolded: the hot path
            self.process.receive(src, message)
            if self.waiting:
                self.pump()

    def take(self, src: Pid, message: Message, stamp: Any) -> None:
        self.process.receive(src, message)
        if self.waiting:
            self.pump()

    def arrive_odd(self, src: Pid, message: Message, stamp: Any) -> None:
        """A frame comes to a member that is paused, deaf or dead, or that takes frames at a rate of its own."""
        simulation = self.simulation
        if self.state in (DEAD, DEAF) and src != self.pid:
            cause = "crash" if self.state == DEAD else "outage"
            simulation.meet(cause)
            self.dropped(cause, stamp)
        elif self.state == DEAD:
            return
        elif self.state == PAUSED:
            simulation.meet("pause")
            if len(self.held) < self.socket or src == self.pid:
                self.held.append((src, message, stamp))
            else:
                self.dropped("overrun", stamp)
        elif simulation.takes is None:
            self.take(src, message, stamp)
        else:
            self.enqueue(src, message, stamp, simulation.takes)

    def enqueue(self, src: Pid, message: Message, stamp: Any, takes: float) -> None:
        """A finite receive buffer: payload frames take `takes` seconds each, the others are taken in their turn."""
        loaded = message.carries == "payload" and src != self.pid
        if loaded and self.taking >= self.simulation.run.buffer:
            self.dropped("overrun", stamp)
            return
        self.taking += loaded
        self.held.append((src, message, stamp))
        if len(self.held) == 1:
            self.simulation.schedule(self.simulation.now + (takes if loaded else 0.0), self.take_next)

    def take_next(self, *_: Any) -> None:
        takes = self.simulation.takes
        if self.state == PAUSED or takes is None or not self.held:
            return
        src, message, stamp = self.held.popleft()
        self.taking -= message.carries == "payload" and src != self.pid
        if self.state != DEAD:
            self.take(src, message, stamp)
        if self.held:
            src, message, _ = self.held[0]
            loaded = message.carries == "payload" and src != self.pid
            self.simulation.schedule(self.simulation.now + (takes if loaded else 0.0), self.take_next)

    def dropped(self, reason: str, stamp: Any) -> None:
        pass

    def fire(self, name: Hashable, tick: int, _: Any) -> None:
        if self.timers.get(name) != tick or self.state == DEAD:
            return
        if self.state == PAUSED:
            self.simulation.meet("pause")
            self.due.append((name, tick))
        else:
            del self.timers[name]
            self.expired(name)

    def expired(self, name: Hashable) -> None:
        self.process.expire(name)
        if self.waiting:
            self.pump()

    def cleared(self, *_: Any) -> None:
        self.transmitting -= 1
        if not self.transmitting and self.state in (RUNNING, DEAF):
            self.process.clear()
            if self.waiting:
                self.pump()
        elif self.state == PAUSED:
            self.clear_due = not self.transmitting

    # ------------------------------------------------------------------ its application

    def ask(self, size: int | None, to: tuple[int, ...] | None, _: Any) -> None:
        """The workload's next broadcast is due."""
        if self.may_ask():
            self.ask_now(size, to)
            self.plan_next()
        else:
            self.simulation.on_exhausted()

    def may_ask(self) -> bool:
        return self.state != DEAD and not self.left and self.simulation.phase < DRAIN

    def plan_next(self) -> None:
        following = next(self.asks, None)
        if following is None:
            self.simulation.on_exhausted()
        else:
            time, size, to = following
            self.simulation.schedule(time, self.ask, size, to)

    def ask_again(self, *_: Any) -> None:
        if self.may_ask():
            self.ask_now(None, None)

    def ask_now(self, size: int | None, to: tuple[int, ...] | None) -> None:
        n = len(self.payloads)
        payload = b"%d.%d" % (self.index, n)
        self.payloads.append(payload)
        if size is not None:
            self.frame_sizes[n] = size
        if self.simulation.saturated:
            self.outstanding[n] = 2 * (len(self.simulation.members) == 1)
        self.asked(n, to)
        self.waiting.append((payload, to))
        self.simulation.on_ask(self, to)
        if self.state != PAUSED:
            self.pump()

    def asked(self, n: int, to: tuple[int, ...] | None) -> None:
        pass

    def pump(self) -> None:
        """Hand over what waits, as long as the process is ready."""
        waiting, process = self.waiting, self.process
        while waiting and process.ready():
            payload, to = waiting.popleft()
            if to is None:
                process.broadcast(payload)
            else:
                process.broadcast(payload, to)

    # ------------------------------------------------------------------ member faults

    def crash(self) -> None:
        self.state = DEAD
        self.waiting.clear()
        self.held.clear()

    def pause(self, socket: int) -> None:
        self.state, self.socket = PAUSED, socket

    def resume(self) -> None:
        """It runs again: first the timers that are due, then what waited in its socket."""
        self.state = RUNNING
        due, self.due = self.due, []
        for name, tick in due:
            if self.timers.get(name) == tick:  # not cancelled by one that came before it
                del self.timers[name]
                self.expired(name)
        if self.simulation.takes is None:
            held, self.held = self.held, deque()
            for src, message, stamp in held:
                self.take(src, message, stamp)
        elif self.held:
            self.simulation.schedule(self.simulation.now, self.take_next)
        if self.clear_due and not self.transmitting:
            self.process.clear()
        self.clear_due = False
        self.pump()
