"""An entity of NT's cluster: what PO and TO have in common.

Source: NT, sections 2 and 5: the transmission action, the flow condition, and the levels at which a PDU is handed
over.  The paper leaves a quiet cluster without an end: the last PDUs wait for pre-acknowledgers that nobody has a
reason to send.  Here an entity that holds data not yet acknowledged, or whose flow condition is closed, wakes on a
timer.  It sends an empty PDU where it has received something since its last PDU, and otherwise, or where the window
is closed, a `Status`: its REQ and its free buffers, outside the sequence.

- Empty PDUs take a place in the window W, but no buffer: minF limits data alone.  Without them and statuses, minF = 0
  is for ever: who is full says so in a PDU, and when it has room again nobody may send, so nobody hears of it.
- An empty PDU is sent for data that waits, never for a flow condition that does: with minF < C n^2 a member may send
  only when all have everything it sent, and members that answer each other's empty PDUs would never come to that.
- Statuses need no window.  Two entities that fill theirs before they hear each other could otherwise never say that
  they have received everything.
- An entity that waits for nothing is silent, but answers one that asks.  Answers are not answered.
"""
# ruff: noqa: SIM300 - the paper's names are in capitals, and no constants

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import msgspec

from ordercast.core import Message, Parameters, Pid, Port, Process
from ordercast.parts.receipt_logs import Moved, Pdu, Reading, ReceiptLogs, may_send

_EVERYONE: tuple[Pid, ...] = ()  # as a PDU's DST


class DataPdu(Pdu, frozen=True):
    """A PDU with a broadcast of the application: the `n`-th of its source."""

    carries = "payload"
    n: int
    payload: bytes

    def about(self) -> tuple[Pid, int]:
        return (self.SRC, self.n)


class EmptyPdu(Pdu, frozen=True):
    """A PDU with nothing but what every PDU says."""


class StatusPdu(Message, frozen=True):
    """REQ and BUF outside the sequence.  `asks`: whoever has something for me to hear, say it."""

    REQ: tuple[int, ...]
    BUF: int
    asks: bool


class EntityParameters(Parameters, frozen=True):
    reading: Annotated[Reading, msgspec.Meta(description="who is known to hold what (docs/protocols/po.md)")] = "sender"
    W: Annotated[
        int, msgspec.Meta(ge=1, description="PDUs of a member not yet known to all", extra={"unit": "PDUs"})
    ] = 32
    C: Annotated[int, msgspec.Meta(ge=1, description="one PDU in the window takes C n^2 free buffers")] = 2
    idle_after: Annotated[
        float, msgspec.Meta(gt=0, description="pause before an empty PDU, while data waits", extra={"unit": "s"})
    ] = 0.02


