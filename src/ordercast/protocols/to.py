"""TO: the totally ordering broadcast of Nakamura and Takizawa, on a one-channel service.

Source: NT, sections 2 to 5.  On a service that gives every member the same sequence with holes, all PDUs are received
in one log, pre-acknowledged from its front (all are known to hold them), and acknowledged (all are known to know).

Guarantees: one order for all, causal as well; what is handed over is held by all.

The recovery from losses is ours; the paper leaves it to its references.  Sending again what was lost does not do: E_1
sends p, E_2 sends q, E_3 loses p, takes q and then p again, and has q before p.  Instead the members agree:

1. Who finds a loss (a gap, or p.A_h > REQ_h, on one channel a certain loss) leaves the epoch: it receives no more of
   it but its own PDUs still in the channel, and says how far it came (`Exchange`: its REQ, all its own PDUs counted).
   Who hears that does the same.  What arrives from now on is kept aside.
2. Who has the REQ of all knows f, their minimum, and s, how much each source has sent.  It goes back to f: what it
   received beyond loses its place in the log.  From the sources it gets what it still lacks below s, one by one.
3. With all of that, it begins the next epoch: PDUs from f to s follow, by source and SEQ.

Why this keeps one order.  In an epoch every PDU enters the channel once, so members receive theirs in its order.  What
lies below f all have received, in that order; what follows is sorted; so all go on with the same log.  A PDU is
pre-acknowledged where all before it in the log are, and only if all are known to hold it: the pre-acknowledged PDUs
of any two members are prefixes of the sequence of those that all hold.  And none of them loses its place: PACK asks
that every member said it had received p, and no member's REQ in the exchange is below what it has said, because it
receives nothing after it has reported; the sender of p, who is not asked, counts p in its report.  What lies below f
all hold; who has heard from all in the new epoch knows that all know that, and the PDU is acknowledged.

The plainer way, to drop what is not below f and send it again in the new epoch, keeps the order too.  But a PDU then
counts only if no copy of it is lost: with 30 % loss and four members it took 14 transmissions of each.

Without a common channel, `to_merged` makes one: parts/merged_channel.py, with a `Tick` of whoever holds up the others.
"""
# ruff: noqa: SIM300 - the paper's names are in capitals, and no constants

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from ordercast.core import PASSING_FAULTS, Contract, Message, Pid, Port
from ordercast.parts.entity import DataPdu, EmptyPdu, Entity, EntityParameters, StatusPdu
from ordercast.parts.merged_channel import MergedChannel, Stamp
from ordercast.parts.receipt_logs import Pdu


class Data(DataPdu, frozen=True):
    epoch: int
    at: Stamp = (0, 0)  # the time in a merged channel


class Empty(EmptyPdu, frozen=True):
    epoch: int
    at: Stamp = (0, 0)


class Status(StatusPdu, frozen=True):
    epoch: int
    at: Stamp = (0, 0)


Frame: TypeAlias = Data | Empty | Status  # what the one channel carries


class Exchange(Message, frozen=True):
    """I receive no more in this epoch; so far have I come."""

    epoch: int
    REQ: tuple[int, ...]


class Begin(Message, frozen=True):
    """The epoch begins at f, with all below s: to one that still asks in the epoch before."""

    epoch: int
    f: tuple[int, ...]
    s: tuple[int, ...]


class Lack(Message, frozen=True):
    """I lack these PDUs of yours, to begin the next epoch."""

    epoch: int
    SEQs: tuple[int, ...]


class Again(Message, frozen=True):
    """One of them."""

    carries = "payload"
    p: Data | Empty

    def about(self) -> tuple[Pid, int]:
        return self.p.about()


class TOParameters(EntityParameters, frozen=True):
    deliver_at: Annotated[
        Literal["packed", "acked"], msgspec.Meta(description="the level at which a PDU is handed over")
    ] = "acked"
    exchange_after: Annotated[
        float, msgspec.Meta(gt=0, description="pause before an exchange is said again", extra={"unit": "s"})
    ] = 0.02


_CONTRACT = Contract(
    paper="NT",
    title="totally ordering broadcast on a one-channel service",
    order="total",
    levels=("reliable", "fifo", "causal", "agreed", "safe"),
    reports=("stable", "known"),
    reliability="R3",
    also=("uniform_agreement",),
    safe_under=(*PASSING_FAULTS, "crash"),  # none of them changes the order on a channel that is one
    live_under=PASSING_FAULTS,
    bounds={"SL": "W PDUs", "aside": "n W PDUs", "later": "2 n W messages"},
    needs={"channel": "one"},
)


