"""Total order by a circulating token that numbers messages (Totem's single ring, without its membership).

Source: KK, section 5 (its footnote and description), after Amir et al., ACM TOCS 13(4), 1995: seq, aru, rtr and fcc are
the fields of that token.  A member multicasts only while it holds the token; the token carries the last number given.
Guarantees: one order for all, also of those that crash later; FIFO and causal order; stability known everywhere.
While every member lives, everything is delivered; the membership protocol that Totem has for crashes is left out.

Stability: what a member passed on as received by all (aru), and finds so when the token comes again, every member has
passed in between: stable on the second visit, about two rotations after the sending.

Departures, and what KK leaves open:
- Each hop is numbered (`turn`), and a repeated token whose hop is not above the last one seen is dropped.
- Flow control: `visit` messages a visit, `window` a rotation (fcc), and no new message while 2 `window` are not known
  stable.  Without the last rule one member that loses everything lets the others' buffers grow without end.
- `hold` lets an idle token rest at each member: on a real network a free-running one burns a processor.  KK: 0.
"""

from collections import deque
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec

from ordercast.core import PASSING_FAULTS, Contract, Message, Parameters, Pid, Port, Process, Time

NOBODY = -1


class Numbered(Message, frozen=True):
    """`origin`'s n-th message, which has number `seq` in the group."""

    carries = "payload"
    seq: int
    origin: Pid
    n: int
    payload: bytes

    def about(self) -> tuple[Pid, int]:
        return (self.origin, self.n)


class Token(Message, frozen=True):
    """`seq`: last number given; `aru`: all have everything up to it, lowered by `aru_id`; `rtr`: numbers to send again;
    `fcc`: messages of the last rotation."""

    turn: int
    seq: int
    aru: int
    aru_id: Pid
    rtr: tuple[int, ...]
    fcc: int


class TotemParameters(Parameters, frozen=True, kw_only=True):
    visit: Annotated[
        int, msgspec.Meta(ge=1, description="messages that a member may send on one visit of the token")
    ] = 50
    window: Annotated[int, msgspec.Meta(ge=1, description="messages that the group may send on one rotation")] = 200
    hold: Annotated[
        Time, msgspec.Meta(ge=0, extra={"unit": "s"}, description="rest of an idle token at each member")
    ] = 0.0
    token_timeout: Annotated[
        Time,
        msgspec.Meta(gt=0, extra={"unit": "s"}, description="after which a token is passed again; above a rotation"),
    ] = 0.1


class Totem(Process):
    name = "totem"
    Parameters = TotemParameters
    contract = Contract(
        paper="KK",
        title="numbering token on a ring (Totem)",
        order="total",
        levels=("reliable", "fifo", "causal", "agreed", "safe"),
        reports=("stable",),
        reliability="R3",
        safe_under=(*PASSING_FAULTS, "crash"),
        live_under=PASSING_FAULTS,
        bounds={"MSG": "3 window: two that a sender may leave unstable, one of the rotation until others know"},
    )

    def __init__(self, me: Pid, members: Sequence[Pid], port: Port, parameters: Any = None) -> None:
        super().__init__(me, members, port, parameters)
        self.following = self.members[(self.members.index(me) + 1) % len(self.members)]
        self.pending: deque[bytes] = deque()  # asked for, waiting for the token
        self.sent = 0  # my own messages so far
        self.buf: dict[int, Numbered] = {}  # what is not known stable, by seq
        self.have = 0  # my aru: I hold and delivered everything up to it
        self.stable = 0
        self.passed_aru = 0  # aru of the token as I passed it last
        self.last_sent = 0  # messages of my last visit, to be taken off fcc on the next
        self.token: Token | None = None  # the token that I hold, or passed last and may have to repeat
        self.holding = False

    def start(self, joining: bool = False) -> None:
        if self.me == self.members[0] and len(self.members) > 1:
            self.on_token(self.me, Token(1, 0, 0, NOBODY, (), 0))

    def ready(self) -> bool:
        limit: int = self.parameters.visit
        return len(self.pending) < limit

    def broadcast(self, payload: bytes, to: Sequence[Pid] | None = None) -> None:
        if to is not None:
            raise ValueError("totem orders for the whole group: it knows no destinations")
        self.pending.append(payload)
        if len(self.members) == 1:
            self.number(self.have + 1)
            self.settle(self.have)
        elif self.holding:
            self.port.cancel_timer("hold")
            self.visit()

    def buffers(self) -> dict[str, tuple[int, int]]:
        return {"MSG": (len(self.buf), 3 * self.parameters.window)}

    # ------------------------------------------------------------------ the token

    def on_token(self, src: Pid, token: Token) -> None:
        if self.token is not None and token.turn <= self.token.turn:
            return
        self.port.cancel_timer("token")
        self.token = token
        self.holding = True
        self.settle(min(self.passed_aru, token.aru))
        idle = token.aru == token.seq == self.have and not token.fcc and not self.pending
        if idle and self.parameters.hold:
            self.port.set_timer("hold", self.parameters.hold)
        else:
            self.visit()

    def visit(self) -> None:
        """Send again what others ask for, send what waits, and pass the token on with my own news."""
        token = self.token
        assert token is not None
        wanted = []
        for seq in token.rtr:
            if seq in self.buf:
                self.port.multicast(self.buf[seq])
            else:
                wanted.append(seq)
        wanted = [seq for seq in wanted if seq > self.stable]
        limits = self.parameters
        others = token.fcc - self.last_sent
        allowed = min(limits.visit, limits.window - others, 2 * limits.window - (token.seq - self.stable))
        seq = token.seq
        self.last_sent = 0
        while self.pending and self.last_sent < allowed:
            seq += 1
            self.last_sent += 1
            self.port.multicast(self.number(seq))
        wanted += [lost for lost in range(self.have + 1, token.seq + 1) if lost not in self.buf and lost not in wanted]
        aru, aru_id = token.aru, token.aru_id
        if self.have < aru or aru_id in (self.me, NOBODY):
            aru = self.have
            aru_id = NOBODY if aru == seq else self.me
        self.passed_aru = aru
        self.holding = False
        self.token = Token(token.turn + 1, seq, aru, aru_id, tuple(wanted), others + self.last_sent)
        self.pass_token()

    def pass_token(self) -> None:
        assert self.token is not None
        self.port.send(self.following, self.token)
        self.port.set_timer("token", self.parameters.token_timeout)

    # ------------------------------------------------------------------ messages

    def number(self, seq: int) -> Numbered:
        """My oldest waiting message gets this number."""
        message = Numbered(seq, self.me, self.sent, self.pending.popleft())
        self.sent += 1
        self.take(message)
        return message

    def on_numbered(self, src: Pid, message: Numbered) -> None:
        if message.seq > self.have and message.seq not in self.buf:
            self.take(message)
        if self.token is not None and not self.holding and message.seq > self.token.seq:
            self.port.cancel_timer("token")  # somebody had the token after me

    def take(self, message: Numbered) -> None:
        self.buf[message.seq] = message
        while (following := self.buf.get(self.have + 1)) is not None:
            self.have += 1
            self.port.deliver(following.origin, following.n, following.payload)

    def settle(self, stable: int) -> None:
        """Everything up to this number is stable."""
        while self.stable < stable:
            self.stable += 1
            message = self.buf.pop(self.stable)
            self.port.reach("stable", message.origin, message.n + 1)

    handlers = {Numbered: on_numbered, Token: on_token}
    timers = {"token": pass_token, "hold": visit}
