"""PO: the partially ordering broadcast of Nakamura and Takizawa, on a multi-channel service.

Source: NT, sections 2, 3 and 5.  On a service that keeps each sender's order but loses PDUs, every member receives
everything, each source's PDUs in its order.  A PDU is received, then pre-acknowledged (all are known to hold it),
then acknowledged (all are known to know that); `deliver_at` says at which of these it is handed over.

Guarantees: more than the paper claims.  The receipt condition refuses a PDU whose sender had received something that
is missing here (p.A_h > REQ_h), so receipt, and with it every level, is causal; within a step PDUs are handed over in
the order of their receipt.  `stable` is pre-acknowledged, `known` is acknowledged.

Departures and mended holes:

- How the conditions are read: parts/receipt_logs.py.  How a quiet cluster goes on: parts/entity.py.
- The paper leaves the recovery of lost PDUs to its references.  A PDU that the receipt condition refuses for what is
  missing is kept, and tried again after every receipt.  If something that another entity has shown to exist stays
  missing for `ask_after`, its source is told (`Lack`), and sends it again.  p.A_h > REQ_h is not at once a loss: on
  several channels the PDU of E_h may still be on its way.
- A PDU sent again is the same, A and all.  With a fresh A, what its source has sent since says less than it (A_low)
  and is refused for ever; and members would differ on which PDU first pre-acknowledged another.
- A PDU for a part of the cluster travels to all members, who number it, and is handed over at its destinations.
"""
# ruff: noqa: SIM300 - the paper's names are in capitals, and no constants

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec

from ordercast.core import PASSING_FAULTS, Contract, Message, Pid, Port
from ordercast.parts.entity import DataPdu, EmptyPdu, Entity, EntityParameters, StatusPdu
from ordercast.parts.receipt_logs import Pdu


class Data(DataPdu, frozen=True):
    pass


class Empty(EmptyPdu, frozen=True):
    pass


class Status(StatusPdu, frozen=True):
    pass


class Lack(Message, frozen=True):
    """I lack these PDUs of yours."""

    SEQs: tuple[int, ...]


class POParameters(EntityParameters, frozen=True):
    deliver_at: Annotated[
        Literal["received", "packed", "acked"], msgspec.Meta(description="the level at which a PDU is handed over")
    ] = "acked"
    ask_after: Annotated[
        float, msgspec.Meta(gt=0, description="pause before a missing PDU is asked for", extra={"unit": "s"})
    ] = 0.02


class PO(Entity):
    name = "po"
    one_log = False
    contract = Contract(
        paper="NT",
        title="partially ordering broadcast on a multi-channel service",
        order="causal",
        levels=("reliable", "fifo", "causal"),
        reports=("stable", "known"),
        also=("uniform_agreement",),
        safe_under=(*PASSING_FAULTS, "crash"),
        live_under=PASSING_FAULTS,
        bounds={"SL": "W PDUs", "early": "n W PDUs"},
    )

    Parameters = POParameters
    parameters: POParameters

    def __init__(self, me: Pid, members: Sequence[Pid], port: Port, parameters: Any = None) -> None:
        super().__init__(me, members, port, parameters)
        self.level = self.parameters.deliver_at
        self.early: list[dict[int, Pdu]] = [{} for _ in self.members]  # refused for what is missing, by SEQ
        self.shown = [0] * len(self.members)  # below these, each source's PDUs are known to exist
        self.asking = False  # is the timer set that asks for those I lack?

    # ------------------------------------------------------------------ sending

    def send_data(self, n: int, payload: bytes, dst: tuple[Pid, ...]) -> None:
        self._send(Data(self.me, self.SEQ, tuple(self.logs.REQ), self.port.room(), dst, n, payload))

    def send_empty(self) -> None:
        self._send(Empty(self.me, self.SEQ, tuple(self.logs.REQ), self.port.room(), ()))

    def _send(self, p: Pdu) -> None:
        self.sent(p)
        self.port.multicast(p)
        self.accept(p)  # NT section 2, assumption: an entity receives its own PDUs

    def send_status(self, asks: bool, to: Pid | None = None) -> None:
        status = Status(tuple(self.logs.REQ), self.port.room(), asks)
        self.moved(self.logs.tell(self.me, status.REQ))
        if to is None:
            self.port.multicast(status)
        else:
            self.port.send(to, status)

    # ------------------------------------------------------------------ receiving

    def on_pdu(self, _src: Pid, p: Pdu) -> None:
        verdict = self.logs.verdict(p)
        if verdict == "accept":
            self.accept(p)
            self._retry()
        elif verdict in ("gap", "A_ahead"):
            j = self.logs.rank[p.SRC]
            # No sender has more in flight than W, so what lies beyond is not from this cluster.
            if p.SEQ < self.logs.REQ[j] + self.parameters.W:
                self.early[j][p.SEQ] = p
                self._show(p.A)
                self.shown[j] = max(self.shown[j], p.SEQ + 1)
        self._watch()
        self.settle()

    def _retry(self) -> None:
        """Receive what was refused, while the receipt condition holds for some of it."""
        more = any(self.early)
        while more:
            more = False
            for j, early in enumerate(self.early):
                p = early.get(self.logs.REQ[j])
                if p is not None and self.logs.verdict(p) == "accept":
                    del early[p.SEQ]
                    self.accept(p)
                    more = True

    def _show(self, req: Sequence[int]) -> None:
        self.shown = list(map(max, self.shown, req))

    def _watch(self) -> None:
        lacking = any(below > req for below, req in zip(self.shown, self.logs.REQ, strict=True))
        if lacking != self.asking:
            self.asking = lacking
            if lacking:
                self.port.set_timer("ask", self.parameters.ask_after)
            else:
                self.port.cancel_timer("ask")

    def on_ask(self) -> None:
        """What I lack has not come by itself."""
        self.asking = False
        ends = zip(self.logs.REQ, self.shown, strict=True)
        for h, lacks in self.lacking([[*range(req, end)] for req, end in ends], self.early):
            self.port.send(self.members[h], Lack(lacks))
        self._watch()

    def on_lack(self, src: Pid, lack: Lack) -> None:
        for p in self.SL:
            if p.SEQ in lack.SEQs:
                self.port.send(src, p)

    def on_status(self, src: Pid, status: Status) -> None:
        self._show(status.REQ)
        self._watch()
        self.hear(src, status)
        self.settle()

    def buffers(self) -> Mapping[str, tuple[int, int]]:
        return {**super().buffers(), "early": (sum(map(len, self.early)), len(self.members) * self.parameters.W)}

    handlers = {Data: on_pdu, Empty: on_pdu, Status: on_status, Lack: on_lack}
    timers = {**Entity.timers, "ask": on_ask}
