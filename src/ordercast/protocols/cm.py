"""Total order by a token on a fixed ring (CM), each acknowledgment passing it on.

Source: Chang and Maxemchuk, ACM TOCS 2(3), 1984, as KK (section 3) describes and compares it; the procedures that it
shares with Pinwheel and DTP stand in `parts/token_passing.py`, with every departure from the paper.
Guarantees: as DTP's.  A MSG is stable once n - 1 later ACKs, null ACKs among them, show that every other member has
acknowledged since, and so holds it: a MSG says nothing about its sender, and a member does not count itself before its
own ACK.  KK leaves out the original's membership ("reformation phase"), and so do we.
"""

from collections.abc import Sequence
from typing import Any

from ordercast.core import PASSING_FAULTS, Contract, Pid, Port
from ordercast.parts.token_passing import Msg, TokenPassing


class CM(TokenPassing):
    name = "cm"
    contract = Contract(
        paper="KK",
        title="token on a ring (Chang-Maxemchuk)",
        order="total",
        levels=("reliable", "fifo", "causal", "agreed", "safe"),
        reports=("stable",),
        safe_under=(*PASSING_FAULTS, "crash"),
        live_under=PASSING_FAULTS,
        bounds={"MSG": "2n - 1: n without a place, n - 1 not stable", "ACK": "n - 1"},
    )

    def __init__(self, me: Pid, members: Sequence[Pid], port: Port, parameters: Any = None) -> None:
        super().__init__(me, members, port, parameters)
        self.turns: dict[int, int] = {0: 0}  # pass of the token -> its gsn; those that `known_stable` needs

    def hear_msg(self, msg: Msg) -> None:
        """A MSG of CM tells nothing of what its sender holds."""

    def note(self, turn: int, gsn: int) -> None:
        self.turns[turn] = gsn

    def known_stable(self) -> int:
        """The last n passes have n senders: what the first of them held, all hold."""
        last = max(self.turn, *self.turns) - len(self.members) + 1
        before = [turn for turn in self.turns if turn <= last]
        for turn in before:
            if turn != max(before):
                del self.turns[turn]
        return self.turns[max(before)] if before else 0
