"""A protocol small enough to explore whole, and wrong ones: member 0 puts all broadcasts in one order."""

from ordercast.core import Contract, Message, Process


class Ask(Message, frozen=True):
    """To the sequencer: order this."""

    carries = "payload"
    origin: int
    n: int
    payload: bytes

    def about(self):
        return (self.origin, self.n)


class Ordered(Message, frozen=True):
    """From the sequencer: this is number `seq`."""

    carries = "payload"
    seq: int
    ask: Ask

    def about(self):
        return self.ask.about()


class Have(Message, frozen=True):
    """I have all below this."""

    below: int


class Again(Message, frozen=True):
    """I lack all from here."""

    begin: int


class Sequencer(Process):
    """Whoever broadcasts asks until it sees its own; whoever sees a gap asks for it; 0 reports what all have."""

    name = "sequencer"
    contract = Contract(
        paper="none",
        title="fixed sequencer",
        order="total",
        levels=("agreed", "safe"),
        reports=("stable",),
        safe_under=("loss", "duplication", "reordering", "delay", "crash"),
        live_under=("loss", "duplication", "reordering", "delay"),
    )

    def __init__(self, *args):
        super().__init__(*args)
        self.sent = 0  # my broadcasts
        self.open = {}  # n -> my Ask, not yet delivered here
        self.order = []  # of member 0: every Ordered
        self.early = {}  # seq -> Ordered, above `next`
        self.next = 0
        self.have = dict.fromkeys(self.members, 0)  # of member 0
        self.log = []  # the asks delivered here

    def ready(self):
        return not self.open

    def broadcast(self, payload, to=None):
        ask = self.open[self.sent] = Ask(self.me, self.sent, payload)
        self.sent += 1
        self.port.send(0, ask)
        self.port.set_timer("again", 1.0)

    def on_ask(self, src, ask):
        known = [ordered for ordered in self.order if ordered.ask.about() == ask.about()]
        if known:
            self.port.multicast(known[0])
        else:
            self.order.append(Ordered(len(self.order), ask))
            self.port.set_timer("spread", 1.0)
            self.port.multicast(self.order[-1], self.members)

    def on_ordered(self, src, ordered):
        if ordered.seq >= self.next:
            self.early[ordered.seq] = ordered
        if ordered.seq > self.next:
            self.port.send(0, Again(self.next))
        while self.next in self.early:
            self.hand_over(self.early.pop(self.next))

    def hand_over(self, ordered):
        ask = ordered.ask
        self.port.deliver(ask.origin, ask.n, ask.payload)
        self.log.append(ask)
        self.next += 1
        if ask.origin == self.me:
            self.open.pop(ask.n, None)
            if not self.open:
                self.port.cancel_timer("again")
        self.port.send(0, Have(self.next))

    def on_again_asked(self, src, again):
        for ordered in self.order[again.begin :]:
            self.port.send(src, ordered)

    def on_have(self, src, have):
        self.have[src] = max(self.have[src], have.below)
        everywhere = min(self.have.values())
        if everywhere == len(self.order):
            self.port.cancel_timer("spread")
        for origin in self.members:
            below = sum(ordered.ask.origin == origin for ordered in self.order[:everywhere])
            if below:
                self.port.reach("stable", origin, below)

    def on_again(self):
        for ask in self.open.values():
            self.port.send(0, ask)
        self.port.set_timer("again", 1.0)

    def on_spread(self):
        for member, have in self.have.items():
            for ordered in self.order[have:]:
                self.port.send(member, ordered)
        self.port.set_timer("spread", 1.0)

    handlers = {Ask: on_ask, Ordered: on_ordered, Have: on_have, Again: on_again_asked}
    timers = {"again": on_again, "spread": on_spread}


class AsTheyCome(Sequencer):
    """Wrong: delivers in the order of arrival."""

    def on_ordered(self, src, ordered):
        if ordered.ask not in self.log:
            self.hand_over(ordered)

    handlers = {**Sequencer.handlers, Ordered: on_ordered}


class Twice(Sequencer):
    """Wrong: takes an old number for a new one."""

    def on_ordered(self, src, ordered):
        self.early[max(ordered.seq, self.next)] = ordered
        while self.next in self.early:
            self.hand_over(self.early.pop(self.next))

    handlers = {**Sequencer.handlers, Ordered: on_ordered}


class GivesUp(Sequencer):
    """Wrong: asks a second time and no more, though it still waits."""

    def on_again(self):
        for ask in self.open.values():
            self.port.send(0, ask)

    timers = {**Sequencer.timers, "again": on_again}


class Hasty(Sequencer):
    """Wrong: reports stable what one other member has."""

    def on_have(self, src, have):
        self.have[src] = max(self.have[src], have.below)
        everywhere = sorted(self.have.values())[-2]
        for origin in self.members:
            below = sum(ordered.ask.origin == origin for ordered in self.order[:everywhere])
            if below:
                self.port.reach("stable", origin, below)

    handlers = {**Sequencer.handlers, Have: on_have}


class Asserts(Sequencer):
    """Wrong about its own state: the gap can be."""

    def on_ordered(self, src, ordered):
        assert ordered.seq <= self.next, "a gap"
        super().on_ordered(src, ordered)

    handlers = {**Sequencer.handlers, Ordered: on_ordered}
