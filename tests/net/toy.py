"""A protocol to try the network with: the lowest member orders, everybody acknowledges all that it has."""

from collections.abc import Sequence

from ordercast.core import Contract, Message, Pid, Port, Process


class Ask(Message, frozen=True):
    """Member -> first: order my n-th payload."""

    n: int
    payload: bytes
    carries = "payload"


class Ordered(Message, frozen=True):
    """First -> all: number `seq` of the group; everybody holds what is below `stable`."""

    seq: int
    origin: Pid
    n: int
    payload: bytes
    stable: int
    carries = "payload"


class Have(Message, frozen=True):
    """Member -> first: I delivered all below `below`."""

    below: int


class Stable(Message, frozen=True):
    """First -> all: everybody holds what is below `below`."""

    below: int


class First(Process):
    """One outstanding broadcast per member, as in a token protocol."""

    name = "first"
    contract = Contract(
        paper="-", title="the first member orders", order="total", levels=("agreed", "safe"), reports=("stable",)
    )

    def __init__(self, me: Pid, members: Sequence[Pid], port: Port, parameters=None) -> None:
        super().__init__(me, members, port, parameters)
        self.first = min(self.members)
        self.mine: list[Ask] = []  # at most one
        self.sent = 0
        self.next = 0  # the group's number that is delivered next
        self.early: dict[int, Ordered] = {}
        self.origins: dict[int, tuple[Pid, int]] = {}  # delivered, not known to be stable
        self.stable = 0
        self.order: list[Ordered] = []  # at the first member
        self.syncing = False
        self.asked = dict.fromkeys(self.members, 0)
        self.have = dict.fromkeys(self.members, 0)

    def ready(self):
        return not self.mine and len(self.order) < self.stable + 50  # or the first one would outrun the others

    def broadcast(self, payload, to=None):
        ask = Ask(self.sent, payload)
        self.sent += 1
        self.mine.append(ask)
        self.on_again()

    def on_again(self):
        if self.mine:
            self.port.send(self.first, self.mine[0])
            self.port.set_timer("again", 0.05)

    def on_ask(self, src, ask):
        if ask.n == self.asked[src]:
            self.asked[src] += 1
            ordered = Ordered(len(self.order), src, ask.n, ask.payload, self.stable)
            self.order.append(ordered)
            self.port.multicast(ordered, self.members)
            if not self.syncing:
                self.syncing = True
                self.port.set_timer("sync", 0.03)

    def on_ordered(self, src, ordered):
        if ordered.seq >= self.next:
            self.early[ordered.seq] = ordered
        while self.next in self.early:
            due = self.early.pop(self.next)
            self.origins[self.next] = (due.origin, due.n)
            self.next += 1
            if due.origin == self.me:
                self.mine.clear()
                self.port.cancel_timer("again")
            self.port.deliver(due.origin, due.n, due.payload)
        self.port.send(self.first, Have(self.next))
        self.on_stable(src, Stable(ordered.stable))

    def on_have(self, src, have):
        self.have[src] = max(self.have[src], have.below)
        stable = min(self.have.values())
        if stable > self.stable:
            self.port.multicast(Stable(stable), self.members)

    def on_stable(self, src, stable):
        for seq in range(self.stable, min(stable.below, self.next)):
            origin, n = self.origins.pop(seq)
            self.stable = seq + 1
            self.port.reach("stable", origin, n + 1)

    def on_sync(self):
        for member in self.members:
            missing = range(self.have[member], len(self.order))
            for seq in missing[:20]:
                self.port.send(member, self.order[seq])
            if not missing:
                self.port.send(member, Stable(self.stable))
        self.syncing = self.stable < len(self.order)
        if self.syncing:
            self.port.set_timer("sync", 0.03)

    handlers = {Ask: on_ask, Ordered: on_ordered, Have: on_have, Stable: on_stable}
    timers = {"again": on_again, "sync": on_sync}
