"""Trans as a process: messages that carry acknowledgments, null messages, and retransmission by any holder.

Source: MMA II.A.  `Trans` and `Total` are this, and differ in what they do with messages that enter the partial order.

How it fills in, or departs from, the paper:

- A null message is owed to a broadcast received since one spoke last, after `null_after`, and, while Total is
  undecided, to anything new (`undecided`).  A group whose broadcasts are known everywhere falls silent.
- What is newly lacked is asked for after `nack_after`: by the null message if one is owed, else by a `Call`, a null
  message without a number, which says what one knows of and lacks.  With a number it would itself be lost somewhere,
  and asked for: from some 20 % loss on, null messages called forth null messages as fast as their delay allowed.
- Whoever holds what is asked for waits its turn, counted from the source on, so that one sends and the others see it.
  For `repeat_after` after a copy was seen, more demands for it are taken to be older than the copy.
- The time-out repeats one's own messages that nobody acknowledged.  When that brings nothing, or a lack stays, a
  `Call` goes out.  Without it a group can stay unfinished: C acknowledges A's message, B lost both, and when C has
  crashed A has nothing to repeat.
- If there are more positive acknowledgments than fit, they go ahead on null messages.  Left for later, a broadcast
  would not follow what its sender had delivered before.
- With `history` messages kept, because some member does not acknowledge them, broadcasts are refused and those members
  suspected, until they speak or a new membership is installed.  A membership leaves out only members that have stopped.
"""

from collections.abc import Sequence
from typing import Annotated, TypeAlias

from msgspec import Meta

from ordercast.core import Message, Parameters, Pid, Port, Process, Time
from ordercast.parts.acknowledgments import Acknowledgments
from ordercast.parts.partial_order import Entry, Id, PartialOrder

Ids: TypeAlias = tuple[tuple[int, int], ...]


class Null(Message, frozen=True):
    """A message that carries acknowledgments only."""

    origin: Pid
    seq: int  # counts all messages of the origin, null ones included
    acks: Ids
    lacks: Ids


class Broadcast(Message, frozen=True):
    """A message of the application; `to` is its destination list, empty for all."""

    carries = "payload"
    origin: Pid
    seq: int
    acks: Ids
    lacks: Ids
    n: int
    to: tuple[Pid, ...]
    payload: bytes

    def about(self) -> tuple[Pid, int]:
        return (self.origin, self.n)


class Call(Message, frozen=True):
    """What its sender knows to exist, by source, and what of that it lacks."""

    known: tuple[int, ...]
    lacks: Ids


Frame: TypeAlias = Null | Broadcast


class ExchangeParameters(Parameters, frozen=True, kw_only=True):
    null_after: Annotated[
        Time, Meta(gt=0, extra={"unit": "s"}, description="wait for a broadcast of one's own before a null message")
    ] = 0.01
    nack_after: Annotated[
        Time, Meta(gt=0, extra={"unit": "s"}, description="the same, when something is newly lacked")
    ] = 0.002
    turn: Annotated[
        Time, Meta(gt=0, extra={"unit": "s"}, description="between the turns of those who hold what is asked for")
    ] = 0.005
    repeat_after: Annotated[
        Time, Meta(gt=0, extra={"unit": "s"}, description="after a copy was seen, no further copy for so long")
    ] = 0.02
    timeout: Annotated[
        Time, Meta(gt=0, extra={"unit": "s"}, description="without acknowledgment or progress; it doubles, 16-fold")
    ] = 0.05
    acks: Annotated[
        int, Meta(ge=1, extra={"unit": "acknowledgments"}, description="positive acknowledgments in one message")
    ] = 64
    window: Annotated[
        int, Meta(ge=1, extra={"unit": "messages"}, description="of one source, taken beyond the first missing")
    ] = 64
    history: Annotated[
        int, Meta(ge=1, extra={"unit": "messages"}, description="kept for others before broadcasts are refused")
    ] = 20_000


