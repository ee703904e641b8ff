"""Trans: reliable broadcast by acknowledgments that travel on broadcasts; delivery in the partial order.

Source: MMA II.  A broadcast acknowledges what its sender received, directly or through what those messages
acknowledge, and says what its sender lacks; whoever holds that broadcasts it again.  Messages are let go once the
Observable Predicate for Delivery shows that every member has them, which is also what is reported *stable*.

Guarantees: whatever a working member broadcast or received, every working member delivers; after everything that its
sender had delivered before.  The machinery, and where it fills in the paper, is in `parts/exchange.py`.
"""

from ordercast.core import Contract
from ordercast.core.contract import PASSING_FAULTS
from ordercast.parts.exchange import Broadcast, Exchange
from ordercast.parts.partial_order import Entry, Id


class Trans(Exchange):
    name = "trans"
    contract = Contract(
        paper="MMA",
        title="Trans: acknowledgments on broadcasts, and the partial order that they make",
        order="causal",
        levels=("reliable", "fifo", "causal"),
        reports=("stable",),
        safe_under=(*PASSING_FAULTS, "crash"),
        live_under=(*PASSING_FAULTS, "crash"),
        bounds={"received": "twice the history; broadcasts are refused at the history"},
    )

    unplaced: dict[Id, Broadcast]

    def start(self, joining: bool = False) -> None:
        self.unplaced = {}  # broadcasts that are not in the partial order yet

    def arrived(self, id: Id, frame: Broadcast) -> None:
        self.unplaced[id] = frame

    def on_entered(self, entries: list[Entry]) -> None:
        for entry in entries:
            frame = self.unplaced.pop(entry.id, None)
            if frame is not None and (not frame.to or self.me in frame.to):
                self.port.deliver(frame.origin, frame.n, frame.payload)
