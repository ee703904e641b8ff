"""Total: a total order on Trans's messages, by votes that are never sent.

Source: MMA III, the protocol for fewer than n/3 faults.  Every message votes, by what it follows in the partial order,
on which messages come next; every member finds the same votes in the same messages.  The criteria are in
`parts/voting.py`, the exchange of messages in `parts/exchange.py`.

Guarantees: one order for all, consistent with the partial order, also for members that crash; it goes on with up to k
members crashed or absent, and in any part of a divided group that has the N_d members for a decision.  A message has
its place only once N_d sources follow it, so k crashes cannot undo it.

- Null messages have their places, too; the application does not see them.
- While broadcasts await their place, a member that has nothing to send speaks again when it has heard anything new.
  If since it spoke last it has heard fewer members than a decision takes, the wait doubles from one time to the next,
  until the order grows or a silent member is heard: a part of the group too small to decide keeps only
  logarithmically many null messages.
- When the votes have come to stage `torn`, a member tosses a coin whether its message follows the last one that it
  received.  Four members that speak in turn, each following all before, never decide on a set that two of them voted
  for in stage 0 and two against: every stage ends for, for, against, against (the first two follow a majority, the
  others a tie).  The paper's convergence rests on chance, and a quiet bus has none.
- The membership that votes is that of the start: a new one (`install`) frees memory and changes no vote.
"""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from ordercast.core import Contract, Pid, Port, Time
from ordercast.core.contract import PASSING_FAULTS
from ordercast.parts.exchange import Broadcast, Exchange, ExchangeParameters, Ids, Null
from ordercast.parts.partial_order import Entry, Id
from ordercast.parts.voting import Voting


class TotalParameters(ExchangeParameters, frozen=True, kw_only=True):
    resilience: Annotated[
        int, Meta(ge=-1, extra={"unit": "members"}, description="k, below n/3; -1: the largest that n allows")
    ] = -1
    torn: Annotated[
        int, Meta(ge=1, extra={"unit": "stages"}, description="of votes without a decision, before chance is used")
    ] = 4


class Total(Exchange):
    name = "total"
    contract = Contract(
        paper="MMA",
        title="Total: the order on which N_d sources' messages agree, without a message of its own",
        order="total",
        levels=("reliable", "fifo", "causal", "agreed", "safe"),
        reports=("stable",),
        reliability="R3",
        safe_under=(*PASSING_FAULTS, "crash"),
        live_under=(*PASSING_FAULTS, "crash"),
        bounds={"received": "twice the history; broadcasts are refused at the history"},
        also=("uniform_agreement",),
    )
    Parameters = TotalParameters
    parameters: TotalParameters

    def __init__(self, me: Pid, members: Sequence[Pid], port: Port, parameters: TotalParameters | None = None) -> None:
        super().__init__(me, members, port, parameters)
        k = self.parameters.resilience
        self.voting = Voting(len(self.members), (len(self.members) - 1) // 3 if k < 0 else k)
        self.unplaced: dict[Id, Broadcast] = {}  # received, and not in the total order yet
        self.fruitless = 0  # times since the order grew that it spoke again without having heard enough members
        self.last: Broadcast | Null | None = None  # the last message received
        self.heard = dict.fromkeys(self.members, 0)  # how many messages of one's own had gone out when it last spoke

    def on_frame(self, src: Pid, frame: Broadcast | Null) -> None:
        if not self.lists.has((frame.origin, frame.seq)):
            self.last = frame
        super().on_frame(src, frame)

    def compose(self) -> tuple[Ids, Ids]:
        last = self.last
        # What has its place may have been delivered, and a broadcast must follow that.
        if last is not None and self.voting.stages() >= self.parameters.torn:
            id = (last.origin, last.seq)
            if id in self.lists.positive and self.voting.awaits(id) and self.port.random() < 0.5:
                return self.lists.compose_but(self.parameters.acks, id, last.acks)
        return super().compose()

    def arrived(self, id: Id, frame: Broadcast) -> None:
        self.unplaced[id] = frame

    def on_entered(self, entries: list[Entry]) -> None:
        for entry in entries:
            source = entry.id[0]
            if self.seq - self.heard[source] > 2:
                self.fruitless = 0
            self.heard[source] = self.seq
        for extension in self.voting.enter(entries):
            self.fruitless = 0
            for id in extension.ids:
                frame = self.unplaced.pop(id, None)
                if frame is not None and (not frame.to or self.me in frame.to):
                    self.port.deliver(frame.origin, frame.n, frame.payload)

    def undecided(self) -> Time | None:
        return 2 * self.parameters.null_after * 2**self.fruitless if self.unplaced else None

    def concerned(self) -> bool:
        return bool(self.unplaced) or super().concerned()

    def on_null_due(self) -> None:
        if not self.owes and self.unplaced:
            heard = sum(1 for seq in self.heard.values() if seq == self.seq)
            if heard < self.voting.decide_at:
                self.fruitless += 1
        super().on_null_due()

    handlers = {**Exchange.handlers, Broadcast: on_frame, Null: on_frame}
    timers = {**Exchange.timers, "null": on_null_due}