class Entity(Process):
    """A member of the cluster.  A protocol says how it composes PDUs, and what it does about losses."""

    one_log: ClassVar[bool]
    level: Literal["received", "packed", "acked"]  # at which a PDU is handed over
    Parameters = EntityParameters
    parameters: EntityParameters

    def __init__(self, me: Pid, members: Sequence[Pid], port: Port, parameters: Any = None) -> None:
        super().__init__(me, members, port, parameters)
        self.logs = ReceiptLogs(self.members, me, reading=self.parameters.reading, one_log=self.one_log)
        self.SEQ = 0  # of the next PDU
        self.SL: list[Pdu] = []  # sent, and not yet known to be received by all
        self.F: list[int] = []  # free buffers of each entity, as far as I know
        self.in_flight = 0  # data PDUs in SL
        self.asked = 0  # broadcasts taken from the application
        self.waiting = 0  # data PDUs in RPL and PPL
        self.idling = False  # is the idle timer set?
        # By source, what I lack: how often I shall not ask for it, and how often not after that.
        self.patience: list[dict[int, tuple[int, int]]] = [{} for _ in self.members]
        self.in_vain = 0  # times that I asked since I last received a PDU: the pause grows

    def start(self, joining: bool = False) -> None:
        self.F = [self.port.room()] * len(self.members)  # the others' is unknown: taken to be like mine

    def send_data(self, n: int, payload: bytes, dst: tuple[Pid, ...]) -> None:
        raise NotImplementedError  # abstract

    def send_empty(self) -> None:
        raise NotImplementedError  # abstract

    def send_status(self, asks: bool, to: Pid | None = None) -> None:
        raise NotImplementedError  # abstract

    def buffers(self) -> Mapping[str, tuple[int, int]]:
        return {"SL": (len(self.SL), self.parameters.W)}

    # ------------------------------------------------------------------ sending

    def broadcast(self, payload: bytes, to: Sequence[Pid] | None = None) -> None:
        dst = _EVERYONE if to is None else tuple(sorted(set(to)))
        if to is not None and (not dst or any(member not in self.logs.rank for member in dst)):
            raise ValueError(f"a broadcast goes to one or more members of {self.members}, not to {to}")
        n, self.asked = self.asked, self.asked + 1
        self.send_data(n, payload, _EVERYONE if len(dst) == len(self.members) else dst)
        self.settle()

    def ready(self) -> bool:
        return self.flows()

    def flows(self) -> bool:
        """The flow condition."""
        self.F[self.logs.me] = self.port.room()
        free, given = min(self.F), self.parameters
        return self.window_open() and may_send(self.in_flight, 0, given.W, free, given.C, len(self.F))

    def window_open(self) -> bool:
        return self.SEQ < self.logs.least[self.logs.me] + self.parameters.W

    def sent(self, p: Pdu) -> None:
        """The transmission action (3), (4): it is numbered and kept until all have received it."""
        self.SEQ += 1
        self.SL.append(p)
        self.in_flight += isinstance(p, DataPdu)
        if self.idling:  # it says what an empty PDU would have said
            self.port.set_timer("idle", self.parameters.idle_after)

    def on_idle(self) -> None:
        self.idling = False
        if self.waiting and self.news() and self.window_open() and self.waits():
            self.send_empty()
        elif self.waits():
            self.send_status(asks=True)
            self.in_vain = min(self.in_vain + 1, 3)
        self.settle()

    def news(self) -> bool:
        """Would a PDU of mine tell the others of a receipt?"""
        me = self.logs.me
        own = self.parameters.reading in ("literal", "implicit_ackall")  # these wait for my word on my own PDU, too
        pairs = zip(self.logs.said[me], self.logs.REQ, strict=True)
        return any(told < req and (own or h != me) for h, (told, req) in enumerate(pairs))

    def settle(self) -> None:
        """At the end of every verb: keep the idle timer while there is something to wait for."""
        waits = self.waits()
        if waits != self.idling:
            self.idling = waits
            if waits:
                self.port.set_timer("idle", self.parameters.idle_after * (1, 1, 2, 4)[self.in_vain])
            else:
                self.port.cancel_timer("idle")

    def waits(self) -> bool:
        return self.waiting > 0 or not self.flows()

    # ------------------------------------------------------------------ receiving

    def accept(self, p: Pdu) -> None:
        """A PDU satisfies the receipt condition."""
        self.F[self.logs.rank[p.SRC]] = p.BUF
        self.in_vain = 0
        if isinstance(p, DataPdu):
            self.waiting += 1
            if self.level == "received":
                self.hand_over(p)
        self.moved(self.logs.accept(p))

    def moved(self, step: Moved) -> None:
        """Report what is held, and known, by all; hand over what a step has brought to the level of delivery."""
        for p in step.packed:
            if isinstance(p, DataPdu):
                self.port.reach("stable", p.SRC, p.n + 1)
                if self.level == "packed":
                    self.hand_over(p)
        for p in step.acked:
            if isinstance(p, DataPdu):
                self.waiting -= 1
                self.port.reach("known", p.SRC, p.n + 1)
                if self.level == "acked":
                    self.hand_over(p)
        while self.SL and self.SL[0].SEQ < self.logs.least[self.logs.me]:
            self.in_flight -= isinstance(self.SL[0], DataPdu)
            del self.SL[0]  # every entity has it

    def hand_over(self, p: DataPdu) -> None:
        if not p.DST or self.me in p.DST:
            self.port.deliver(p.SRC, p.n, p.payload)

    def hear(self, src: Pid, status: StatusPdu) -> None:
        """A status: what its sender holds counts for PACK and the flow condition; one that asks is answered."""
        self.F[self.logs.rank[src]] = status.BUF
        self.moved(self.logs.tell(src, status.REQ))
        if status.asks and not self.idling:
            self.send_status(asks=False, to=src)

    def lacking(
        self, missing: Sequence[Sequence[int]], kept: Sequence[Mapping[int, Pdu]]
    ) -> Iterator[tuple[int, tuple[int, ...]]]:
        """What to ask of each entity now: of what is missing and not kept, as much as half my free buffers take.

        If they do not take it all, what was asked for is left out for the next call, then for the next two, and so on
        to eight.  A slow member that asks again and again is buried under copies of what it has asked for.
        """
        budget = self.port.room() // 2
        lacks = [
            [number for number in numbers if number not in here] for numbers, here in zip(missing, kept, strict=True)
        ]
        tight = sum(map(len, lacks)) > budget
        for h, numbers in enumerate(lacks):
            now: list[int] = []
            before, self.patience[h] = self.patience[h], {}
            for number in numbers:
                rest, gap = before.get(number, (0, 1))
                if rest or len(now) >= budget:
                    self.patience[h][number] = (max(rest - 1, 0), gap)
                else:
                    now.append(number)
                    if tight:
                        self.patience[h][number] = (gap, min(2 * gap, 8))
            budget -= len(now)
            if now and h != self.logs.me:
                yield h, tuple(now)

    timers = {"idle": on_idle}
