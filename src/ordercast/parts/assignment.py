"""What priority lists come to on a topology: the lists, their check, and the coordinator tree of each group.

A topology's own lists hold for its own source; for any other, and without lists, SDF makes them.
"""

from collections.abc import Mapping, Sequence

import msgspec

from ordercast.core import Pid
from ordercast.parts import priority_lists
from ordercast.parts.priority_lists import Crowd
from ordercast.parts.topology import Topology


class GroupTree(msgspec.Struct, frozen=True):
    """A group of hosts that can reach one another.  With the source in it there is no tree."""

    hosts: tuple[str, ...]
    has_source: bool
    parents: Mapping[str, str | None] = {}
    coordinators: tuple[str, ...] = ()  # exactly one if the lists serve
    cost: float = 0.0  # of the tree, over the links that are left
    cost_unfailed: float = 0.0  # the same tree's, if nothing had failed
    minimum_cost: float = 0.0  # of any tree over these hosts, over the links that are left


class Survey(msgspec.Struct, frozen=True):
    """Everything that `ordercast lists` prints."""

    source: str
    computed: bool  # by SDF; else the topology's own
    lists: Mapping[str, Sequence[str]]
    distances: Mapping[str, Mapping[str, float | None]]  # over the links that are left; none: no path
    failed: tuple[str, ...]
    groups: tuple[GroupTree, ...]
    wrong: str = ""  # what keeps the lists from serving: the offending host, pair or cycle


def lists_of(topology: Topology, source: str, crowd: Crowd | None = None) -> Mapping[str, Sequence[str]]:
    """The priority lists for one source."""
    if topology.lists is not None and source == topology.origin() and crowd is None:
        return topology.lists
    return priority_lists.sdf(topology.without(()).distances(), source, crowd)[1]


def members_lists(topology: Topology, *sources: str) -> tuple[tuple[tuple[Pid, ...], ...], ...]:
    """The same for each source, as the protocol's parameter `lists` wants them: members instead of names."""
    place = {host: k for k, host in enumerate(topology.hosts)}
    out = []
    for source in sources:
        lists = lists_of(topology, source)
        out.append(tuple(tuple(place[other] for other in lists[host]) for host in topology.hosts))
    return tuple(out)


def survey(
    topology: Topology, source: str | None = None, failed: Sequence[str] = (), crowd: Crowd | None = None
) -> Survey:
    """The lists for a source, and the tree that each group makes of them when these links and sites have failed."""
    origin = topology.origin(source)
    lists = lists_of(topology, origin, crowd)
    left = topology.without(failed)
    distances, unfailed = left.distances(), topology.without(()).distances()
    wrong = ""
    try:
        priority_lists.check(lists, origin)
    except ValueError as error:
        wrong = str(error)
    groups = []
    for group in left.groups():
        if origin in group:
            groups.append(GroupTree(group, True))
            continue
        tree = priority_lists.parents(lists, group)
        groups.append(
            GroupTree(
                group,
                False,
                tree,
                tuple(host for host in group if tree[host] is None),
                priority_lists.tree_cost(tree, distances, crowd),
                priority_lists.tree_cost(tree, unfailed, crowd),
                priority_lists.minimum_tree_cost(group, distances),
            )
        )
    finite = {a: {b: None if d == float("inf") else d for b, d in row.items()} for a, row in distances.items()}
    computed = lists is not topology.lists
    return Survey(origin, computed, lists, finite, tuple(failed), tuple(groups), wrong)