class Exchange(Process):
    composes_late = True  # fresh acknowledgments: a message is composed when the channel has taken the one before
    Parameters = ExchangeParameters
    parameters: ExchangeParameters

    def __init__(
        self, me: Pid, members: Sequence[Pid], port: Port, parameters: ExchangeParameters | None = None
    ) -> None:
        super().__init__(me, sorted(members), port, parameters)
        self.founders = self.members  # turns are counted among them
        self.order = PartialOrder(members)
        self.lists: Acknowledgments[Frame] = Acknowledgments(self.order.width, self.parameters.window)
        self.kept = 0  # broadcasts received, and not yet known everywhere
        self.unreported: dict[Pid, list[tuple[Entry, int]]] = {}  # of these, by source: held everywhere
        # Speaking.
        self.seq = self.sent = 0  # messages and broadcasts of one's own
        self.outbox: list[tuple[bytes, tuple[Pid, ...]]] = []
        self.due: dict[Id, None] = {}  # retransmissions whose turn has come
        self.on_air = False  # the channel has not yet taken the last transmission
        self.null_due = False
        self.armed: Time | None = None  # the null message's timer
        self.asking = False  # the timer for what is newly lacked is set
        self.asked: frozenset[Id] = frozenset()  # lacked, and said so
        self.holes: frozenset[Id] = frozenset()  # lacked when one spoke last
        self.owes = self.news = self.repaired = False  # since then: a broadcast came, anything came, a hole was filled
        # The time-out.
        self.waiting = False
        self.acked = 0  # one's own messages below were acknowledged by somebody
        self.marked = 0  # one's own messages below were sent before the last time-out
        self.patience = 1
        self.progress = False
        self.lacked: frozenset[Id] = frozenset()  # at the last time-out
        self.guarded: set[Id] = set()  # a copy was seen a moment ago
        self.full = False

    # ------------------------------------------------------------------ what Trans and Total add

    def on_entered(self, entries: list[Entry]) -> None:
        """Messages have entered the partial order; `arrived` told of each before."""
        raise NotImplementedError  # abstract

    def arrived(self, id: Id, frame: Broadcast) -> None:
        """A broadcast was received, or made."""

    def undecided(self) -> Time | None:
        """If more messages are needed though nothing is owed: how long to wait with them."""
        return None

    def compose(self) -> tuple[Ids, Ids]:
        """The acknowledgments of the next message."""
        return self.lists.compose(self.parameters.acks)

    def concerned(self) -> bool:
        """Is something unfinished, as far as one knows?"""
        return self.kept > 0 or any(source in self.members for source, _ in self.lists.negative)

    # ------------------------------------------------------------------ sending

    def ready(self) -> bool:
        return not self.outbox and not self.full

    def broadcast(self, payload: bytes, to: Sequence[Pid] | None = None) -> None:
        self.outbox.append((payload, () if to is None else tuple(to)))
        self.speak()

    def clear(self) -> None:
        self.on_air = False
        self.speak()

    def speak(self) -> None:
        """Compose and transmit the next frame, if the channel has taken the last one."""
        while self.due and not self.on_air:
            id = next(iter(self.due))
            del self.due[id]
            if id in self.lists.received:
                self.transmit(self.lists.received[id])
                self.seen(id)
        if self.on_air:
            return
        if self.outbox and len(self.lists.positive) <= self.parameters.acks:
            payload, to = self.outbox.pop(0)
            acks, lacks = self.compose()
            self.sent += 1
            self.utter(Broadcast(self.me, self.seq, acks, lacks, self.sent - 1, to, payload))
        elif self.outbox or (self.null_due and len(self.lists.received) < 2 * self.parameters.history):
            self.utter(Null(self.me, self.seq, *self.compose()))

    def transmit(self, frame: Message) -> None:
        self.on_air = len(self.founders) > 1
        self.port.multicast(frame)

    def utter(self, frame: Frame) -> None:
        """A new message of one's own."""
        id = (self.me, self.seq)
        self.seq += 1
        self.lists.keep(id, frame)
        self.transmit(frame)
        self.asked = self.holes = frozenset(frame.lacks)
        self.owes = self.news = self.repaired = self.null_due = False
        if self.armed is not None:
            self.armed = None
            self.port.cancel_timer("null")
        self.register(id, frame)
        if self.outbox:
            self.speak()  # what was waiting for its acknowledgments to go ahead, where the channel takes all at once

    # ------------------------------------------------------------------ receiving

    def on_frame(self, src: Pid, frame: Frame) -> None:
        id = (frame.origin, frame.seq)
        lists = self.lists
        if src not in self.members:
            return  # left out of the membership
        if lists.has(id):
            self.seen(id)
            return
        if not lists.takes(id, frame.acks):
            return
        self.repaired = self.repaired or id in self.holes
        for wanted in lists.take(id, frame, frame.acks, frame.lacks):
            self.ask(wanted)
        for source, number in frame.acks:
            if source == self.me and number >= self.acked:
                self.acked = number + 1
        self.news = True
        self.owes = self.owes or type(frame) is Broadcast
        self.register(id, frame)
        self.arm()
        self.speak()

    def register(self, id: Id, frame: Frame) -> None:
        """A message is new here: it, and what waited for it, may enter the partial order."""
        if type(frame) is Broadcast:
            self.kept += 1
            self.arrived(id, frame)
        entered = self.order.receive(id, frame.acks, frame.lacks)
        if entered:
            self.progress = True
            self.on_entered(entered)
            self.release()
        self.watch()

    def release(self) -> None:
        """Pruning the Received List: what all members hold by OPD."""
        freed, self.order.let_go = self.order.let_go, []
        for entry in freed:
            frame = self.lists.prune(entry.id)
            if type(frame) is Broadcast:
                self.unreported.setdefault(frame.origin, []).append((entry, frame.n))
        # Held by all, a message may still wait for one that only its crashed source held: nobody would deliver it.
        for origin, reports in self.unreported.items():
            done = 0
            while done < len(reports) and self.order.held_with_all_it_reaches(reports[done][0]):
                done += 1
            if done:
                self.port.reach("stable", origin, reports[done - 1][1] + 1)
                self.kept -= done
                del reports[:done]

    def arm(self) -> None:
        """The Message Format's null message: when is one due, if no broadcast comes before?"""
        parameters = self.parameters
        wait: Time | None = self.undecided() if self.news else None
        if self.owes:
            turn = (self.founders.index(self.me) + 1) / len(self.founders)
            wait = min(wait or parameters.null_after * 2, parameters.null_after * (1 + turn))
        if wait is not None and (self.armed is None or wait < self.armed):
            self.armed = wait
            self.port.set_timer("null", wait)
        if not self.asking and self.unsaid():
            self.asking = True
            self.port.set_timer("ask", parameters.nack_after)

    def unsaid(self) -> bool:
        return any(lack not in self.asked for lack in self.lists.negative)

    def on_null_due(self) -> None:
        self.armed = None
        self.null_due = self.owes or self.undecided() is not None
        self.speak()

    def on_ask_due(self) -> None:
        self.asking = False
        if self.unsaid():
            if self.owes:
                self.null_due = True
                self.speak()
            else:
                self.call()

    def call(self) -> None:
        self.asked = frozenset(self.lists.negative)
        self.transmit(Call(tuple(self.lists.known), tuple(self.lists.negative)))

    # ------------------------------------------------------------------ retransmission

    def ask(self, id: Id) -> None:
        """Somebody lacks what is held here."""
        if id in self.lists.pending or id in self.guarded:
            return
        self.lists.pending[id] = None
        turn = (self.founders.index(self.me) - self.founders.index(id[0])) % len(self.founders)
        if turn:
            self.port.set_timer(("turn", id), turn * self.parameters.turn)
        else:
            self.due[id] = None

    def on_turn(self, id: Id) -> None:
        if id in self.lists.pending:
            self.due[id] = None
            self.speak()

    def seen(self, id: Id) -> None:
        """A copy of what is held here went over the channel."""
        if id in self.lists.pending:
            del self.lists.pending[id]
            self.due.pop(id, None)
            self.port.cancel_timer(("turn", id))
        if id in self.lists.received:
            self.guarded.add(id)
            self.port.set_timer(("guard", id), self.parameters.repeat_after)

    def on_guard(self, id: Id) -> None:
        self.guarded.discard(id)

    def watch(self) -> None:
        """Keep the time-out running while something is unfinished; say so when too much is kept."""
        if not self.waiting and self.concerned():
            self.waiting, self.marked = True, self.seq
            self.port.set_timer("timeout", self.parameters.timeout * self.patience)
        full = len(self.lists.received) >= self.parameters.history
        if full and not self.full:
            source, number = next(iter(self.lists.received))
            for member in self.members:
                if self.order.held[member][source] <= number:
                    self.port.suspect(member)
        self.full = full

    def on_timeout(self) -> None:
        self.waiting = False
        if not self.concerned():
            self.patience = 1
            return
        lists = self.lists
        for number in range(max(self.acked, self.order.stable[self.me]), self.marked):
            lists.pending[self.me, number] = self.due[self.me, number] = None
        if not self.progress or any(lack in self.lacked for lack in lists.negative):
            self.call()
        self.null_due = self.null_due or self.repaired  # what every member holds shows in what it says
        self.patience = 1 if self.progress else min(2 * self.patience, 16)
        self.progress, self.lacked = False, frozenset(lists.negative)
        self.watch()
        self.speak()

    def on_call(self, src: Pid, call: Call) -> None:
        if src not in self.members:
            return
        lists = self.lists
        for source, below in enumerate(call.known):
            lists.learn(source, below - 1)
        for id in (*call.lacks, *lists.asked_beyond(call.known)):
            if id in lists.received:
                self.ask(id)
        self.arm()
        self.watch()
        self.speak()

    # ------------------------------------------------------------------ membership

    def install(self, members: Sequence[Pid]) -> None:
        """A part of the membership so far: the others have stopped, and nobody waits for them any more."""
        if self.me not in members or not set(members) <= set(self.members):
            raise ValueError(f"{self.me} can install a part of {self.members} that it is in, not {tuple(members)}")
        self.members = tuple(sorted(members))
        self.order.install(self.members)
        self.release()
        self.watch()
        self.speak()

    def buffers(self) -> dict[str, tuple[int, int]]:
        return {"received": (len(self.lists.received), 2 * self.parameters.history)}

    handlers = {Broadcast: on_frame, Null: on_frame, Call: on_call}
    timers = {"null": on_null_due, "ask": on_ask_due, "turn": on_turn, "guard": on_guard, "timeout": on_timeout}
