"""A deterministic discrete-event simulation of one group: the same run is the same trace, always and everywhere.

A run has three phases.  While its measured broadcasts are being asked for, and until they are stable, load goes on;
then it stops; and when all that survivors broadcast is delivered at all survivors, or when nothing has moved for
`settle` seconds and no planned fault lies within ten times as long ahead, the run is over.
"""

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import count
from math import inf
from random import Random
from typing import Any

import msgspec

from ordercast.core import Message, Parameters, Pid, Process, parameters_of
from ordercast.sim import faults
from ordercast.sim.agenda import Agenda
from ordercast.sim.member import DEAD, DRAIN, LOAD, OVER, TAIL, Member
from ordercast.sim.recording import RecordingMember
from ordercast.sim.run import Run
from ordercast.sim.streams import stream
from ordercast.sim.workloads import Saturated
from ordercast.trace import Member as MemberInfo
from ordercast.trace import Recorder, Trace

PATIENCE = 10  # settle times that a run without progress waits for a planned fault ahead


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a run came to.  `stalled`: it was given up; `excused`: under a fault that `live_under` leaves out."""

    run: Run
    events: int
    duration: float  # simulated seconds
    stalled: bool
    excused: bool
    faults_met: tuple[str, ...]
    simulation: Any  # the processes and the network, for whoever wants to look
    recorder: Recorder | None

    def trace(self) -> Trace:
        """The recorded trace, complete with what it takes to read it."""
        if self.recorder is None:
            raise ValueError("this run was not recorded: give simulate() a Recorder")
        simulation: Simulation = self.simulation
        return self.recorder.trace(
            self.run.key(),
            [
                MemberInfo(member.name, "crashed" if member.state == DEAD or member.left else "correct")
                for member in simulation.members
            ],
            finished=not self.excused,
            faults_met=list(self.faults_met),
            protocol=self.run.protocol,
            parameters=msgspec.to_builtins(self.run),
            facts=simulation.facts(),
        )


class _LinkState:
    """A planned link fault and whether it met traffic."""

    def __init__(self, fault: faults.LinkFault, random: Random) -> None:
        self.fault, self.apply = fault, fault.link(random)


class Simulation:
    """The clock, the queue and the group.  Entries of the queue are (when, tick, call, and its three arguments)."""

    def __init__(self, kind: type[Process], run: Run, recorder: Recorder | None = None) -> None:
        self.kind, self.run, self.recorder = kind, run, recorder
        self.now = 0.0
        self.tick = count()  # breaks ties in time: first scheduled, first run
        self.queue: list[tuple[float, int, Callable[..., None], Any, Any, Any]] = []
        self.streams: dict[str, Random] = {}
        self.met: dict[str, None] = {}  # kinds of fault that met traffic, in that order
        self.takes = None if run.consume is None else 1.0 / run.consume
        self.peaks: dict[str, tuple[int, int]] = {}
        self.parameters: Parameters = parameters_of(kind, run.parameters)
        self.links = [
            _LinkState(fault, self.stream(f"fault {k}"))
            for k, fault in enumerate(run.faults)
            if isinstance(fault, faults.LinkFault)
        ]
        self.members: list[Member] = []
        self.by_pid: dict[Pid, Member] = {}
        for need, value in kind.contract.needs.items():
            if run.network.gives.get(need) != value:
                network = type(run.network).__name__
                raise ValueError(f"{kind.name} needs a network with {need}: {value}, which {network} is not")
        self.one_channel = "channel" in kind.contract.needs  # then nothing, not a fault either, changes its order
        self.latest: dict[int, float] = {}  # receiver -> when its last frame comes, on one channel
        self.channel = run.network.channel(self)
        self.saturated = isinstance(run.workload, Saturated)
        self.phase = LOAD
        self.attentive = self.saturated or kind.withdraws  # whether more than the count of deliveries matters now
        self.asked = 0
        self.asking = run.members  # members whose workload goes on
        self.quota: list[int] = []  # origin -> how many of its broadcasts are measured
        self.unsettled: dict[int, Member] = {}  # members that keep the run in its phase
        self.pending = 0  # broadcasts that their origins have not delivered
        self.last_progress = self.last_stable = 0.0
        self.load_ended = inf
        self.stalled = False
        self.left_out = False  # a view without some founder has been told
        for pid in range(run.members):
            self.add(pid, pid, str(pid))
        for member in self.members:
            member.process = kind(member.pid, range(run.members), member, self.parameters)
        self.agenda = Agenda(self)

    # ------------------------------------------------------------------ its services

    def stream(self, name: str) -> Random:
        """A named stream of this run."""
        if name not in self.streams:
            self.streams[name] = stream(self.run.seed, name)
        return self.streams[name]

    def schedule(self, when: float, call: Callable[..., None], a: Any = None, b: Any = None, c: Any = None) -> None:
        heappush(self.queue, (when, next(self.tick), call, a, b, c))

    def copies(self, src: Member, to: Sequence[Member], message: Message, stamp: Any) -> faults.Copies:
        """The copies of a frame for others that the planned link faults leave, each with the delay they add."""
        kind, now = type(message).__name__, self.now
        copies: faults.Copies = [(member, 0.0) for member in to if member is not src]
        for link in self.links:
            fault = link.fault
            if (fault.on and kind not in fault.on) or not fault.begin <= now < fault.end:
                continue
            left = link.apply(src, copies)
            if left != copies:
                self.meet(fault.fault)
                if len(left) < len(copies):
                    there = [id(member) for member, _ in left]
                    for member, _ in copies:
                        if id(member) not in there:
                            member.dropped("partition" if fault.fault == "partition" else "loss", stamp)  # type: ignore[attr-defined]
                copies = left
        return copies

    def spread(
        self,
        src: Member,
        to: Sequence[Member],
        message: Message,
        stamp: Any,
        delay: Callable[[], float] | None = None,
    ) -> None:
        """Those copies, each with the network's own delay."""
        now = self.now
        for member, late in self.copies(src, to, message, stamp):
            when = now + late if delay is None else now + late + delay()
            self.in_turn(when, member, src, message, stamp)  # type: ignore[arg-type]

    def in_turn(self, when: float, member: Member, src: Member, message: Message, stamp: Any) -> None:
        """A copy arrives; on one channel, not before one of a frame that was sent earlier."""
        if self.one_channel:
            when = self.latest[member.index] = max(when, self.latest.get(member.index, 0.0))
        self.schedule(when, member.arrive, src.pid, message, stamp)

    def meet(self, fault: str) -> None:
        """A fault touched traffic."""
        self.met[fault] = None

    def cost(self, src: Member, to: Member) -> float:
        """What the path between two members costs now, where the network knows such a thing."""
        ask = getattr(self.channel, "cost", None)
        return 1.0 if ask is None else ask(src, to)

    def author(self, origin: Pid, n: int, payload: bytes) -> Member | None:
        """Whose message this is: that of who has the id now, or of one who had it before and crashed."""
        source = self.by_pid[origin]
        if n < len(source.payloads) and source.payloads[n] == payload:
            return source
        former = [each for each in self.members if each.pid == origin and n < len(each.payloads)]
        return next((each for each in former if each.payloads[n] == payload), None)

    def add(self, pid: Pid, home: int, name: str) -> Member:
        """A place for a process; who is in the world hears multicasts."""
        index = len(self.members)
        member = (Member if self.recorder is None else RecordingMember)(self, index, pid, home, name)
        self.members.append(member)
        self.by_pid[pid] = member
        self.quota.append(0)
        for each in self.members:
            each.others = tuple(other for other in self.by_pid.values() if other is not each)
            each.got.extend([0] * (index + 1 - len(each.got)))
            each.stable.extend([0] * (index + 1 - len(each.stable)))
        return member

    # ------------------------------------------------------------------ phases

    def on_ask(self, member: Member, to: tuple[int, ...] | None) -> None:
        if not self.pending:
            self.last_progress = self.now
        self.pending += 1
        if to is not None:
            for other in self.members:
                if other.pid not in to:
                    other.got[member.index] += 1  # not for it: as good as delivered
            if member.pid not in to:
                self.pending -= 1
        self.asked += 1
        if self.asked == self.run.messages:
            self.end_measure()

    def on_exhausted(self) -> None:
        """A member asks for nothing more, because its workload has an end or because it crashed."""
        self.asking -= 1
        if not self.asking and self.phase == LOAD and not self.saturated:
            self.end_measure()

    def end_measure(self) -> None:
        if self.phase == LOAD:
            self.quota = [len(each.payloads) for each in self.members]
            self.load_ended = self.now
            self.enter(TAIL)

    def on_deliver(self, member: Member, source: Member, n: int) -> None:
        if self.kind.withdraws:
            member.log.append(source.index)
        if self.saturated and n in source.outstanding:
            source.outstanding[n] |= 1 if source is member else 2
            if source.outstanding[n] == 3:
                del source.outstanding[n]
                self.schedule(self.now, source.ask_again)
        if self.phase and member.index in self.unsettled:
            self.settle(member)

    def on_stable(self, member: Member) -> None:
        if self.phase and member.index in self.unsettled:
            self.settle(member)

    def is_settled(self, member: Member) -> bool:
        """Does this member no longer keep the run in its phase?"""
        live = [other for other in self.members if other.state != DEAD and not other.left]
        if self.phase == TAIL:
            has = member.stable if "stable" in self.kind.contract.reports else member.got
            return all(has[other.index] >= self.quota[other.index] for other in live if other.index < len(self.quota))
        has = member.stable if self.kind.withdraws else member.got  # what may be taken back does not settle anything
        return all(has[other.index] >= len(other.payloads) for other in live)

    def settle(self, member: Member) -> None:
        if self.is_settled(member):
            self.unsettled.pop(member.index, None)
            if not self.unsettled:
                self.enter(self.phase + 1)

    def enter(self, phase: int) -> None:
        newcomers = [member for member in self.members[self.run.members :] if member.state != DEAD and not member.left]
        if phase == OVER and (newcomers or self.uneven()):  # what the others have by now, they are about to get
            self.schedule(self.now + self.run.settle / 2, self.close)
            return
        self.phase = phase
        self.attentive = True
        self.last_stable = self.now
        if phase < OVER:
            self.reconsider()

    def close(self, *_: Any) -> None:
        if self.uneven() and self.now - self.last_progress < self.run.settle:
            self.schedule(self.now + self.run.settle / 2, self.close)
        else:
            self.phase = OVER

    def uneven(self) -> bool:
        """Has one survivor more than another of what somebody broadcast who is gone, or has anybody called more of it
        stable than the survivors delivered?  It may be on its way still."""
        here = [member for member in self.members[: self.run.members] if member.state != DEAD and not member.left]
        for other in (member for member in self.members if member.state == DEAD or member.left):
            got = {member.got[other.index] for member in here}
            if len(got) > 1 or max(member.stable[other.index] for member in self.members) > max(got, default=0):
                return bool(here)
        return False

    def reconsider(self) -> None:
        """Look again at who keeps the run in its phase: at its begin, and when somebody comes or goes."""
        if LOAD < self.phase < OVER:
            judged = self.members[
                : self.run.members
            ]  # a newcomer is not waited for: it may never get what came before it
            live = [member for member in judged if member.state != DEAD and not member.left]
            self.unsettled = {member.index: member for member in live if not self.is_settled(member)}
            if not self.unsettled:
                self.enter(self.phase + 1)

    def look(self, *_: Any) -> None:
        """Is anything still moving?"""
        settle = self.run.settle
        change = self.agenda.last_change
        ahead = self.now < change <= self.now + PATIENCE * settle
        since = inf if ahead else max(self.last_progress, change if change <= self.now else 0.0)
        if self.now - since >= settle and (self.pending or self.phase != LOAD or self.saturated):
            self.stalled = bool(self.pending) or not self.left_out  # who was left out of a view may lack what it missed
            self.phase = OVER
        elif self.phase == TAIL and self.now - max(self.last_stable, self.agenda.last_change) >= settle:
            self.enter(DRAIN)  # measured messages that will never be stable, while others go on
        self.schedule(self.now + settle / 4, self.look)

    # ------------------------------------------------------------------ the run

    def start_load(self, member: Member) -> None:
        member.asks = self.run.workload.asks(member.home, self.run.members, self.stream(f"workload {member.name}"))
        if self.now > 0:  # a newcomer's application begins to ask now
            begin = self.now
            asks = member.asks
            member.asks = ((begin + time, size, to) for time, size, to in asks)
            self.asking += 1
        member.plan_next()

    def begin(self) -> None:
        """Start the members and their load."""
        for member in self.members:
            member.process.start()
        for member in self.members:
            self.start_load(member)

    def advance(self, until: float) -> None:
        """Go on to a time, whatever the run's phase: for whoever looks at the members now and then."""
        queue = self.queue
        while queue and queue[0][0] <= until:
            self.now, _, call, a, b, c = heappop(queue)
            call(a, b, c)
        self.now = until

    def go(self) -> Outcome:
        """Run to the end."""
        self.begin()
        self.schedule(self.run.settle, self.look)
        events, queue = 0, self.queue
        pop, watch, most = heappop, self.run.watch_buffers, self.run.max_events or inf
        try:
            while self.phase < OVER:
                self.now, _, call, a, b, c = pop(queue)
                call(a, b, c)
                events += 1
                if events > most:
                    self.stalled, self.phase = True, OVER
                if watch:
                    self.watch()
        except AssertionError as error:
            error.add_note(f"at {self.now:.6f} s of run {self.run.key()}, seed {self.run.seed}")
            raise
        excused = self.stalled and not set(self.met) <= set(self.kind.contract.live_under)
        return Outcome(
            run=self.run,
            events=events,
            duration=self.now,
            stalled=self.stalled,
            excused=excused,
            faults_met=tuple(self.met),
            simulation=self,
            recorder=self.recorder,
        )

    def watch(self) -> None:
        for member in self.members:
            for name, (full, limit) in member.process.buffers().items():
                if full > self.peaks.get(name, (-1, 0))[0]:
                    self.peaks[name] = (full, limit)

    def facts(self) -> dict[str, Any]:
        """What the rows do not say."""
        kinds = [kind.__name__ for kind in self.kind.handlers if kind.carries == "payload"]
        bounds = {name: {"most": most, "limit": limit} for name, (most, limit) in self.peaks.items()}
        return {
            "measured": min(self.run.messages, self.asked),
            "stalled": self.stalled,
            "payload_kinds": kinds,
            "duration_s": self.now,
            **(self.channel.facts() if hasattr(self.channel, "facts") else {}),
            "faults_end": self.agenda.last_change,
            **({"live_within": self.run.live_within} if self.run.live_within is not None else {}),
            **({"bounds": bounds} if bounds else {}),
        }


def simulate(kind: type[Process], run: Run, recorder: Recorder | None = None) -> Outcome:
    """Simulate a run of a protocol; with a recorder, its trace can be had from the outcome."""
    return Simulation(kind, run, recorder).go()
