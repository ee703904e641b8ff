"""GK's fill: who gets which message, each message in one multicast to all who lack it (Appendix I).

A description, DESC, says of each host what it has received.  Numbers count from 0 here and from 1 in the paper.
"""

from collections.abc import Callable, Hashable, Mapping
from typing import TypeVar

from ordercast.parts.runs import NOTHING, Runs, common, minus, union

Host = TypeVar("Host", bound=Hashable)


def fill(have: Runs, desc: Mapping[Host, Runs]) -> list[tuple[int, int, tuple[Host, ...]]]:
    """What a host that holds `have` sends: (start, end, hosts), ascending; each number one multicast to those hosts."""
    lacks = {host: minus(have, received) for host, received in desc.items()}
    edges = sorted({edge for lack in lacks.values() for run in lack for edge in run})
    at = {edge: k for k, edge in enumerate(edges)}
    takers: list[list[Host]] = [[] for _ in edges]
    for host, lack in lacks.items():
        for start, end in lack:
            for k in range(at[start], at[end]):
                takers[k].append(host)
    return [(start, end, tuple(to)) for start, end, to in zip(edges, edges[1:], takers, strict=False) if to]


def filled(have: Runs, desc: Mapping[Host, Runs]) -> dict[Host, Runs]:
    """The description once everything that `fill` sends has arrived."""
    return {host: union(received, have) for host, received in desc.items()}


def ask(have: Runs, desc: Mapping[Host, Runs], cost: Callable[[Host], float]) -> dict[Host, dict[Host, Runs]]:
    """What a host that holds `have` may ask of others, on behalf of all: holder -> description to be filled there.

    Of several holders of a message the cheapest is asked (ties: the first in the description).  The description given
    to a holder claims for every host all but what this holder is to send it, so that `fill` there sends just that.
    """
    wanted = NOTHING
    for received in desc.values():
        wanted = union(wanted, received)
    everything, wanted = union(wanted, have), minus(wanted, have)
    asked: dict[Host, dict[Host, Runs]] = {}
    for holder in sorted(desc, key=cost):
        mine = common(wanted, desc[holder])
        if mine:
            wanted = minus(wanted, mine)
            lacking = {host: minus(mine, received) for host, received in desc.items()}
            asked[holder] = {host: minus(everything, lack) for host, lack in lacking.items() if lack}
    return asked
