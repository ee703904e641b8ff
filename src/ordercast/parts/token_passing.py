"""What KK's three acknowledging token protocols share: CM, Pinwheel and DTP differ in who is next and what tells R.

Source: KK, sections 3 and 4.  Names are the paper's: MSG, ACK, REQ; S.Token, S.ACK; N, R, BUF; T; a member is an LTM.
One member holds the token.  It gives the oldest MSG without a place the next gsn, by an ACK that also passes the token
on; who has no MSG to acknowledge for T passes it with a null ACK.  A member holds everything up to its hgsn.

Departures from the paper, each with the run that breaks without it:

- Every ACK numbers its pass of the token (`turn`), and a pass not above the highest seen moves nothing.  A null ACK
  carries no new gsn: 1 passes to 2 by a null ACK, 2 to 3 and 3 to 1 by two more; 1's first, repeated by its time-out
  and late, makes 2 a holder beside 1, and two messages get one gsn.
- R[me] rises only once U is there.  The text raises it on the ACK, before a lost U is recovered: the others then count
  U as stable, drop it, and nobody can send it again.
- R only rises: a late MSG carries an old hgsn.
- An ACK carries what its sender knows to be stable.  A member that lost the null ACKs of a silence knows less than the
  holders do; the ACKs that follow come from few members, and its BUF grows beyond the paper's bound.  With it, the
  holders of the gsns above a holder's min(R) are distinct, and none is a member at min(R): BUF holds n - 1 ACKs and
  2n - 1 MSGs at most.  Where nothing is lost all know the same, and it tells nothing new.
- A member that lags must not fill its BUF with MSGs whose ACKs it has not seen: of these it takes n.
- An ACK above R[me] + 1 is kept instead of dropped, so that one loss costs one request.
- A MSG that arrives after its ACK is taken though l < N[j]: it fills its place.
"""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

import msgspec

from ordercast.core import PASSING_FAULTS, Contract, Message, Parameters, Pid, Port, Process, Time

Key: TypeAlias = tuple[Pid, int]  # U_id: the origin and its lsn


COMMON = Contract(  # a protocol says its title, and its bounds where they differ
    paper="KK",
    title="acknowledging token",
    order="total",
    levels=("reliable", "fifo", "causal", "agreed", "safe"),
    reports=("stable",),
    reliability="R3",
    safe_under=(*PASSING_FAULTS, "crash"),
    live_under=PASSING_FAULTS,
    bounds={"MSG": "2n - 1: n without a place, n - 1 not stable", "ACK": "n - 1"},
)


class Msg(Message, frozen=True):
    """MSG(U, (origin, n), h): `origin`'s n-th update, sent when it held everything up to gsn `hgsn`."""

    carries = "payload"
    origin: Pid
    n: int
    hgsn: int
    payload: bytes

    def about(self) -> tuple[Pid, int]:
        return (self.origin, self.n)


class Ack(Message, frozen=True):
    """ACK(sender, updates, gsn, next): the updates have places up to `gsn`, the token goes to `next`; null: none."""

    sender: Pid
    updates: tuple[Key, ...]
    gsn: int
    next: Pid
    turn: int
    stable: int

    def about(self) -> tuple[Pid, int]:
        return self.updates[0] if self.updates else (-1, -1)


class Req(Message, frozen=True):
    """REQ(src, hgsn, msglst): the sender lacks these ACKs (by gsn) and MSGs (by identifier)."""

    hgsn: int
    acks: tuple[int, ...]
    msgs: tuple[Key, ...]


class TokenParameters(Parameters, frozen=True, kw_only=True):
    T: Annotated[
        Time, msgspec.Meta(gt=0, extra={"unit": "s"}, description="silence after which a null ACK is sent")
    ] = 0.1
    timeout: Annotated[
        Time, msgspec.Meta(gt=0, extra={"unit": "s"}, description="after which a MSG or a REQ is sent again")
    ] = 0.05
    token_timeout: Annotated[
        Time,
        msgspec.Meta(gt=0, extra={"unit": "s"}, description="after which a pass of the token is repeated; above T"),
    ] = 0.15


