"""Total order by a token on a fixed ring with positive notification (Pinwheel).

Source: Cristian and Mishra, ISADS 1995, as KK (section 3 and 5) describes and compares it; the procedures that it
shares with CM and DTP stand in `parts/token_passing.py`, with every departure from the paper.
Guarantees: as DTP's.  Every MSG and ACK tells its sender's hgsn; a member may have several MSGs without a place, and
one ACK orders all that wait (without it, the paper's exception at 40 members and 50 ms does not appear).

KK leaves Pinwheel's "own flow control mechanism" open: `m` limits a member's MSGs without a place, and with it its
BUF: an ACK orders at most n m of them, and n - 1 ACKs are not stable.
"""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec.structs import replace

from ordercast.core import Pid, Port
from ordercast.parts.token_passing import COMMON, TokenParameters, TokenPassing


class PinwheelParameters(TokenParameters, frozen=True, kw_only=True):
    m: Annotated[int, msgspec.Meta(ge=0, description="MSGs that a member may have without a place; 0: no limit")] = 0


class Pinwheel(TokenPassing):
    name = "pinwheel"
    Parameters = PinwheelParameters
    orders_all = True
    contract = replace(
        COMMON,
        title="token on a ring with positive notification (Pinwheel)",
        bounds={"MSG": "n n m: n m without a place, (n - 1) n m not stable; none when m is 0"},
    )

    def __init__(self, me: Pid, members: Sequence[Pid], port: Port, parameters: Any = None) -> None:
        super().__init__(me, members, port, parameters)
        self.outstanding = self.parameters.m

    def buffers(self) -> dict[str, tuple[int, int]]:
        n, m = len(self.members), self.parameters.m
        return {"MSG": (len(self.unacked) + len(self.placed), n * n * m)} if m else {}
