"""The counter-based token protocol (CH): counters in a circulating token tell everybody what everybody has.

Anybody broadcasts at any time.  The token's owner attaches to the system state what it sent in its cycle before, and
raises the counter of each entry that it has in full.  An entry that all others counted is held by all; a cycle whose
entries all are is committed, in an order that each node finds by itself.  So whatever is delivered is safe, and the
order is uniform (level R3): under loss, repetition, delay, crashes, outages, joins and leaves.  It goes on as long as a
majority of the present list remains (of two halves, the one with the start node).

Readings and mends of CH, each with the run that breaks without it.  In the ring (`parts/counter_node.py`):
- A counter is raised once per node and entry.  An entry that survives a cycle meets nodes that counted it already;
  twice counted, it is committed while somebody lacks it.
- IdList is made anew when the token-owner timer expires: a retransmission that came in the meantime counts.
- An owner removes every own entry that is complete, not only that of one cycle: one that took longer would stay.
- Who is not the next owner compares, asks and commits on the token all the same, or a loss waits for one's own turn.
- A cycle waits until every node has attached it: the paper's second situation commits before the last has spoken.

In the list, here (CH 3.3; why, in docs/decisions/counter-list.md):
- Deleting whoever does not answer is right only if detection is: a wrong suspicion made two tokens with two lists.
  Every change, also a lost token that L tries did not bring back, is a vote on the next configuration's first token.
- Counters mean nothing among other nodes: with a leave an entry looked complete though a live node lacked it.  A
  configuration counts its old entries anew, and a newcomer is not waited for by entries older than its join.
- A duplicate token is not followed, so nobody needs to give one up: an owner makes one token per cycle, and one
  issued again is a copy.  Whoever sees its own turn again repeats its own token: that one was lost.
- A leaver first has its own messages committed.  A node that was deleted while deaf keeps its memory; back, it learns
  what was in S when it was deleted (`Past`), asks for what it lacks of that, delivers it, and joins again.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from ordercast.core import Contract, Pid, Port
from ordercast.parts.counter_node import Msg, Node, NodeParameters, Req
from ordercast.parts.counter_state import Entry, Ledger, T
from ordercast.parts.counter_vote import Voter
from ordercast.parts.token_list import Agree, Agreement, Answer, Call, Join, Past, Propose, ending, runs


class Counter(Voter):
    """Node x, with the changes of its list."""

    name = "counter"
    joins = "as_new"
    contract = Contract(
        paper="CH",
        title="Counter-based token protocol (Chang & Hwang)",
        order="total",
        levels=("reliable", "fifo", "causal", "agreed", "safe"),
        reports=("stable",),
        reliability="R3",
        safe_under=(
            "loss", "duplication", "reordering", "delay", "pause", "outage", "partition", "crash", "restart", "leave",
        ),
        live_under=("loss", "duplication", "reordering", "delay", "pause", "outage", "crash", "restart", "leave"),
        bounds={"messages": "2 N window", "token": "N window messages"},
        also=("uniform_agreement",),
    )  # fmt: skip

    def __init__(self, me: Pid, members: Sequence[Pid], port: Port, parameters: NodeParameters | None = None) -> None:
        super().__init__(me, members, port, parameters)
        self.views: list[tuple[int, tuple[Pid, ...]]] = []  # from which cycle on, who: not yet told upwards
        self.past: dict[Pid, Past] = {}  # for those who were deleted and may come back
        self.kept: dict[tuple[Pid, int], Msg] = {}  # and what they may ask for then
        self.ended: Past | None = None  # how it ended for me, as one of those
        self.inquiries = 0  # requests I sent as such
        self.settled = -1  # the number of the last such that I have dealt with

    def start(self, joining: bool = False) -> None:
        if joining:
            self.ask_in()
        else:
            self.enter(self.token)

    def ready(self) -> bool:
        return not self.leaving and super().ready()

    def leave(self) -> None:
        self.leaving = True
        if self.state == "outside":
            self.go()

    # ------------------------------------------------------------------ the token between configurations

    def on_t(self, src: Pid, token: T) -> None:
        number, mine = token.ring.number, self.token.ring.number
        if self.state == "gone":
            return
        if self.state == "outside":
            self.on_t_outside(src, token)
        elif number != mine:
            if number > mine:
                self.enter(token)
            else:
                self.port.send(src, self.token)  # it is behind: deleted perhaps, or the news got lost
        elif self.agreement.fenced():
            return
        elif token.stamp() > self.token.stamp():
            self.follow(token)
        elif token.n == self.me and token.stamp() < self.token.stamp():
            if self.token.c == self.me and token.t + (self.me == self.ring.nodes[0]) == self.token.t:
                self.pass_on()  # my turn again: nobody before me heard that I passed the token on
            elif self.token.c != self.me:
                self.port.send(src, self.token)

    def on_t_outside(self, src: Pid, token: T) -> None:
        """I listen for a token that has me in its list, or that says who may take me in."""
        if token.ring.number > self.ring.number and self.me in token.ring.nodes:
            self.enter(token)
        elif self.leaving and token.ring.number >= self.token.ring.number:
            self.go()  # they know that I left
        elif token.stamp() > self.token.stamp():
            news = token.ring.number > self.token.ring.number
            self.token = token
            if news:
                self.ask_in()

    def enter(self, token: T) -> None:
        """A new configuration: am I in it?"""
        ring, old = token.ring, self.ring
        if self.me not in ring.nodes:
            self.expel(token)
            return
        if self.state == "outside":
            self.ledger = Ledger(ring.since[ring.place(self.me)])
            self.views.clear()
        else:
            cut = {entry.key(): entry for entry in token.S}
            for node, past in self.past.items():  # what is lost since then is not for them either
                self.past[node] = replace(past, S=tuple(cut.get(entry.key(), entry) for entry in past.S))
            for node in old.nodes:
                if node not in ring.nodes:
                    self.past[node] = ending(token, old.since[old.place(node)])
        self.forget(ring.nodes)
        self.halt()
        self.ring, self.agreement, self.P = ring, Agreement(), ring.base
        self.joining.clear()  # who is not in asks again
        self.counted.clear()
        self.whole.clear()
        self.ledger.see(token.S)
        known = {(entry.sender, k) for entry in self.ledger.all() for k in range(entry.first, entry.below)}
        self.store = {key: msg for key, msg in self.store.items() if key[0] in ring.nodes or key in known}
        self.views.append((max(ring.base, self.ledger.next), ring.nodes))
        self.enter_cycle(self.ledger.next)
        self.follow(token)

    def expel(self, token: T) -> None:
        """The list goes on without me."""
        self.outside(token)
        if self.leaving:
            self.go()
        else:
            self.ask_in()

    def enter_cycle(self, cycle: int) -> None:
        """A configuration's cycles are its view: all of S is delivered where it was attached, also what is late."""
        while self.views and self.views[0][0] <= cycle:
            self.port.view(self.views.pop(0)[1])

    def close(self, entry: Entry, messages: Sequence[Msg]) -> None:
        if any(entry.cycle < past.base for past in self.past.values()):
            self.kept.update(((message.i, message.k), message) for message in messages)
        super().close(entry, messages)

    def absent(self) -> tuple[tuple[Pid, int], ...]:
        return tuple((node, past.number) for node, past in self.past.items())

    def forget(self, nodes: Sequence[Pid]) -> None:
        """These are in the list again."""
        for node in nodes:
            self.past.pop(node, None)
        if not self.past:
            self.kept.clear()

    # ------------------------------------------------------------------ joining, and coming back

    def ask_in(self) -> None:
        self.tries = 0
        self.on_join_due()

    def on_join_due(self) -> None:
        """Ask the token's owner, as far as I know it, and then one after the other."""
        nodes = [node for node in self.token.ring.nodes if node != self.me]
        if nodes:
            at = nodes.index(self.token.n) if self.token.n in nodes else 0
            self.port.send(nodes[(at + self.tries) % len(nodes)], Join(self.ring.number, self.settled))
        self.tries += 1
        self.port.set_timer("join", self.parameters.token_timeout)

    def on_join(self, src: Pid, join: Join) -> None:
        past = self.past.get(src)
        if self.state not in ("idle", "owner"):
            return
        if src in self.ring.nodes:
            self.port.send(src, self.token)  # the news was lost
        elif past is not None and join.settled < past.number:
            if self.ledger.next >= past.base:  # before, some of it might still be lost for good
                self.port.send(src, past)
        elif join.number < 0 or join.settled > join.number:
            self.joining[src] = join.settled

    def on_past(self, src: Pid, past: Past) -> None:
        """I was deleted, and am back.  All that was in S then is delivered in the view that I was in, so by me as well;
        what follows is delivered in views without me."""
        if self.state != "outside" or past.number <= max(self.settled, self.ring.number):
            return
        if self.ended is None or self.ended.number < past.number:
            self.ended = past
            if past.number == self.ring.number + 1:  # else I was not there when its last tokens went round
                self.ledger.drop(lambda entry: (entry.cycle + 1, self.ring.place(entry.sender)) > past.after)
            self.ledger.see(entry for entry in past.S if entry.cycle >= past.since)
        self.inquiries += 1
        for origin, first, below in runs(key for key in self.wanted() if key not in self.store):
            self.port.send(src, Req(self.me, origin, past.base, tuple(range(first, below)), self.inquiries))
        self.settle()

    def wanted(self) -> list[tuple[Pid, int]]:
        """What of my last configuration I have yet to deliver."""
        return [
            (entry.sender, k)
            for entry in self.ledger.all()
            if not entry.to or self.me in entry.to
            for k in range(entry.first, entry.below)
        ]

    def settle(self) -> None:
        """If I have all of it by now: deliver it, and ask to be taken in again."""
        past, wanted = self.ended, self.wanted()
        if past is None or any(key not in self.store for key in wanted):
            return
        for sender, k in wanted:
            self.port.deliver(sender, k, self.store[sender, k].msg)
            self.port.reach("stable", sender, k + 1)  # who told me has committed it
        mine = [entry.below for entry in self.ledger.all() if entry.sender == self.me and entry.below > entry.first]
        self.done[self.me] = self.attached = max([self.done.get(self.me, 0), *mine])  # the rest was cut off
        self.store = {key: msg for key, msg in self.store.items() if key[0] == self.me and key[1] >= self.attached}
        self.ledger = Ledger(past.base)
        self.served.clear()
        self.ended, self.settled = None, past.number
        self.ask_in()

    def on_msg(self, src: Pid, msg: Msg) -> None:
        super().on_msg(src, msg)
        if self.ended is not None and (msg.i, msg.k) in self.wanted():
            self.store[msg.i, msg.k] = msg
            self.settle()

    def on_req(self, src: Pid, req: Req) -> None:
        super().on_req(src, req)
        for k in req.k:  # from one who is back
            if (req.i, k) in self.kept:
                self.port.send(req.j, self.kept[req.i, k])

    handlers = {
        T: on_t,
        Msg: on_msg,
        Req: on_req,
        Call: Voter.on_call,
        Answer: Voter.on_answer,
        Propose: Voter.on_propose,
        Agree: Voter.on_agree,
        Join: on_join,
        Past: on_past,
    }
    timers = {
        "token_owner": Node.on_token_owner,
        "request": Node.on_request,
        "lost": Voter.on_lost,
        "reissue": Voter.on_reissue,
        "silence": Voter.on_silence,
        "call": Voter.on_call_due,
        "join": on_join_due,
    }
