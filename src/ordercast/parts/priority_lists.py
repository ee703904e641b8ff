"""Priority lists and the trees they make (GK 4.1, 4.2, 5): checks, constructions, static coordinator trees.

PL(h) names, in the order of probing, the hosts that h may take as its coordinator.  Lists must be jointly complete
(of any two hosts, one stands on the other's list) and acyclic; then "stands on the list of" is a total order of the
hosts, with the source at its top.

GK leaves ties in SDF's queue open.  Here the host named last is queued first, which gives assignment A of section 5
when hosts are named in their natural order.  Ties in a list go to the host nearer the source, then to the one named
first.
"""

from collections.abc import Collection, Hashable, Mapping, Sequence
from math import inf
from typing import TypeAlias, TypeVar

import msgspec

Host = TypeVar("Host", bound=Hashable)
Lists: TypeAlias = Mapping[Host, Sequence[Host]]
Distances: TypeAlias = Mapping[Host, Mapping[Host, float]]


def incomplete_pair(lists: Lists[Host]) -> tuple[Host, Host] | None:
    """Two hosts of which neither stands on the other's list; None: the lists are jointly complete."""
    hosts = list(lists)
    on = {host: set(lists[host]) for host in hosts}
    for k, a in enumerate(hosts):
        for b in hosts[k + 1 :]:
            if a not in on[b] and b not in on[a]:
                return a, b
    return None


def cycle(lists: Lists[Host]) -> tuple[Host, ...] | None:
    """Hosts of which each stands on the list of the one before it, the first on the last's; None: acyclic."""
    done: set[Host] = set()
    for start in lists:
        path: list[Host] = []
        places: dict[Host, int] = {}
        ahead = [(start, iter(lists[start]))] if start not in done else []
        while ahead:
            host, rest = ahead[-1]
            if host not in places:
                places[host] = len(path)
                path.append(host)
            for parent in rest:
                if parent in places:
                    return tuple(path[places[parent] :])
                if parent not in done:
                    ahead.append((parent, iter(lists.get(parent, ()))))
                    break
            else:
                ahead.pop()
                done.add(path.pop())
                del places[host]
    return None


def check(lists: Lists[Host], source: Host) -> None:
    """`ValueError` that names the offending host, pair or cycle, unless the lists are ones the protocol can use."""
    for host, mine in lists.items():
        unknown = [other for other in mine if other not in lists]
        if unknown:
            raise ValueError(f"the list of {host} names {unknown[0]}, which is no host")
        if len(set(mine)) != len(mine):
            raise ValueError(f"the list of {host} names a host twice")
    if source not in lists:
        raise ValueError(f"the source {source} has no list")
    if lists[source]:
        raise ValueError(f"the list of the source {source} must be empty")
    if pair := incomplete_pair(lists):
        raise ValueError(
            f"the lists are not jointly complete: neither of {pair[0]} and {pair[1]} is on the other's list"
        )
    if loop := cycle(lists):
        raise ValueError(f"the lists have a cycle: {' probes '.join(str(host) for host in (*loop, loop[0]))}")


def generic(order: Sequence[Host]) -> dict[Host, tuple[Host, ...]]:
    """GK 4.2's obvious construction, where nothing is known of the network: each host lists all that come after it.

    `order` begins with any host and ends with the source.
    """
    return {host: tuple(reversed(order[k + 1 :])) for k, host in enumerate(order)}


def assigned(members: Sequence[Host], source: Host, rows: Sequence[Sequence[Host]] | None) -> Lists[Host]:
    """Every member's list for a source, from rows in the order of the members, or else from the order alone.

    `ValueError` says what keeps them from serving.
    """
    if source not in members:
        raise ValueError(f"the source {source} is no member; members are {', '.join(map(str, members))}")
    if rows is None:
        at = members.index(source)
        return generic([*reversed([*members[at:], *members[:at]])])
    if len(rows) != len(members):
        raise ValueError(f"{len(members)} members want as many priority lists, not {len(rows)}")
    lists = dict(zip(members, rows, strict=True))
    check(lists, source)
    return lists


class Crowd(msgspec.Struct, frozen=True, kw_only=True):
    """The penalty for overloaded parents: what each child beyond `children` adds to a tree's cost (GK 5.1)."""

    children: int
    penalty: float


def sdf(
    distances: Distances[Host], source: Host, crowd: Crowd | None = None
) -> tuple[list[Host], dict[Host, tuple[Host, ...]]]:
    """Shortest Distance First (GK 5.1): (hosts in the order in which they got their lists, the lists).

    With a `crowd` rule a host is as far from a parent as the cost that attaching to it would add, counting the
    children that a tree of all hosts but the source has by then.
    """
    hosts = list(distances)
    place = {host: k for k, host in enumerate(hosts)}
    far = distances[source]
    queue = sorted(hosts, key=lambda host: (host == source, -far[host], -place[host]))
    children = dict.fromkeys(hosts, 0)
    lists: dict[Host, tuple[Host, ...]] = {}
    for k, host in enumerate(queue):
        near = distances[host]

        def price(other: Host, near: Mapping[Host, float] = near) -> float:
            crowded = crowd is not None and other != source and children[other] >= crowd.children
            return near[other] + (crowd.penalty if crowd and crowded else 0.0)

        mine = sorted(queue[k + 1 :], key=lambda other: (price(other), far[other], place[other]))
        lists[host] = tuple(mine)
        for parent in mine:
            if parent != source:
                children[parent] += 1
                break
    return queue, lists


def reorder(mine: Sequence[Host], cost: Mapping[Host, float]) -> tuple[Host, ...]:
    """Dynamic SDF (GK 5.1): the same hosts by what it costs to reach them now; equal ones stay in their order."""
    return tuple(sorted(mine, key=lambda host: cost.get(host, inf)))


def parents(lists: Lists[Host], group: Collection[Host]) -> dict[Host, Host | None]:
    """The coordinator tree of a group that lacks the source: each host's parent is the first of its list in the group.

    A host without a parent is a coordinator; there is exactly one in every group if the lists are complete and
    acyclic (Theorem 4.1).
    """
    inside = set(group)
    return {host: next((other for other in lists[host] if other in inside), None) for host in lists if host in inside}


def tree_cost(tree: Mapping[Host, Host | None], distances: Distances[Host], crowd: Crowd | None = None) -> float:
    """The sum of the distances between every child and its parent (GK 5.1), and what overloaded parents add."""
    cost = sum(distances[host][parent] for host, parent in tree.items() if parent is not None)
    if crowd is not None:
        attached = list(tree.values())
        for parent in tree:
            cost += crowd.penalty * max(0, attached.count(parent) - crowd.children)
    return cost


def minimum_tree_cost(group: Sequence[Host], distances: Distances[Host]) -> float:
    """The cost of the cheapest tree over a group, whatever the lists: the yardstick for SDF."""
    if not group:
        return 0.0
    near = {host: distances[group[0]][host] for host in group[1:]}
    cost = 0.0
    while near:
        host = min(near, key=lambda other: near[other])
        cost += near.pop(host)
        for other in near:
            near[other] = min(near[other], distances[host][other])
    return cost