class TO(Entity):
    name = "to"
    one_log = True
    contract = _CONTRACT
    Parameters = TOParameters
    parameters: TOParameters

    def __init__(self, me: Pid, members: Sequence[Pid], port: Port, parameters: Any = None) -> None:
        super().__init__(me, members, port, parameters)
        self.level = self.parameters.deliver_at
        self.epoch = 0
        self.reports: dict[Pid, tuple[int, ...]] = {}  # REQ of those who leave the epoch; mine among them: I do
        self.aside: list[dict[int, Data | Empty]] = [{} for _ in self.members]  # arrived since I left, by SEQ
        self.next: Begin | None = None  # the next epoch, once agreed
        self.began = Begin(0, (), ())  # this one, for those who ask
        self.later: list[tuple[Pid, Frame | Exchange]] = []  # of the next epoch, in order

    # ------------------------------------------------------------------ sending

    def ready(self) -> bool:
        return not self.reports and self.flows()

    def send_data(self, n: int, payload: bytes, dst: tuple[Pid, ...]) -> None:
        head = (self.me, self.SEQ, tuple(self.logs.REQ), self.port.room(), dst)
        self._send(Data(*head, n, payload, self.epoch, self.stamp()))

    def send_empty(self) -> None:
        self._send(Empty(self.me, self.SEQ, tuple(self.logs.REQ), self.port.room(), (), self.epoch, self.stamp()))

    def _send(self, p: Data | Empty) -> None:
        self.sent(p)
        self.moved(self.logs.tell(self.me, p.A))  # others may act on it before my own copy comes back
        self.transmit(p)

    def send_status(self, asks: bool, to: Pid | None = None) -> None:
        """An answer goes to all, too: what it says of losses is true in the channel's order."""
        status = Status(self._report(), self.port.room(), asks, self.epoch, self.stamp())
        self.moved(self.logs.tell(self.me, status.REQ))
        self.transmit(status)

    def transmit(self, message: Frame) -> None:
        """To all on the one channel; an entity takes its own PDU where the channel has put it."""
        self.port.multicast(message, self.members if isinstance(message, Pdu) else None)

    def stamp(self) -> Stamp:
        return (0, 0)

    def _report(self) -> tuple[int, ...]:
        """REQ; of my own PDUs none is lost, so those still in the channel count."""
        return tuple(self.SEQ if h == self.logs.me else req for h, req in enumerate(self.logs.REQ))

    def waits(self) -> bool:
        return not self.reports and super().waits()  # who leaves an epoch has another timer

    # ------------------------------------------------------------------ receiving

    def on_frame(self, src: Pid, frame: Frame) -> None:
        self.take(src, frame)
        self.settle()

    def take(self, src: Pid, frame: Frame | Exchange) -> None:
        """The next frame of the channel."""
        if frame.epoch == self.epoch:
            if self.logs.unaware[self.logs.rank[src]]:
                self.moved(self.logs.aware(src, self.began.s))
            if isinstance(frame, Exchange):
                self._exchange(src, frame)
            elif isinstance(frame, Status):
                self.hear(src, frame)
                if any(says > req for says, req in zip(frame.REQ, self.logs.REQ, strict=True)):
                    self._leave()
            else:
                self._pdu(frame)
        elif frame.epoch == self.epoch + 1 and len(self.later) < self.buffers()["later"][1]:
            self.later.append((src, frame))  # its sender has begun before me

    def _pdu(self, p: Data | Empty) -> None:
        verdict = self.logs.verdict(p)
        if verdict == "accept" and (not self.reports or p.SRC == self.me):
            self.accept(p)
        elif verdict != "duplicate":
            self._leave()
            self._keep(p)
        self._begin()

    def _keep(self, p: Data | Empty) -> None:
        j = self.logs.rank[p.SRC]
        if self.logs.REQ[j] <= p.SEQ < self.logs.REQ[j] + self.parameters.W:
            self.aside[j][p.SEQ] = p

    # ------------------------------------------------------------------ recovery

    def _leave(self) -> None:
        """Receive no more in this epoch, and say so."""
        if not self.reports:
            self.reports[self.me] = self._report()
            self.on_exchange_due()
            self._agree()

    def on_exchange_due(self) -> None:
        """Say again what others may lack, or ask again for what I do."""
        self.port.set_timer("exchange", self.parameters.exchange_after)
        if self.next is None:
            self.port.multicast(Exchange(self.epoch, self.reports[self.me]))
        else:
            self._ask(self.next)

    def on_exchange(self, src: Pid, exchange: Exchange) -> None:
        if exchange.epoch == self.epoch - 1:
            self.port.send(src, self.began)
        elif exchange.epoch == self.epoch and self.next is not None:
            self.port.send(src, self.next)
        else:
            self.take(src, exchange)
        self.settle()

    def _exchange(self, src: Pid, exchange: Exchange) -> None:
        self._leave()
        self.reports[src] = exchange.REQ
        self._agree()

    def _agree(self) -> None:
        if len(self.reports) == len(self.members) and self.next is None:
            reports = [self.reports[member] for member in self.members]
            f = tuple(map(min, zip(*reports, strict=True)))
            self._agreed(Begin(self.epoch + 1, f, tuple(report[j] for j, report in enumerate(reports))))

    def on_begin(self, _src: Pid, begin: Begin) -> None:
        if begin.epoch == self.epoch + 1 and self.next is None:
            self._agreed(begin)
        self.settle()

    def _agreed(self, begin: Begin) -> None:
        self.next = begin
        self._ask(begin)
        self._begin()

    def _ask(self, begin: Begin) -> None:
        ends = zip(self.logs.REQ, begin.s, strict=True)
        for h, lacks in self.lacking([[*range(req, end)] for req, end in ends], self.aside):
            self.port.send(self.members[h], Lack(self.epoch, lacks))

    def on_lack(self, src: Pid, lack: Lack) -> None:
        for p in self.SL:
            if p.SEQ in lack.SEQs and isinstance(p, Data | Empty) and p.epoch == lack.epoch:
                self.port.send(src, Again(p))

    def on_again(self, _src: Pid, again: Again) -> None:
        if again.p.epoch == self.epoch and self.reports:
            self._keep(again.p)
            self._begin()
        self.settle()

    def _begin(self) -> None:
        """Begin the next epoch, once I have all that was sent in this one."""
        begin, req = self.next, self.logs.REQ
        if begin is None or self.SEQ > req[self.logs.me]:
            return
        if any(seq not in aside for j, aside in enumerate(self.aside) for seq in range(req[j], begin.s[j])):
            return
        self.port.cancel_timer("exchange")
        new = [aside[seq] for j, aside in enumerate(self.aside) for seq in range(req[j], begin.s[j])]
        tail = [p for _, p in self.logs.RPL[0] if p.SEQ >= begin.f[self.logs.rank[p.SRC]]] + new
        self.waiting += sum(isinstance(p, DataPdu) for p in new)
        self.epoch, self.began, self.next, self.reports = begin.epoch, begin, None, {}
        self.aside = [{} for _ in self.members]
        self.moved(self.logs.reset(begin.f, self.in_order(tail)))
        later, self.later = self.later, []
        for src, frame in later:
            self.take(src, frame)

    def in_order(self, tail: list[Pdu]) -> list[Pdu]:
        """The same at every member; nothing in it was handed over yet, so that any order is causal."""
        return sorted(tail, key=lambda p: (p.SRC, p.SEQ))

    def buffers(self) -> Mapping[str, tuple[int, int]]:
        window = len(self.members) * self.parameters.W
        aside = (sum(map(len, self.aside)), window)
        return {**super().buffers(), "aside": aside, "later": (len(self.later), 2 * window)}

    handlers = {
        Data: on_frame,
        Empty: on_frame,
        Status: on_frame,
        Exchange: on_exchange,
        Begin: on_begin,
        Lack: on_lack,
        Again: on_again,
    }
    timers = {**Entity.timers, "exchange": on_exchange_due}


