"""Two-phase ordering (Birman & Joseph's ABCAST), as CH 4.3 counts it: ask all for a priority, announce the highest.

The source multicasts a message, each destination proposes a priority above all it has seen, the source announces the
highest.  A message is delivered when it is final and nothing that may still come before it is waiting.  One broadcast
is N + 1 frames on a broadcast network, 3 (N - 1) on a point-to-point network, and three propagation times.

Total order with FIFO and causality under loss, repetition and delay; the order stays uniform under crashes too (level
R3: nobody gives a message its place before all destinations have it), but whoever waits for one that crashed waits for
good: the paper's comparison has no membership for it.

What the four lines in CH leave open: the source decides its messages in the order of sending, each above the one
before, so that FIFO holds between different destinations; it proposes, too, also when it is no destination, so that
what it delivered precedes what it sends.  Lost frames: the source asks again those who have not proposed, a
destination asks the source for a decision that it misses, and a proposal tells which decisions are known.
"""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from ordercast.core import LINK_FAULTS, Contract, Message, Parameters, Pid, Port, Process


class Msg(Message, frozen=True):
    """Source -> destinations: my `n`-th broadcast; propose a priority."""

    carries = "payload"
    origin: Pid
    n: int
    to: tuple[Pid, ...]  # empty: all
    oldest: int  # everybody knows my decisions on what is below
    payload: bytes

    def about(self) -> tuple[Pid, int]:
        return (self.origin, self.n)


class Priority(Message, frozen=True):
    """Destination -> source: my proposal, and which of your decisions I know, as far as you wait for that."""

    n: int
    priority: int
    known: tuple[int, ...]


class Final(Message, frozen=True):
    """Source -> destinations: the priority that counts; ties go to the lower source."""

    n: int
    priority: int


class Inquiry(Message, frozen=True):
    """Destination -> source: has message `n` been decided?"""

    n: int


class Waiting:
    """A message that is not delivered here yet."""

    parameters: Parameters

    def __init__(self, message: Msg, priority: int) -> None:
        self.message, self.priority, self.final = message, priority, False

    def copy(self) -> "Waiting":
        twin = Waiting(self.message, self.priority)
        twin.final = self.final
        return twin


