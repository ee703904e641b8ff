"""Optimistic token-driven broadcast (Chung, Liu & Lin), as CH describes it: deliver at once, take back what was wrong.

A message is delivered as it arrives, in the hope that it arrives everywhere, in the same order.  The owner of a
circulating token puts what it has received into the group's order and acknowledges on the token, in one batch, what it
holds of that order.  Whoever finds on a token that it delivered something else, or lacks a message, rolls back to the
last committed state and has all others do so; what all have acknowledged is committed.  A node sends at most `burst`
messages in a token-owner period (CH counts one), so a broadcast costs 1 + 1/N frames on a broadcast network.

The order of what stays delivered is total and uniform, and a message reported stable is held by all; but what was
delivered may be withdrawn: level R2.  A node that crashes for good cannot take anything back, and nobody passes its
token on: CH's comparison has no membership for it.

CH leaves open how rollback requests are answered and lost tokens noticed.  Here: the detecting node multicasts one
`Rollback` for what it lacks, its origin sends that again (a holder cannot know that it is asked), and the predecessor
repeats a token that it does not see going on.  A token carries the order since the last commit, at least a whole cycle
of it, so that a node which saw no token but its own misses nothing.  One's own copy comes back through the channel, in
its order; on a network without a common order of arrival the protocol stays right and withdraws much.
"""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from ordercast.core import LINK_FAULTS, Contract, Message, Parameters, Pid, Port, Process

SECONDS = {"unit": "s"}


class Msg(Message, frozen=True):
    """Sender -> all: my `n`-th broadcast."""

    carries = "payload"
    origin: Pid
    n: int
    payload: bytes

    def about(self) -> tuple[Pid, int]:
        return (self.origin, self.n)


class T(Message, frozen=True):
    """The token of a turn, from its owner `c` to `next`: the order from number `first` on, and what each node holds."""

    turn: int
    c: Pid
    next: Pid
    first: int
    order: tuple[tuple[Pid, int], ...]
    acks: tuple[int, ...]  # by place in the list: below this number of the order it has everything


class Rollback(Message, frozen=True):
    """Whoever lacks them -> all: I lost messages of `origin`, go back to what is committed.  `again` counts repeats."""

    origin: Pid
    n: tuple[int, ...]
    again: int

    def about(self) -> tuple[Pid, int]:
        return (self.origin, self.n[0])