class Tick(Message, frozen=True):
    """My time on a merged channel, when I have nothing else to say."""

    at: Stamp
    asks: bool


class TOMergedParameters(TOParameters, frozen=True):
    tick_after: Annotated[
        float, msgspec.Meta(gt=0, description="pause before a tick, while frames wait", extra={"unit": "s"})
    ] = 0.01


class TOMerged(TO):
    """TO where no network gives one channel: the members' frames are merged into one."""

    name = "to_merged"
    contract = msgspec.structs.replace(
        _CONTRACT,
        title="totally ordering broadcast, on many channels merged into one",
        needs={},
    )
    Parameters = TOMergedParameters
    parameters: TOMergedParameters

    def __init__(self, me: Pid, members: Sequence[Pid], port: Port, parameters: Any = None) -> None:
        super().__init__(me, members, port, parameters)
        self.channel: MergedChannel[Frame] = MergedChannel(self.members, me)
        self.ticking = False  # is the tick timer set?

    def stamp(self) -> Stamp:
        return self.channel.stamp()

    def transmit(self, message: Frame) -> None:
        self.port.multicast(message)
        if isinstance(message, Pdu):
            self.channel.put(self.me, message.at, message)

    def on_frame(self, src: Pid, frame: Frame) -> None:
        if isinstance(frame, Status):
            self.channel.forget(src, Status)  # this one says more; else they pile up while a member is silent
        self.channel.put(src, frame.at, frame)
        self.settle()

    def settle(self) -> None:
        super().settle()
        while taken := self.channel.take():
            for src, frame in taken:
                self.take(src, frame)
            super().settle()
        if self.channel.waits() != self.ticking:
            self.ticking = not self.ticking
            if self.ticking:
                self.port.set_timer("tick", self.parameters.tick_after)
            else:
                self.port.cancel_timer("tick")

    def on_tick_due(self) -> None:
        self.ticking = False
        self.channel.skip()
        if self.channel.speaks():
            self.port.multicast(Tick(self.channel.stamp(), False))
        else:
            for member in self.channel.silent():
                self.port.send(member, Tick(self.channel.stamp(to_all=False), True))
        self.settle()

    def on_tick(self, src: Pid, tick: Tick) -> None:
        self.channel.put(src, tick.at)
        if tick.asks:
            self.port.send(src, Tick(self.channel.stamp(to_all=False), False))
        self.settle()

    handlers = {**TO.handlers, Data: on_frame, Empty: on_frame, Status: on_frame, Tick: on_tick}
    timers = {**TO.timers, "tick": on_tick_due}
