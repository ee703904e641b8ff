"""Total order by a token on a fixed ring (CM), each acknowledgment passing it on.

Source: Chang and Maxemchuk, ACM TOCS 2(3), 1984, as KK (section 3) describes and compares it; the procedures that it
shares with Pinwheel and DTP stand in `parts/token_passing.py`, with every departure from the paper.
Guarantees: as DTP's.  A MSG is stable once n - 1 later ACKs, null ACKs among them, show that every other member has
acknowledged since, and so holds it: a MSG says nothing about its sender, and a member does not count itself before its
own ACK.  KK leaves out the original's membership ("reformation phase"), and so do we.

`via = "token"` is the way that CH counts for point-to-point networks: a MSG goes to the token's holder alone, which
sends it to the others together with its ACK; N frames instead of 2 (N - 1).  A MSG that misses the holder, for the
token has moved on, waits for its time-out.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from msgspec import Meta
from msgspec.structs import replace

from ordercast.core import Message, Pid, Port
from ordercast.parts.token_passing import COMMON, Ack, Msg, TokenParameters, TokenPassing


class Placed(Message, frozen=True):
    """A holder's ACK with the MSG that it orders."""

    carries = "payload"
    ack: Ack
    msg: Msg

    def about(self) -> tuple[Pid, int]:
        return self.msg.about()


class CMParameters(TokenParameters, frozen=True, kw_only=True):
    via: Annotated[
        Literal["all", "token"], Meta(description="a MSG goes to all, or to the holder, which passes it on")
    ] = "all"


class CM(TokenPassing):
    name = "cm"
    Parameters = CMParameters
    heeds_msgs = False
    counts_passes = True
    contract = replace(COMMON, title="token on a ring (Chang-Maxemchuk)")

    def __init__(self, me: Pid, members: Sequence[Pid], port: Port, parameters: Any = None) -> None:
        super().__init__(me, members, port, parameters)
        self.turns: dict[int, int] = {0: 0}  # pass of the token -> its gsn; the last n and one before them

    def send_msg(self, msg: Msg) -> None:
        if self.parameters.via == "all":
            super().send_msg(msg)
        elif self.token != "HOLD":
            self.port.send(self.members[self.turn % len(self.members)], msg)

    def send_ack(self, ack: Ack) -> None:
        if self.parameters.via == "all" or not ack.updates:
            super().send_ack(ack)
        else:
            self.port.multicast(Placed(ack, self.unacked[ack.updates[0]]))

    def on_placed(self, src: Pid, placed: Placed) -> None:
        self.on_msg(placed.msg.origin, placed.msg)
        self.on_ack(src, placed.ack)

    def note(self, turn: int, gsn: int) -> None:
        """The last n passes have n senders: what the first of them held, all hold."""
        self.turns[turn] = gsn
        last = max(turn, self.turn) - len(self.members) + 1
        before = [each for each in self.turns if each <= last]
        if before:
            newest = max(before)
            self.known = max(self.known, self.turns[newest])
            for each in before:
                if each != newest:
                    del self.turns[each]

    def on_lowest(self) -> None:
        """R tells CM nothing: a member does not count itself before its own ACK."""

    handlers = {**TokenPassing.handlers, Placed: on_placed}
