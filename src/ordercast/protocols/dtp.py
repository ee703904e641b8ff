"""Total order by dynamic token passing (DTP): the token goes to the member that has been silent longest.

Source: KK, section 4; the procedures stand in `parts/token_passing.py`, with every departure from the paper.  What is
DTP's own is who comes next, and that a delivered update may be made to survive F crashes.
Guarantees: one order for all, also of those that crash later; FIFO and causal order; stability known everywhere.
While every member lives and each message sent often enough gets through, everything is delivered.  Without a
membership protocol below it the group stops, and stays right, when a member crashes.

The holder chooses among the others, ties to the lowest id: one that chose itself would tell nobody anything.
"""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec.structs import replace

from ordercast.core import Pid, Port
from ordercast.parts.token_passing import COMMON, TokenParameters, TokenPassing


class DTPParameters(TokenParameters, frozen=True, kw_only=True):
    F: Annotated[
        int, msgspec.Meta(ge=0, description="crashes that a delivered update survives: F + 1 must hold it")
    ] = 0


class DTP(TokenPassing):
    name = "dtp"
    Parameters = DTPParameters
    contract = replace(COMMON, title="dynamic token passing")

    def __init__(self, me: Pid, members: Sequence[Pid], port: Port, parameters: Any = None) -> None:
        super().__init__(me, members, port, parameters)
        self.defers = self.parameters.F > 0
        if len(self.members) <= self.parameters.F:
            raise ValueError(f"dtp: F is {self.parameters.F}, but {len(self.members)} members survive fewer crashes")

    def next_holder(self) -> Pid:
        """The least active member, as far as R tells (KK 3, Dynamic token-passing scheme)."""
        if len(self.members) == 1:
            return self.me
        return min((pid for pid in self.members if pid != self.me), key=self.R.__getitem__)

    def may_deliver(self, gsn: int) -> bool:
        """F-resilience: F + 1 members hold it (KK 4.2, Adjusting degree of fault tolerance)."""
        resilience: int = self.parameters.F
        return sum(hgsn >= gsn for hgsn in self.R.values()) > resilience