class TokenPassing(Process):
    """The procedures of KK 4.2.  A protocol says who is next, what is stable, and how much one ACK orders."""

    Parameters = TokenParameters
    counts_passes: ClassVar[bool] = False  # wants to know of every pass of the token, by `note`
    defers: bool = False  # may hold back, by `may_deliver`, an update that it could deliver
    heeds_msgs: ClassVar[bool] = True  # a MSG tells what its sender held: the positive notification
    outstanding: int = 1  # MSGs that a member may have without a place; 0: no limit
    orders_all: ClassVar[bool] = False  # one ACK orders every MSG that waits, or the oldest

    def __init__(self, me: Pid, members: Sequence[Pid], port: Port, parameters: Any = None) -> None:
        super().__init__(me, members, port, parameters)
        first = self.members[0]
        self.token: Literal["HOLD", "TRST", "EMPT"] = "HOLD" if me == first else "EMPT"  # S.Token
        self.turn = 0  # the highest pass of the token seen
        self.passed = 0  # gsn that the token carried then: the holder must have come so far to use it
        self.next = first  # to whom I passed it last
        self.N = dict.fromkeys(self.members, 0)  # expected lsn of the next MSG of each member
        self.R = dict.fromkeys(self.members, 0)  # hgsn: each member holds everything up to it, as I know
        self.acked = dict.fromkeys(self.members, 0)  # number of each member's MSGs with a place up to R[me]
        self.lost = 0  # MSGs that later ones of the same member show to be missing
        self.highest = 0  # gsn seen
        self.given = 0  # gsn up to which I delivered
        self.stable = 0  # gsn up to which BUF is empty
        self.lowest = 0  # min(R)
        self.standing = {0: len(self.members)}  # hgsn -> how many members stand there: min(R) without looking at all
        self.known = 0  # gsn up to which I know that every member holds everything
        self.asking = False  # a REQ is out
        # BUF, in three parts: MSGs without a place, MSGs with one, ACKs by gsn (some ahead of R[me]).
        self.unacked: dict[Key, Msg] = {}
        self.placed: dict[int, Msg] = {}
        self.acks: dict[int, Ack] = {}

    def start(self, joining: bool = False) -> None:
        if self.token == "HOLD":
            self.port.set_timer("silence", self.parameters.T)

    # ------------------------------------------------------------------ what a protocol decides

    def next_holder(self) -> Pid:
        """To whom the token goes."""
        after = self.members.index(self.me) + 1
        return self.members[after % len(self.members)]

    def note(self, turn: int, gsn: int) -> None:
        """The sender of this pass of the token holds everything up to `gsn`."""

    def on_lowest(self) -> None:
        """min(R) has risen: all hold everything up to it."""
        if self.lowest > self.known:
            self.known = self.lowest

    def send_msg(self, msg: Msg) -> None:
        """A MSG of mine, for the first time or again."""
        self.port.multicast(msg)

    def send_ack(self, ack: Ack) -> None:
        """An ACK that passes the token on, for the first time."""
        self.port.multicast(ack)

    def may_deliver(self, gsn: int) -> bool:
        """Is an update that I hold, and whose place I know, to be delivered now?"""
        return True

    def buffers(self) -> dict[str, tuple[int, int]]:
        n = len(self.members)
        return {"MSG": (len(self.unacked) + len(self.placed), 2 * n - 1), "ACK": (len(self.acks), max(1, n - 1))}

    # ------------------------------------------------------------------ update arrival

    def ready(self) -> bool:
        """S.ACK is DONE."""
        return not self.outstanding or self.N[self.me] - self.acked[self.me] < self.outstanding

    def broadcast(self, payload: bytes, to: Sequence[Pid] | None = None) -> None:
        if to is not None:
            raise ValueError(f"{self.name} orders for the whole group: it knows no destinations")
        n = self.N[self.me]
        self.N[self.me] = n + 1
        self.unacked[self.me, n] = msg = Msg(self.me, n, self.R[self.me], payload)
        self.send_msg(msg)
        if n == self.acked[self.me]:
            self.port.set_timer("message", self.parameters.timeout)
        self.acknowledge()

    # ------------------------------------------------------------------ the holder

    def acknowledge(self) -> None:
        """Give waiting MSGs their places, and the token away: only with the token, and after recovering all."""
        if self.token != "HOLD" or not self.unacked or self.R[self.me] < self.passed:
            return
        updates = self.in_turn()
        if updates:
            self.pass_token(updates)
            self.advance()

    def in_turn(self) -> tuple[Key, ...]:
        """The MSGs that one ACK orders: the oldest, or all; each member's in the order of their lsn."""
        following = dict(self.acked)
        updates = []
        for origin, n in self.unacked:
            if n == following[origin]:
                updates.append((origin, n))
                if not self.orders_all:
                    break
                following[origin] = n + 1
        return tuple(updates)

    def pass_token(self, updates: tuple[Key, ...]) -> None:
        gsn = self.R[self.me] + len(updates)
        if self.counts_passes:
            self.note(self.turn + 1, gsn)
        self.turn, self.passed, self.next = self.turn + 1, gsn, self.next_holder()
        ack = Ack(self.me, updates, gsn, self.next, self.turn, self.known)
        self.keep(ack)
        self.send_ack(ack)
        if ack.next == self.me:  # alone in the group
            self.port.set_timer("silence", self.parameters.T)
        else:
            self.token = "TRST"
            self.port.cancel_timer("silence")
            self.port.set_timer("token", self.parameters.token_timeout)

    # ------------------------------------------------------------------ receptions

    def on_msg(self, src: Pid, msg: Msg) -> None:
        origin, n = key = (msg.origin, msg.n)
        if self.heeds_msgs:
            self.hear(origin, msg.hgsn)
        if n < self.acked[origin]:
            # Its sender has lost the ACK (KK 4.2); the ACK is in BUF, for its sender has not told that it holds it.
            if self.token == "HOLD":
                for ack in self.acks.values():
                    if key in ack.updates:
                        self.port.send(origin, ack)
                        break
        elif key not in self.unacked and self.has_space(key):
            self.unacked[key] = msg
            expected = self.N[origin]
            if n >= expected:
                self.lost += n - expected
                self.N[origin] = n + 1
            else:
                self.lost -= 1
        if self.stable < self.known or self.lost or self.asking or self.given < self.highest:
            self.advance()  # otherwise nothing follows from a MSG but what the holder does
        if self.token == "HOLD":
            self.acknowledge()

    def on_ack(self, src: Pid, ack: Ack) -> None:
        self.hear(ack.sender, ack.gsn)
        if self.counts_passes:
            self.note(ack.turn, ack.gsn)
        if ack.stable > self.known:
            self.known = ack.stable
            self.advance()  # Drop what is stable before storing another: the bound on BUF counts on it.
        self.keep(ack)
        if ack.turn > self.turn:
            self.turn, self.passed = ack.turn, ack.gsn
            if self.token == "TRST":
                self.port.cancel_timer("token")
            self.token = "EMPT"
            if ack.next == self.me:
                self.token = "HOLD"
                self.port.set_timer("silence", self.parameters.T)
        self.advance()
        if self.token == "HOLD":
            self.acknowledge()

    def keep(self, ack: Ack) -> None:
        """Put an ACK into BUF, for each of its places that are not known yet."""
        gsn = ack.gsn
        if gsn > self.highest:
            self.highest = gsn
        for _ in ack.updates:
            if gsn > self.R[self.me]:
                self.acks[gsn] = ack
            gsn -= 1

    def on_req(self, src: Pid, req: Req) -> None:
        self.hear(src, req.hgsn)
        self.advance()
        if self.token == "HOLD" or (self.token == "TRST" and src == self.next):
            for ack in dict.fromkeys(self.acks[gsn] for gsn in req.acks if gsn in self.acks):
                self.port.send(src, ack)
            there = {(msg.origin, msg.n): msg for msg in self.placed.values()} if req.msgs else {}
            for key in req.msgs:
                msg = there.get(key) or self.unacked.get(key)
                if msg is not None:
                    self.port.send(src, msg)

    def hear(self, member: Pid, hgsn: int) -> None:
        """A member tells, or shows, that it holds everything up to `hgsn`."""
        before = self.R[member]
        if hgsn > before:
            self.R[member] = hgsn
            standing = self.standing
            standing[hgsn] = standing.get(hgsn, 0) + 1
            if standing[before] > 1:
                standing[before] -= 1
            else:
                del standing[before]
                if before == self.lowest:
                    lowest = before + 1
                    while lowest not in standing:
                        lowest += 1
                    self.lowest = lowest
                    self.on_lowest()

    def has_space(self, key: Key) -> bool:
        """BUF takes n MSGs without a place, one of them my own, and those whose ACKs it has."""
        if not self.outstanding or len(self.unacked) < len(self.members) - 1:
            return True
        named = {update for ack in self.acks.values() for update in ack.updates}
        others = sum(held not in named and held[0] != self.me for held in self.unacked)
        return key in named or others < len(self.members) - 1

    # ------------------------------------------------------------------ what follows from what is known

    def advance(self) -> None:
        """Place, deliver and let go of whatever can be; ask for what is lacking."""
        held = self.R[self.me]
        if held + 1 in self.acks:
            held = self.place(held)
        while self.given < held and (not self.defers or self.given < self.known or self.may_deliver(self.given + 1)):
            self.given += 1
            msg = self.placed[self.given]
            self.port.deliver(msg.origin, msg.n, msg.payload)
        while self.stable < self.known and self.stable < self.given:  # Removing stable messages
            self.stable += 1
            msg = self.placed.pop(self.stable)
            del self.acks[self.stable]
            self.port.reach("stable", msg.origin, msg.n + 1)
        if held < self.highest or self.lost:
            if not self.asking:
                self.request()
        elif self.asking:
            self.asking = False
            self.port.cancel_timer("request")

    def place(self, held: int) -> int:
        """Move MSGs to the places that ACKs give them, as far as both are here; return the hgsn then."""
        while (ack := self.acks.get(held + 1)) is not None:
            msg = self.unacked.pop(ack.updates[held - ack.gsn], None)  # the last update has ack.gsn
            if msg is None:
                break
            held += 1
            self.placed[held] = msg
            self.acked[msg.origin] += 1
            if msg.origin == self.me:
                self.on_own_place()
        self.hear(self.me, held)
        return held

    def on_own_place(self) -> None:
        """One of my MSGs has its place: time the next one that waits, if any."""
        if self.N[self.me] == self.acked[self.me]:
            self.port.cancel_timer("message")
        else:
            self.port.set_timer("message", self.parameters.timeout)

    def request(self) -> None:
        self.asking = True
        unknown = [gsn for gsn in range(self.R[self.me] + 1, self.highest + 1) if gsn not in self.acks]
        updates = [key for gsn, ack in self.acks.items() if gsn > self.R[self.me] for key in ack.updates]
        updates += [(origin, n) for origin, end in self.N.items() for n in range(self.acked[origin], end)]
        lacking = [key for key in dict.fromkeys(updates) if key not in self.unacked and key[1] >= self.acked[key[0]]]
        self.port.multicast(Req(self.R[self.me], tuple(unknown), tuple(lacking)))
        self.port.set_timer("request", self.parameters.timeout)

    # ------------------------------------------------------------------ time-outs

    def on_message_timeout(self) -> None:
        for n in range(self.acked[self.me], self.N[self.me]):
            self.send_msg(self.unacked[self.me, n])
        self.port.set_timer("message", self.parameters.timeout)

    def on_token_timeout(self) -> None:
        ack = self.acks.get(self.passed)
        if ack is None or ack.turn != self.turn:
            ack = Ack(self.me, (), self.passed, self.next, self.turn, self.stable)
        self.port.multicast(ack)
        self.port.set_timer("token", self.parameters.token_timeout)

    def on_request_timeout(self) -> None:
        self.request()

    def on_silence(self) -> None:
        if self.R[self.me] < self.passed or self.in_turn():
            self.port.set_timer("silence", self.parameters.T)
        else:
            self.pass_token(())

    handlers = {Msg: on_msg, Ack: on_ack, Req: on_req}
    timers = {
        "message": on_message_timeout,
        "token": on_token_timeout,
        "request": on_request_timeout,
        "silence": on_silence,
    }
