"""Total order by dynamic token passing (DTP): the token goes to the member that has been silent longest.

Source: KK, section 4.  Names are the paper's: MSG, ACK, REQ; S.Token, S.ACK; N, R, BUF; T; F.  A member is an LTM.
Guarantees: one order for all, also of those that crash later; FIFO and causal order; stability known everywhere.
While every member lives and each message sent often enough gets through, everything is delivered.  Without a
membership protocol below it the group stops, and stays right, when a member crashes.

Departures from the paper, each with the run that breaks without it:

- Every ACK numbers its pass of the token (`turn`), and a pass not above the highest seen moves nothing.  A null ACK
  carries no new gsn: 1 passes to 2 by a null ACK, 2 to 3 and 3 to 1 by two more; 1's first, repeated by its time-out
  and late, makes 2 a holder beside 1, and two messages get one gsn.
- R[me] rises only once U is there.  The text raises it on the ACK, before a lost U is recovered: the others then count
  U as stable, drop it, and nobody can send it again.
- R only rises: a late MSG carries an old hgsn.
- An ACK carries its sender's min(R), `stable`.  A member that lost the null ACKs of a silence knows less of R than the
  holders do, who choose by it; the ACKs that follow come from few members, and its BUF grows beyond the paper's bound.
  With it: the holders of the gsns above a holder's min(R) are distinct, and none is a member at min(R), so BUF holds
  n - 1 ACKs and 2n - 1 MSGs at most.  Where nothing is lost all know the same, and it tells nothing new.
- An ACK above R[me] + 1 is kept instead of dropped, so that one loss costs one request.
- A MSG that arrives after its ACK is taken though l < N[j]: it fills its place.
- The holder chooses among the others, ties to the lowest id; a holder that chose itself would tell nobody.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec

from ordercast.core import PASSING_FAULTS, Contract, Message, Parameters, Pid, Port, Process, Time


class Msg(Message, frozen=True):
    """MSG(U, (origin, n), h): `origin`'s n-th update, sent when it had delivered everything up to gsn `hgsn`."""

    carries = "payload"
    origin: Pid
    n: int
    hgsn: int
    payload: bytes

    def about(self) -> tuple[Pid, int]:
        return (self.origin, self.n)


class Ack(Message, frozen=True):
    """ACK(sender, (origin, n), gsn, next): the update has place `gsn`, the token goes to `next`; null: origin is -1."""

    sender: Pid
    origin: Pid
    n: int
    gsn: int
    next: Pid
    turn: int
    stable: int

    def about(self) -> tuple[Pid, int]:
        return (self.origin, self.n)


class Req(Message, frozen=True):
    """REQ(src, hgsn, msglst): the sender lacks these ACKs (by gsn) and MSGs (by identifier)."""

    hgsn: int
    acks: tuple[int, ...]
    msgs: tuple[tuple[Pid, int], ...]


class DTPParameters(Parameters, frozen=True, kw_only=True):
    T: Annotated[
        Time, msgspec.Meta(gt=0, extra={"unit": "s"}, description="silence after which a null ACK is sent")
    ] = 0.1
    F: Annotated[
        int, msgspec.Meta(ge=0, description="crashes that a delivered update survives: F + 1 must hold it")
    ] = 0
    timeout: Annotated[
        Time, msgspec.Meta(gt=0, extra={"unit": "s"}, description="after which a MSG or a REQ is sent again")
    ] = 0.05
    token_timeout: Annotated[
        Time,
        msgspec.Meta(gt=0, extra={"unit": "s"}, description="after which a pass of the token is repeated; above T"),
    ] = 0.15