class Optimistic(Process):
    """One node of the list."""

    name = "optimistic"
    withdraws = True
    contract = Contract(
        paper="CH",
        title="Optimistic token-driven broadcast (Chung, Liu & Lin)",
        order="total",
        levels=("reliable", "fifo", "causal", "agreed", "safe"),
        reports=("stable",),
        reliability="R2",
        safe_under=(*LINK_FAULTS, "pause", "outage", "partition"),
        live_under=(*LINK_FAULTS, "pause", "outage", "partition"),
        bounds={"own": "window messages not yet committed"},
        also=("uniform_agreement",),
    )

    class Parameters(Parameters, frozen=True, kw_only=True):
        token_time: Annotated[float, Meta(description="how long an owner keeps the token", extra=SECONDS)] = 0.01
        token_timeout: Annotated[float, Meta(description="a token that stays is repeated", extra=SECONDS)] = 0.1
        request_timeout: Annotated[float, Meta(description="a rollback request is repeated", extra=SECONDS)] = 0.05
        burst: Annotated[int, Meta(description="messages a node sends in a token-owner period", ge=1)] = 1
        window: Annotated[int, Meta(description="own messages not yet committed, at most", ge=1)] = 64

    parameters: Parameters

    def __init__(self, me: Pid, members: Sequence[Pid], port: Port, parameters: Parameters | None = None) -> None:
        super().__init__(me, members, port, parameters)
        self.place = self.members.index(me)
        self.token = T(0, self.members[0], self.members[0], 0, (), (0,) * len(members))
        self.owner = False
        self.sent = self.burst = 0  # my messages: all, and in this token-owner period
        # Messages until they are committed; per origin, below which they are; the order from `committed` on.
        self.store: dict[tuple[Pid, int], Msg] = {}
        self.done: dict[Pid, int] = dict.fromkeys(members, 0)
        self.committed = 0
        self.order: list[tuple[Pid, int]] = []
        self.placed: set[tuple[Pid, int]] = set()  # the same, to look up
        # What was delivered above `committed`, by rule of the order as far as it agrees; what arrived and is not in it.
        self.delivered: list[tuple[Pid, int]] = []
        self.arrived: list[tuple[Pid, int]] = []
        self.rolled = False  # hold back until the next token
        self.again = 0  # rollback requests sent for what I lack now

    def start(self, joining: bool = False) -> None:
        if self.me == self.token.next:
            self.own()

    def ready(self) -> bool:
        return self.burst < self.parameters.burst and self.sent - self.done[self.me] < self.parameters.window

    def broadcast(self, payload: bytes, to: Sequence[Pid] | None = None) -> None:
        if to is not None:
            raise ValueError("optimistic sends to the whole group: leave out the destinations")
        self.port.multicast(Msg(self.me, self.sent, payload), self.members)
        self.sent += 1
        self.burst += 1

    # ------------------------------------------------------------------ messages

    def on_msg(self, src: Pid, message: Msg) -> None:
        key = (message.origin, message.n)
        if message.n < self.done[message.origin] or key in self.store:
            return
        self.store[key] = message
        if key not in self.placed:
            self.arrived.append(key)
        self.deliver()

    def deliver(self) -> None:
        """Deliver what comes next of the order; and when I have all of that, what arrived, in the hope for the best.

        Of one origin by its numbers: that much the order keeps in any case.
        """
        if self.rolled:
            return
        for key in self.order[len(self.delivered) :]:
            if key not in self.store:
                return
            self.hand_over(key)
        if len(self.delivered) < len(self.order):
            return
        following = {origin: self.done[origin] for origin in self.members}
        for origin, _ in self.delivered:
            following[origin] += 1
        again = True
        while again:
            again = False
            for key in self.arrived:
                if key[1] == following[key[0]]:
                    following[key[0]] += 1
                    self.hand_over(key)
                    again = True

    def hand_over(self, key: tuple[Pid, int]) -> None:
        self.delivered.append(key)
        self.port.deliver(*key, self.store[key].payload)

    def roll_back(self) -> None:
        """To the last committed state."""
        if self.delivered:
            self.port.withdraw(len(self.delivered))
            self.delivered.clear()

    # ------------------------------------------------------------------ the token

    def on_t(self, src: Pid, token: T) -> None:
        if token.turn <= self.token.turn:
            if token.next == self.me and self.token.c == self.me and token.turn + 1 == self.token.turn:
                self.pass_on()  # it was not seen going on
            elif token.next == self.me and not self.owner:
                self.port.send(src, self.token)
            return
        self.token = token
        self.port.cancel_timer("lost")
        self.burst = 0
        self.learn()
        if token.next == self.me:
            self.own()

    def learn(self) -> None:
        """Compare what I delivered with the order on the token, and commit what all have acknowledged."""
        token = self.token
        known = self.committed + len(self.order)
        self.order += token.order[max(0, known - token.first) :]
        self.placed = set(self.order)
        self.arrived = [key for key in self.arrived if key not in self.placed]
        agreed = self.order[: len(self.delivered)] == self.delivered[: len(self.order)]
        lacks = [key for key in self.order if key not in self.store]
        self.rolled = False
        if not agreed:
            self.roll_back()
        self.commit(min(token.acks))
        if lacks and not self.again:
            self.request()
        self.deliver()

    def commit(self, below: int) -> None:
        """Everybody holds the order below this number: it is final."""
        fresh = below - self.committed
        if fresh <= 0:
            return
        self.deliver()
        assert len(self.delivered) >= fresh, "all have acknowledged what I lack"
        for origin, n in self.order[:fresh]:
            self.done[origin] = n + 1
            del self.store[origin, n]
            self.port.reach("stable", origin, n + 1)
        del self.order[:fresh]
        del self.delivered[:fresh]
        self.committed = below

    def own(self) -> None:
        self.owner = True
        self.port.set_timer("token_owner", self.parameters.token_time)

    def on_token_owner(self) -> None:
        """Order what I received, acknowledge what I hold, and pass the token on."""
        following = dict(self.done)
        for origin, _ in self.order:
            following[origin] += 1
        for origin, n in [*self.delivered, *self.arrived]:
            if (origin, n) not in self.placed and n == following[origin]:
                following[origin] += 1
                self.order.append((origin, n))
        held = next((k for k, key in enumerate(self.order) if key not in self.store), len(self.order))
        acks = list(self.token.acks)
        acks[self.place] = self.committed + held
        self.owner = False
        following_node = self.members[(self.place + 1) % len(self.members)]
        self.token = T(self.token.turn + 1, self.me, following_node, self.committed, tuple(self.order), tuple(acks))
        self.burst = 0
        if following_node == self.me:
            self.learn()
            self.own()
        else:
            self.pass_on()
            self.learn()

    def pass_on(self) -> None:
        self.port.multicast(self.token)
        self.port.set_timer("lost", self.parameters.token_timeout)

    def on_lost(self) -> None:
        self.pass_on()

    # ------------------------------------------------------------------ losses

    def request(self) -> None:
        """Have the lost messages sent again, and everybody go back to what is committed."""
        self.again += 1
        lacks: dict[Pid, list[int]] = {}
        for origin, n in self.order:
            if (origin, n) not in self.store:
                lacks.setdefault(origin, []).append(n)
        for origin, numbers in lacks.items():
            self.port.multicast(Rollback(origin, tuple(numbers), self.again))
        if lacks:
            self.port.set_timer("request", self.parameters.request_timeout)
        else:
            self.again = 0

    def on_rollback(self, src: Pid, request: Rollback) -> None:
        if request.origin == self.me:
            for n in request.n:
                if (self.me, n) in self.store:
                    self.port.send(src, self.store[self.me, n])
        if request.again == 1 and not self.rolled:
            self.roll_back()
            self.rolled = True

    def buffers(self) -> dict[str, tuple[int, int]]:
        return {"own": (self.sent - self.done[self.me], self.parameters.window)}

    handlers = {Msg: on_msg, T: on_t, Rollback: on_rollback}
    timers = {"token_owner": on_token_owner, "lost": on_lost, "request": request}
