"""A node of the counter protocol while its list stays: token, counters, requests (CH 3.1), flow control (3.2).

`protocols/counter.py` stands on it with the changes of the list (3.3), and says what departs from the paper.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from ordercast.core import Message, Parameters, Pid, Port, Process
from ordercast.parts.counter_state import (
    Entry,
    Flow,
    Key,
    Ledger,
    Ring,
    Rule,
    T,
    arrive,
    committable,
    count,
    counts,
    entries,
    founding,
)

State: TypeAlias = Literal["outside", "idle", "owner", "gone"]
SECONDS = {"unit": "s"}
MESSAGES = {"unit": "messages"}


class Msg(Message, frozen=True):
    """Sender -> destinations: message `k` of node `i`, sent in its cycle `p`."""

    carries = "payload"
    i: Pid
    rec: tuple[Pid, ...]  # the destinations; empty: all
    p: int
    k: int
    msg: bytes

    def about(self) -> tuple[Pid, int]:
        return (self.i, self.k)


class Req(Message, frozen=True):
    """Node `j` -> one that has them: send messages `k` of node `i`, in S for cycle `p`, again; my `n`-th request."""

    j: Pid
    i: Pid
    p: int
    k: tuple[int, ...]
    n: int

    def about(self) -> tuple[Pid, int]:
        return (self.i, self.k[0])


class NodeParameters(Parameters, frozen=True, kw_only=True):
    token_time: Annotated[float, Meta(description="T: how long an owner keeps the token", extra=SECONDS)] = 0.01
    token_timeout: Annotated[
        float, Meta(description="no next token for so long: it is lost; longer than T and two delays", extra=SECONDS)
    ] = 0.1
    reissue_delay: Annotated[
        float, Meta(description="a lost token is issued again after a random delay below this", extra=SECONDS)
    ] = 0.02
    tries: Annotated[int, Meta(description="L: so often is a token issued again, or a call", ge=1)] = 5
    request_timeout: Annotated[float, Meta(description="a request is repeated after this", extra=SECONDS)] = 0.05
    order: Annotated[Rule, Meta(description="of a cycle's messages: the list's, from a fixed or a moving start")] = (
        "fixed"
    )
    window: Annotated[
        int, Meta(description="own messages not yet committed, at most; 0: as the buffers allow", extra=MESSAGES, ge=0)
    ] = 0
    overload: Annotated[
        int, Meta(description="messages in S from which the network counts as overloaded", extra=MESSAGES)
    ] = 4096
    reserve: Annotated[
        int, Meta(description="free buffers below which a node is nearly full; 0: half of them", extra=MESSAGES, ge=0)
    ] = 0
    batch_requests: Annotated[bool, Meta(description="one request for all that an entry lacks, not one each")] = True
    multicast_repairs: Annotated[bool, Meta(description="send a message again to all, not only to who asked")] = True


class Node(Process):
    """Node x of the paper."""

    Parameters = NodeParameters
    parameters: NodeParameters

    def __init__(self, me: Pid, members: Sequence[Pid], port: Port, parameters: NodeParameters | None = None) -> None:
        super().__init__(me, members, port, parameters)
        self.token = founding(self.members)  # the newest I know
        self.ring = Ring(self.members, (), -1)
        self.state: State = "outside"
        self.P = 0  # my cycle
        # What I have: messages not yet committed here; entries; per origin, below which its messages are committed.
        self.store: dict[tuple[Pid, int], Msg] = {}
        self.ledger = Ledger()
        self.done: dict[Pid, int] = {}
        self.whole: set[Key] = set()  # the paper's IdList: entries of S that I have in full
        self.counted: set[Key] = set()  # those whose counter I raised
        self.asked: dict[Key, int] = {}  # entries that I lack something of: number of the last request
        self.served: dict[tuple[Pid, Pid, int], int] = {}  # (asker, origin, k): the last request that I answered
        # What I send: my messages below `attached` were put into S; those below `turn` are, at the end of this turn.
        self.sent = self.attached = self.turn = 0
        self.waiting: Msg | None = None  # taken, not sent: the buffer of a destination is nearly full
        self.capacity = port.room()

    # ------------------------------------------------------------------ what 3.3 adds

    def listen(self) -> None:
        """From now on a token is expected."""

    def change_list(self) -> bool:
        """At the end of a turn: begin a change of the list instead of passing the token on."""
        return False

    # ------------------------------------------------------------------ broadcasting

    def ready(self) -> bool:
        if self.state not in ("idle", "owner") or self.waiting is not None or self.token.flow.everywhere:
            return False
        return self.sent - self.done.get(self.me, 0) < self.window()

    def window(self) -> int:
        """Nobody counts what still waits in its buffer, so all senders' windows together bound what waits there."""
        fair = self.capacity // (2 * max(1, len(self.ring.nodes) - 1))
        return self.parameters.window or max(1, min(256, fair))

    def broadcast(self, payload: bytes, to: Sequence[Pid] | None = None) -> None:
        message = Msg(self.me, () if to is None else tuple(sorted(set(to))), self.P, self.sent, payload)
        self.store[self.me, self.sent] = self.waiting = message
        self.sent += 1
        self.release()

    def release(self) -> None:
        """Send what waits, unless the buffer of a destination is nearly full (3.2)."""
        if self.waiting is None:
            return
        rec = self.waiting.rec
        full = [node for node, full in zip(self.ring.nodes, self.token.flow.local, strict=True) if full]
        if not full or (rec and not any(node in rec for node in full)):
            self.port.multicast(self.waiting, self.others(rec))
            self.waiting = None

    def others(self, rec: tuple[Pid, ...] = ()) -> tuple[Pid, ...] | None:
        """The destinations of a multicast; None: everybody, as long as the founders are the list."""
        ring = self.token.ring
        if not rec and ring.number == 0:
            return None
        return tuple(node for node in rec or ring.nodes if node != self.me)

    def on_msg(self, src: Pid, msg: Msg) -> None:
        new = msg.i != self.me and msg.k >= self.done.get(msg.i, 0) and (msg.i, msg.k) not in self.store
        if new and self.state in ("idle", "owner"):
            self.store[msg.i, msg.k] = msg

    # ------------------------------------------------------------------ the token

    def follow(self, token: T) -> None:
        """A token that is news.  Next owner or not: compare, commit (CH has it so), and see what may be sent."""
        self.token = token
        self.port.cancel_timer("lost")
        self.port.cancel_timer("reissue")
        self.ledger.see(token.S)
        if token.n == self.me:
            self.own()
        else:
            self.listen()
        self.commit()
        self.compare()
        self.release()

    def own(self) -> None:
        """The first of the list begins the next cycle: the token comes to it in its own, to the others in the next."""
        assert self.state == "idle", "an owner was given a second token"
        assert self.token.t == self.P + (self.me != self.ring.nodes[0])
        self.state = "owner"
        self.P += 1
        self.turn = self.sent - (self.waiting is not None)
        self.port.cancel_timer("silence")
        self.port.set_timer("token_owner", self.parameters.token_time)

    def on_token_owner(self) -> None:
        if self.change_list():
            return
        state, _ = arrive(self.token, self.me)
        there = {entry.key() for entry in state}
        self.counted &= there
        self.whole &= there
        mine = [(k, self.store[self.me, k].rec) for k in range(self.attached, self.turn)]
        self.attached = self.turn
        state = (
            *count(self.ring, state, self.me, self.holds, self.counted),
            *entries(self.ring, self.me, self.P - 1, mine, self.parameters.order),
        )
        self.token = T(self.me, self.ring.next(self.me), self.P, state, self.ring, self.flow(state))
        self.state = "idle"
        self.ledger.see(state)
        if self.token.n == self.me:
            self.own()
        else:
            self.pass_on()
        self.commit()

    def pass_on(self) -> None:
        self.port.multicast(self.token, self.others())
        self.port.set_timer("lost", self.parameters.token_timeout)
        self.listen()

    def holds(self, entry: Entry) -> bool:
        if entry.cycle < self.ledger.next or entry.key() in self.whole:
            return True
        whole = all((entry.sender, k) in self.store for k in range(entry.first, entry.below))
        if whole:
            self.whole.add(entry.key())
        return whole

    def commit(self) -> None:
        for cycle, found in self.ledger.commit(committable(self.token)):
            self.enter_cycle(cycle)
            for entry in found:
                keys = [(entry.sender, k) for k in range(entry.first, entry.below)]
                messages = [self.store.pop(key) for key in keys if key in self.store]
                assert len(messages) == len(keys) or not counts(self.ring, entry, self.me), "committed, not held"
                if not entry.to or self.me in entry.to:
                    for message in messages:
                        self.port.deliver(message.i, message.k, message.msg)
                self.close(entry, messages)
        self.enter_cycle(self.ledger.next)

    def enter_cycle(self, cycle: int) -> None:
        """Everything of the cycles before has been delivered here."""

    def close(self, entry: Entry, messages: Sequence[Msg]) -> None:
        """Forget what is only needed until the messages of an entry are delivered."""
        sender, below = entry.sender, entry.below
        if sender not in self.done:  # I joined: older messages of this sender are not for me
            for key in [key for key in self.store if key[0] == sender and key[1] < entry.first]:
                del self.store[key]
        self.done[sender] = max(self.done.get(sender, 0), below)
        self.port.reach("stable", sender, self.done[sender])
        if self.served:
            self.served = {key: n for key, n in self.served.items() if key[1] != sender or key[2] >= below}

    # ------------------------------------------------------------------ lost messages

    def compare(self) -> None:
        """Ask for what S has and I have not: a loss shows within two cycles, even if most tokens are lost on me."""
        for entry in self.token.S:
            if entry.key() not in self.asked and counts(self.ring, entry, self.me) and not self.holds(entry):
                self.asked[entry.key()] = 0
                self.ask(entry)

    def ask(self, entry: Entry) -> None:
        n = self.asked[entry.key()] = self.asked[entry.key()] + 1
        lost = tuple(k for k in range(entry.first, entry.below) if (entry.sender, k) not in self.store)
        whom = entry.sender
        if whom not in self.ring.nodes:  # it is gone, but somebody has them, or they would have been cut off
            rest = [node for node in self.ring.nodes if node != self.me]
            whom = rest[n % len(rest)]
        for some in [lost] if self.parameters.batch_requests else [(k,) for k in lost]:
            self.port.send(whom, Req(self.me, entry.sender, entry.cycle, some, n))
        self.port.set_timer(("request", *entry.key()), self.parameters.request_timeout)

    def on_request(self, sender: Pid, cycle: int, first: int) -> None:
        key = (sender, cycle, first)
        entry = self.ledger.cycles.get(cycle, {}).get(key)
        if entry is None or self.holds(entry):
            del self.asked[key]
        else:
            self.ask(entry)

    def on_req(self, src: Pid, req: Req) -> None:
        """Send again what is asked for, if the request is new: `n` tells it from a copy of an old one."""
        for k in req.k:
            message = self.store.get((req.i, k))
            if message is not None and self.served.get((req.j, req.i, k), 0) < req.n:
                self.served[req.j, req.i, k] = req.n
                if self.parameters.multicast_repairs:
                    self.port.multicast(message, self.others(message.rec))
                else:
                    self.port.send(req.j, message)

    # ------------------------------------------------------------------ flow control (3.2)

    def flow(self, state: Sequence[Entry]) -> Flow:
        """What the next token says: am I nearly full, is the network nearly overloaded."""
        flow, here = self.token.flow, self.ring.place(self.me)
        full = self.port.room() < (self.parameters.reserve or self.capacity // 2)
        load = sum(entry.below - entry.first for entry in state) >= self.parameters.overload
        return Flow(
            (*flow.local[:here], full, *flow.local[here + 1 :]),
            (*flow.local_cycle[:here], self.P if full else 0, *flow.local_cycle[here + 1 :]),
            load,
            self.P if load else 0,
        )

    def buffers(self) -> Mapping[str, tuple[int, int]]:
        limit = self.window() * len(self.ring.nodes)
        in_state = sum(entry.below - entry.first for entry in self.token.S)
        return {"messages": (len(self.store), 2 * limit), "token": (in_state, limit)}