class DTP(Process):
    name = "dtp"
    Parameters = DTPParameters
    contract = Contract(
        paper="KK",
        title="dynamic token passing",
        order="total",
        levels=("reliable", "fifo", "causal", "agreed", "safe"),
        reports=("stable",),
        safe_under=(*PASSING_FAULTS, "crash"),
        live_under=PASSING_FAULTS,
        bounds={"MSG": "2n - 1: n not acknowledged, n - 1 not stable", "ACK": "n - 1"},
    )

    def __init__(self, me: Pid, members: Sequence[Pid], port: Port, parameters: Any = None) -> None:
        super().__init__(me, members, port, parameters)
        first = self.members[0]
        self.token: Literal["HOLD", "TRST", "EMPT"] = "HOLD" if me == first else "EMPT"  # S.Token
        self.ack: Literal["DONE", "WAIT"] = "DONE"  # S.ACK
        self.turn = 0  # the highest pass of the token seen
        self.passed = 0  # gsn that the token carried then: the holder must have come so far to use it
        self.next = first  # to whom I passed it last
        self.N = dict.fromkeys(self.members, 0)  # expected lsn of the next MSG of each member
        self.R = dict.fromkeys(self.members, 0)  # hgsn: each member holds everything up to it, as I know
        self.acked = dict.fromkeys(self.members, 0)  # number of each member's MSGs with a place up to R[me]
        self.highest = 0  # gsn seen
        self.given = 0  # gsn up to which I delivered; below R[me] only while F waits
        self.stable = 0  # min(R): gsn up to which BUF is empty
        self.asking = False  # a REQ is out
        # BUF, in three parts: MSGs without a place, MSGs with one, ACKs by gsn (some ahead of R[me]).
        self.unacked: dict[tuple[Pid, int], Msg] = {}
        self.placed: dict[tuple[Pid, int], Msg] = {}
        self.acks: dict[int, Ack] = {}

    def start(self, joining: bool = False) -> None:
        if len(self.members) <= self.parameters.F:
            raise ValueError(
                f"dtp: F is {self.parameters.F}, but only {len(self.members) - 1} others can hold an update"
            )
        if self.token == "HOLD":
            self.port.set_timer("silence", self.parameters.T)

    def buffers(self) -> dict[str, tuple[int, int]]:
        n = len(self.members)
        return {"MSG": (len(self.unacked) + len(self.placed), 2 * n - 1), "ACK": (len(self.acks), max(1, n - 1))}

    # ------------------------------------------------------------------ update arrival

    def ready(self) -> bool:
        return self.ack == "DONE"

    def broadcast(self, payload: bytes, to: Sequence[Pid] | None = None) -> None:
        if to is not None:
            raise ValueError("dtp orders for the whole group: it knows no destinations")
        n = self.N[self.me]
        self.N[self.me] = n + 1
        self.ack = "WAIT"
        self.unacked[self.me, n] = msg = Msg(self.me, n, self.R[self.me], payload)
        self.port.multicast(msg)
        self.port.set_timer("message", self.parameters.timeout)
        self.acknowledge()

    # ------------------------------------------------------------------ the holder

    def acknowledge(self) -> None:
        """Give the oldest waiting MSG its place, and the token away: only with the token, and after recovering all."""
        if self.token == "HOLD" and self.unacked and self.R[self.me] >= self.passed:
            (origin, n), gsn = next(iter(self.unacked)), self.R[self.me] + 1
            self.acks[gsn] = ack = Ack(self.me, origin, n, gsn, self.least_active(), self.turn + 1, self.stable)
            self.highest = gsn
            self.pass_token(ack)
            self.advance()

    def least_active(self) -> Pid:
        """The member that R knows least of; ties to the lowest id."""
        if len(self.members) == 1:
            return self.me
        return min((pid for pid in self.members if pid != self.me), key=self.R.__getitem__)

    def pass_token(self, ack: Ack) -> None:
        self.turn, self.passed, self.next = ack.turn, ack.gsn, ack.next
        self.port.multicast(ack)
        if ack.next == self.me:  # alone in the group
            self.port.set_timer("silence", self.parameters.T)
        else:
            self.token = "TRST"
            self.port.cancel_timer("silence")
            self.port.set_timer("token", self.parameters.token_timeout)

    # ------------------------------------------------------------------ receptions

    def on_msg(self, src: Pid, msg: Msg) -> None:
        key = (msg.origin, msg.n)
        self.hear(msg.origin, msg.hgsn)
        if msg.n < self.acked[msg.origin]:
            # Its sender has lost the ACK (KK 4.2); the ACK is in BUF, for its sender has not told that it holds it.
            if self.token == "HOLD":
                for ack in self.acks.values():
                    if (ack.origin, ack.n) == key:
                        self.port.send(msg.origin, ack)
        elif key not in self.unacked and self.has_space(key):
            self.unacked[key] = msg
            if msg.n >= self.N[msg.origin]:
                self.N[msg.origin] = msg.n + 1
        self.advance()
        self.acknowledge()

    def on_ack(self, src: Pid, ack: Ack) -> None:
        self.hear(ack.sender, ack.gsn)
        if ack.stable > self.stable:
            for member in self.members:
                self.hear(member, ack.stable)
            self.advance()  # Drop what is stable before storing another: the bound on BUF counts on it.
        if ack.origin >= 0 and self.R[self.me] < ack.gsn < self.stable + max(2, len(self.members)):
            self.acks[ack.gsn] = ack
        if ack.gsn > self.highest:
            self.highest = ack.gsn
        if ack.turn > self.turn:
            self.turn, self.passed = ack.turn, ack.gsn
            if self.token == "TRST":
                self.port.cancel_timer("token")
            self.token = "EMPT"
            if ack.next == self.me:
                self.token = "HOLD"
                self.port.set_timer("silence", self.parameters.T)
        self.advance()
        self.acknowledge()

    def on_req(self, src: Pid, req: Req) -> None:
        self.hear(src, req.hgsn)
        self.advance()
        if self.token == "HOLD" or (self.token == "TRST" and src == self.next):
            for gsn in req.acks:
                if gsn in self.acks:
                    self.port.send(src, self.acks[gsn])
            for key in req.msgs:
                msg = self.placed.get(key) or self.unacked.get(key)
                if msg is not None:
                    self.port.send(src, msg)

    def has_space(self, key: tuple[Pid, int]) -> bool:
        """BUF takes n MSGs without a place, and those whose ACKs it has: who lags must not fill it with later ones."""
        if len(self.unacked) < len(self.members):
            return True
        named = {(ack.origin, ack.n) for ack in self.acks.values()}
        return key in named or sum(held not in named for held in self.unacked) < len(self.members)

    def hear(self, member: Pid, hgsn: int) -> None:
        """A member tells, or shows, that it holds everything up to `hgsn`."""
        if hgsn > self.R[member]:
            self.R[member] = hgsn

    # ------------------------------------------------------------------ what follows from what is known

    def advance(self) -> None:
        """Place, deliver and let go of whatever can be; ask for what is lacking."""
        acks, unacked, hgsns, me = self.acks, self.unacked, self.R, self.me
        gsn = hgsns[me] + 1
        while gsn in acks and (key := (acks[gsn].origin, acks[gsn].n)) in unacked:
            self.placed[key] = unacked.pop(key)
            self.acked[key[0]] += 1
            if key[0] == me:
                self.ack = "DONE"
                self.port.cancel_timer("message")
            hgsns[me] = gsn
            gsn += 1
        while self.given < hgsns[me] and self.may_deliver(self.given + 1):
            self.given += 1
            ack = acks[self.given]
            self.port.deliver(ack.origin, ack.n, self.placed[ack.origin, ack.n].payload)
        lowest = min(hgsns.values())
        while self.stable < lowest:  # Removing stable messages
            self.stable += 1
            ack = acks.pop(self.stable)
            del self.placed[ack.origin, ack.n]
            self.port.reach("stable", ack.origin, ack.n + 1)
        if hgsns[me] < self.highest or self.gaps():
            if not self.asking:
                self.request()
        elif self.asking:
            self.asking = False
            self.port.cancel_timer("request")

    def may_deliver(self, gsn: int) -> bool:
        """F-resilience: F + 1 members hold it (KK 4.2, Adjusting degree of fault tolerance)."""
        resilience: int = self.parameters.F
        return not resilience or sum(hgsn >= gsn for hgsn in self.R.values()) > resilience

    def gaps(self) -> bool:
        """A later MSG shows that its sender's earlier one, which has a place by now, is not here."""
        return any(self.N[origin] > n + 1 and (origin, n) not in self.unacked for origin, n in self.acked.items())

    def request(self) -> None:
        self.asking = True
        missing = range(self.R[self.me] + 1, self.highest + 1)
        updates = [(ack.origin, ack.n) for gsn in missing if (ack := self.acks.get(gsn))]
        updates += [(origin, n) for origin, n in self.acked.items() if self.N[origin] > n + 1]
        wanted = tuple(key for key in dict.fromkeys(updates) if key not in self.unacked)
        self.port.multicast(Req(self.R[self.me], tuple(gsn for gsn in missing if gsn not in self.acks), wanted))
        self.port.set_timer("request", self.parameters.timeout)

    # ------------------------------------------------------------------ time-outs

    def on_message_timeout(self) -> None:
        self.port.multicast(self.unacked[self.me, self.N[self.me] - 1])
        self.port.set_timer("message", self.parameters.timeout)

    def on_token_timeout(self) -> None:
        # With the repeated ACK goes the news of whoever holds the token by now, if it has moved: a later ACK.
        ack = self.acks.get(self.passed)
        if ack is None or ack.turn != self.turn:
            ack = Ack(self.me, -1, -1, self.passed, self.next, self.turn, self.stable)
        self.port.multicast(ack)
        self.port.set_timer("token", self.parameters.token_timeout)

    def on_request_timeout(self) -> None:
        self.request()

    def on_silence(self) -> None:
        if self.R[self.me] >= self.passed:
            self.pass_token(Ack(self.me, -1, -1, self.R[self.me], self.least_active(), self.turn + 1, self.stable))
        else:
            self.port.set_timer("silence", self.parameters.T)

    handlers = {Msg: on_msg, Ack: on_ack, Req: on_req}
    timers = {
        "message": on_message_timeout,
        "token": on_token_timeout,
        "request": on_request_timeout,
        "silence": on_silence,
    }