class TwoPhase(Process):
    """One member, as a source and as a destination."""

    name = "two_phase"
    contract = Contract(
        paper="CH",
        title="Two-phase ordering (ABCAST)",
        order="total",
        levels=("reliable", "fifo", "causal", "agreed"),
        reliability="R3",
        safe_under=(*LINK_FAULTS, "pause", "outage", "partition"),
        live_under=(*LINK_FAULTS, "pause", "outage", "partition"),
        bounds={"own": "window messages undecided, or whose decision somebody may not know"},
        also=("uniform_agreement",),
    )

    class Parameters(Parameters, frozen=True, kw_only=True):
        timeout: Annotated[
            float, Meta(description="then a frame that was not answered is sent again", extra={"unit": "s"})
        ] = 0.1
        window: Annotated[
            int, Meta(description="own undecided messages, at most", extra={"unit": "messages"}, ge=1)
        ] = 64

    parameters: Parameters

    def __init__(self, me: Pid, members: Sequence[Pid], port: Port, parameters: Parameters | None = None) -> None:
        super().__init__(me, members, port, parameters)
        # As a source: proposals for what is undecided; decisions that some destination may not know.
        self.sent = 0
        self.proposals: dict[int, dict[Pid, int]] = {}
        self.messages: dict[int, Msg] = {}
        self.decisions: dict[int, int] = {}
        self.last = 0  # my last decision
        self.informed: dict[int, list[Pid]] = {}  # decision -> the destinations that know it
        self.oldest = -1  # my first undelivered or unconfirmed message when the timer last ran out
        # As a destination: the highest priority seen; what waits; per source, what comes next.
        self.clock = 0
        self.waiting: dict[tuple[Pid, int], Waiting] = {}
        self.known: dict[Pid, list[int]] = {}  # per source, the decisions I know and it may not know that I do
        self.delivered: dict[Pid, int] = {}  # above all numbers delivered

    def ready(self) -> bool:
        return len(self.messages) < self.parameters.window

    # ------------------------------------------------------------------ source

    def broadcast(self, payload: bytes, to: Sequence[Pid] | None = None) -> None:
        n, self.sent = self.sent, self.sent + 1
        message = self.messages[n] = Msg(
            self.me, n, () if to is None else tuple(sorted(set(to))), min(self.messages, default=n), payload
        )
        self.proposals[n] = {}
        self.port.multicast(message, self.others(message))
        if not message.to or self.me in message.to:
            self.on_msg(self.me, message)
        else:
            self.clock += 1
            self.propose(self.me, n, self.clock)
        if len(self.messages) == 1:
            self.port.set_timer("ask again", self.parameters.timeout)

    def others(self, message: Msg) -> tuple[Pid, ...] | None:
        return tuple(node for node in message.to if node != self.me) if message.to else None

    def on_priority(self, src: Pid, proposal: Priority) -> None:
        for n in proposal.known:
            if n in self.decisions and src not in self.informed[n]:
                self.informed[n].append(src)
        self.forget()
        self.propose(src, proposal.n, proposal.priority)

    def propose(self, src: Pid, n: int, priority: int) -> None:
        if n in self.proposals:
            self.proposals[n].setdefault(src, priority)
            self.decide()

    def decide(self) -> None:
        """Announce, in the order of sending, what all have proposed for."""
        while self.proposals:
            n = min(self.proposals)
            message, proposed = self.messages[n], self.proposals[n]
            if any(node not in proposed for node in (*(message.to or self.members), self.me)):
                return
            del self.proposals[n]
            self.informed[n] = []
            self.last = self.decisions[n] = max(self.last + 1, *proposed.values())
            self.port.multicast(Final(n, self.last), self.others(message))
            self.on_final(self.me, Final(n, self.last))
            self.forget()

    def lacking(self, n: int) -> tuple[Pid, ...]:
        """The destinations whose proposal I lack, or who may not know the decision."""
        nodes = [node for node in self.messages[n].to or self.members if node != self.me]
        if n in self.proposals:
            return tuple(node for node in nodes if node not in self.proposals[n])
        return tuple(node for node in nodes if node not in self.informed[n])

    def forget(self) -> None:
        """Let go of decisions that all their destinations know."""
        for n in list(self.decisions):
            if not self.lacking(n):
                del self.decisions[n], self.messages[n], self.informed[n]
        if not self.messages:
            self.port.cancel_timer("ask again")

    def on_ask_again(self) -> None:
        for n in self.proposals:
            if self.lacking(n):
                self.port.multicast(self.messages[n], self.lacking(n))
        n = min(self.messages)
        if n in self.decisions and n == self.oldest:  # no later proposal told that it is known
            self.port.multicast(Final(n, self.decisions[n]), self.lacking(n))
        self.oldest = n
        self.port.set_timer("ask again", self.parameters.timeout)

    def on_inquiry(self, src: Pid, inquiry: Inquiry) -> None:
        if inquiry.n in self.decisions:
            self.port.send(src, Final(inquiry.n, self.decisions[inquiry.n]))

    # ------------------------------------------------------------------ destination

    def on_msg(self, src: Pid, message: Msg) -> None:
        origin, n = message.origin, message.n
        self.known[origin] = [k for k in self.known.get(origin, ()) if k >= message.oldest]
        if n < self.delivered.get(origin, 0):
            return
        if (origin, n) not in self.waiting:
            self.clock += 1
            self.waiting[origin, n] = Waiting(message, self.clock)
            if len(self.waiting) == 1:
                self.port.set_timer("inquire", self.parameters.timeout)
        waiting = self.waiting[origin, n]
        if waiting.final:
            return
        if origin == self.me:
            self.propose(self.me, n, waiting.priority)
        else:
            self.port.send(origin, Priority(n, waiting.priority, tuple(self.known[origin])))

    def on_final(self, src: Pid, final: Final) -> None:
        self.clock = max(self.clock, final.priority)
        waiting = self.waiting.get((src, final.n))
        if waiting is not None and not waiting.final:
            waiting.priority, waiting.final = final.priority, True
            self.known.setdefault(src, []).append(final.n)
            self.deliver()
        elif src != self.me:  # it asks whether I know
            known = self.known.setdefault(src, [])
            self.port.send(
                src, Priority(final.n, final.priority, tuple(known) if final.n in known else (*known, final.n))
            )

    def deliver(self) -> None:
        """A proposal is a lower bound of the decision, so what has the lowest and is final comes next."""
        while self.waiting:
            key = min(self.waiting, key=lambda each: (self.waiting[each].priority, each[0], each[1]))
            if not self.waiting[key].final:
                return
            origin, n = key
            self.port.deliver(origin, n, self.waiting.pop(key).message.payload)
            self.delivered[origin] = n + 1
        self.port.cancel_timer("inquire")

    def on_inquire(self) -> None:
        for (origin, n), waiting in self.waiting.items():
            if not waiting.final and origin != self.me:
                self.port.send(origin, Inquiry(n))
        self.port.set_timer("inquire", self.parameters.timeout)

    def buffers(self) -> dict[str, tuple[int, int]]:
        return {"own": (len(self.messages), self.parameters.window)}

    handlers = {Msg: on_msg, Priority: on_priority, Final: on_final, Inquiry: on_inquiry}
    timers = {"ask again": on_ask_again, "inquire": on_inquire}
