"""GK's worked examples (sections 4.2 and 5): Fig. 2.1, three assignments, the trees of Figs 4.1 and 5.1, two
counter-examples; and SDF beside the best lists there are, on small networks."""

from collections.abc import Mapping, Sequence
from itertools import combinations, permutations
from typing import Any

import msgspec

from ordercast.papers.paper import Claim, Drawing, Experiment, Findings, Line, Result, Table, Text
from ordercast.parts.priority_lists import (
    Lists,
    check,
    cycle,
    incomplete_pair,
    minimum_tree_cost,
    parents,
    reorder,
    sdf,
    tree_cost,
)
from ordercast.parts.topology import Link, Topology
from ordercast.sim.topologies import Family, Scattered

_ENDS = {
    "l1": "h1 s1",
    "l2": "s1 s3",
    "l3": "s1 s2",
    "l4": "s2 s3",
    "l5": "h2 s2",
    "l6": "s3 s4",
    "l7": "h3 s4",
    "l8": "s4 s5",
    "l9": "s4 s6",
    "l10": "h4 s5",
    "l11": "h5 s6",
}
HOSTS = ("h1", "h2", "h3", "h4", "h5")
SECTION_4_2: dict[str, tuple[str, ...]] = {
    "h1": (),
    "h2": ("h1",),
    "h3": ("h1", "h2"),
    "h4": ("h3", "h5", "h2", "h1"),
    "h5": ("h1", "h3", "h2"),
}
A: dict[str, tuple[str, ...]] = {
    "h1": (),
    "h2": ("h1",),
    "h3": ("h1", "h2"),
    "h4": ("h3", "h1", "h2"),
    "h5": ("h3", "h4", "h1", "h2"),
}
B: dict[str, tuple[str, ...]] = {
    "h1": (),
    "h2": ("h1", "h4", "h5"),
    "h3": ("h1", "h2", "h4", "h5"),
    "h4": ("h1", "h5"),
    "h5": ("h1",),
}
ASSIGNMENTS = {"4.2": SECTION_4_2, "A": A, "B": B}
SLOW = 10.0  # the cost of l6, the link of small bandwidth


def figure21(slow: float = SLOW) -> Topology:
    """Fig. 2.1 as the text describes it."""
    links = []
    for name, ends in _ENDS.items():
        a, b = ends.split()
        links.append(Link(name, a, b, cost=slow if name == "l6" else 1.0, bandwidth=10e6))
    return Topology(HOSTS, tuple(f"s{k}" for k in range(1, 7)), tuple(links))


class Figure21(Family, frozen=True, kw_only=True):
    """The same as a family of one."""

    slow: float = SLOW

    def topology(self) -> Topology:
        return figure21(self.slow)


def crossings(topology: Topology, tree: Mapping[str, str | None], failed: Sequence[str]) -> int:
    """How many of a tree's edges go over l6."""
    left = topology.without(failed)
    return sum(
        any(link.name == "l6" for link in left.route(host, parent))
        for host, parent in tree.items()
        if parent is not None
    )


def trees() -> list[tuple[str, tuple[str, ...], Mapping[str, str | None]]]:
    """(assignment, failed links, tree) of every example in sections 4.2 and 5."""
    failures: tuple[tuple[str, ...], ...] = (("l1",), ("l6",), ("l6", "l7"))
    return [
        (name, failed, parents(lists, group))
        for name, lists in ASSIGNMENTS.items()
        for failed in failures
        for group in figure21().without(failed).groups()
        if "h1" not in group
    ]


def _edges(tree: Mapping[str, str | None]) -> str:
    return ", ".join(f"{host}->{parent}" for host, parent in tree.items() if parent is not None) or "none"


def _root(tree: Mapping[str, str | None]) -> str:
    return ", ".join(host for host, parent in tree.items() if parent is None)


def examples(_: Sequence[Result]) -> Findings:
    topology = figure21()
    distances = topology.without(()).distances()
    lists = sdf(distances, "h1")[1]
    by = {(name, failed, tuple(tree)): tree for name, failed, tree in trees()}
    group = ("h2", "h3", "h4", "h5")
    fig41, of_a, of_b = (by[name, ("l1",), group] for name in ("4.2", "A", "B"))
    cut_off = by["4.2", ("l6", "l7"), ("h4", "h5")]
    lonely = {**SECTION_4_2, "h4": ("h3", "h2", "h1")}
    looped = {**SECTION_4_2, "h2": ("h1", "h4")}
    pair, loop = incomplete_pair(lonely), cycle(looped)
    alone, circle = parents(lonely, ("h4", "h5")), parents(looped, group)
    over = [crossings(topology, tree, ("l1",)) for tree in (of_a, of_b)]
    claims = [
        _claim("lists", "4.2", "The lists of 4.2 are jointly complete and acyclic.", _serves(SECTION_4_2), "checked"),
        _claim(
            "fig4.1",
            "4.2",
            "h5 and h4 become children of h3, h3 of h2; h2 is the coordinator.",
            dict(fig41) == {"h2": None, "h3": "h2", "h4": "h3", "h5": "h3"},
            _edges(fig41),
        ),
        _claim("split", "4.2", "Cut off from h3 and h2, h4 attaches to h5.", cut_off["h4"] == "h5", _edges(cut_off)),
        _claim(
            "incomplete",
            "4.2",
            "Without h5 on the list of h4 both remain on their own.",
            pair == ("h4", "h5") and set(alone.values()) == {None},
            f"neither of {pair} is on the other's list",
        ),
        _claim(
            "cycle",
            "4.2",
            "With h4 on the list of h2 every host thinks somebody else is the coordinator.",
            loop is not None and None not in circle.values(),
            f"cycle {loop}",
        ),
        _claim("sdf-a", "5.1", "SDF can produce assignment A.", lists == A, str(dict(lists))),
        _claim("fig5.1", "5", "A gives the tree of Fig. 4.1.", of_a == fig41, _edges(of_a)),
        _claim(
            "crossings",
            "5",
            "B's tree goes over the expensive link twice, A's once.",
            over == [1, 2],
            f"A {over[0]}, B {over[1]}; costs {tree_cost(of_a, distances):g} and {tree_cost(of_b, distances):g}",
        ),
        _claim(
            "closer",
            "5",
            "A's coordinator is much closer to the source than B's.",
            distances["h1"][_root(of_a)] < distances["h1"][_root(of_b)],
            f"{_root(of_a)} at {distances['h1'][_root(of_a)]:g}, {_root(of_b)} at {distances['h1'][_root(of_b)]:g}",
        ),
    ]
    columns = ("assignment", "failed", "coordinator", "edges", "cost", "edges over l6")
    rows = [
        (
            name,
            "+".join(failed),
            _root(tree),
            _edges(tree),
            tree_cost(tree, distances),
            crossings(topology, tree, failed),
        )
        for name, failed, tree in trees()
    ]
    table = Table(name="trees", title="Coordinator trees in Fig. 2.1 (l6 costs 10)", columns=columns, rows=rows)
    said = [(host, *(" ".join(lists[host]) or "-" for lists in ASSIGNMENTS.values())) for host in HOSTS]
    lists_table = Table(name="lists", title="Priority lists", columns=("host", "of 4.2", "A", "B"), rows=said)
    figures = [draw_network(), draw("fig4.1", fig41), draw("fig5.1", of_b)]
    return Findings(claims=claims, tables=[lists_table, table], figures=figures)


def _serves(lists: Lists[str]) -> bool:
    try:
        check(lists, "h1")
    except ValueError:
        return False
    return True


def _claim(name: str, section: str, text: str, holds: bool | None, measured: str) -> Claim:
    return Claim(id=f"GK.{name}", text=text, section=section, holds=holds, measured=measured)


_AT = {
    "h1": (0.6, 3.0),
    "s1": (1.8, 3.0),
    "s2": (2.6, 1.6),
    "h2": (2.6, 0.4),
    "s3": (3.6, 3.0),
    "s4": (5.4, 3.0),
    "h3": (5.4, 1.6),
    "s5": (6.6, 2.2),
    "h4": (7.8, 2.2),
    "s6": (6.6, 3.8),
    "h5": (7.8, 3.8),
}


def draw_network() -> Drawing:
    """Fig. 2.1: hosts in plain letters, switches in circles, l6 dashed."""
    marks: list[Line | Text] = []
    for name, ends in _ENDS.items():
        (ax, ay), (bx, by) = (_AT[site] for site in ends.split())
        marks.append(Line(start=(ax, ay), end=(bx, by), dashed=name == "l6"))
        marks.append(Text(at=((ax + bx) / 2 + 0.12, (ay + by) / 2 - 0.12), text=name))
    marks += [Text(at=at, text=site, circled=site.startswith("s")) for site, at in _AT.items()]
    return Drawing(name="fig2.1", title="Figure 2.1: an example network", marks=marks)


def draw(name: str, tree: Mapping[str, str | None]) -> Drawing:
    """A coordinator tree, its root at the top."""
    levels: list[list[str]] = [[host for host, parent in tree.items() if parent is None]]
    while below := [host for host, parent in tree.items() if parent in levels[-1]]:
        levels.append(below)
    at = {
        host: (4.0 * (place + 0.5) / len(level), 1.0 + 1.5 * depth)
        for depth, level in enumerate(levels)
        for place, host in enumerate(level)
    }
    lines = [Line(start=at[host], end=at[parent], arrow=True) for host, parent in tree.items() if parent is not None]
    texts = [Text(at=place, text=host, circled=True) for host, place in at.items()]
    figure = "Figure " + name.removeprefix("fig")
    return Drawing(name=name, title=f"{figure}: the coordinator tree without the source", marks=[*lines, *texts])


# ------------------------------------------------------------------------------------ SDF and the best lists


class Small(msgspec.Struct, frozen=True, kw_only=True):
    """A small random network."""

    hosts: int
    seed: int


def networks(quick: bool) -> list[Small]:
    return [Small(hosts=hosts, seed=seed) for hosts in (4, 5, 6) for seed in range(5 if quick else 30)]


def beside_the_best(point: Small) -> Mapping[str, Any]:
    """Tree costs summed over all groups without the source that one or two failed links make.

    For a given order of the hosts the best list is by distance, so the best lists are the best of all orders.
    """
    topology = Scattered(hosts=point.hosts, switches=5, more=2, seed=point.seed).topology()
    distances = topology.without(()).distances()
    source = topology.hosts[0]
    names = [link.name for link in topology.links]
    queue, lists = sdf(distances, source)
    groups = []
    static = dynamic = 0.0
    for failed in [*combinations(names, 1), *combinations(names, 2)]:
        left = topology.without(failed)
        here = [group for group in left.groups() if source not in group and len(group) > 1]
        now = left.distances() if here else distances
        reordered = {host: reorder(mine, now[host]) for host, mine in lists.items()}
        static += sum(tree_cost(parents(lists, group), now) for group in here)
        dynamic += sum(tree_cost(parents(reordered, group), now) for group in here)
        groups += here
    closest = all(
        distances[source][_root(parents(lists, group))] == min(distances[source][host] for host in group)
        for group in groups
    )
    others = [host for host in queue if host != source]
    orders = {order: _cost(order, groups, distances) for order in permutations(others)}
    return {
        "groups": len(groups),
        "sdf": sum(tree_cost(parents(lists, group), distances) for group in groups),
        "best": min(orders.values()),
        "worst": max(orders.values()),
        "minimum": sum(minimum_tree_cost(group, distances) for group in groups),
        "closest": closest,
        "static": static,
        "dynamic": dynamic,
    }


def _cost(order: Sequence[str], groups: Sequence[Sequence[str]], distances: Mapping[str, Mapping[str, float]]) -> float:
    rank = {host: k for k, host in enumerate(order)}
    total = 0.0
    for group in groups:
        for host in group:
            above = [distances[host][other] for other in group if rank[other] > rank[host]]
            total += min(above, default=0.0)
    return total


def optimality(results: Sequence[Result]) -> Findings:
    names = ("sdf", "best", "worst", "minimum", "static", "dynamic")
    sums = {name: sum(result.values[name] for result in results) for name in names}
    ratios = [result.values["sdf"] / result.values["best"] for result in results if result.values["best"]]
    if not ratios:
        return Findings()
    worst = sums["worst"] / sums["best"]
    suboptimal = sum(ratio > 1 + 1e-9 for ratio in ratios)
    rows = []
    for hosts in sorted({result.point.hosts for result in results}):
        here = [result.values for result in results if result.point.hosts == hosts]
        costs = [sum(values[name] for values in here) for name in ("sdf", "best", "worst", "minimum")]
        rows.append((hosts, len(here), sum(values["groups"] for values in here), *costs))
    claims = [
        _claim(
            "sdf-good",
            "5.1",
            "SDF exhibits good, although suboptimal, behavior (read as within 10 % of the best lists).",
            sums["sdf"] <= 1.1 * sums["best"],
            f"{sums['sdf'] / sums['best']:.4f} of the best lists' cost in all, {max(ratios):.3f} at most; the best "
            f"in {len(ratios) - suboptimal} of {len(ratios)} networks; the worst lists have {worst:.3f} of it",
        ),
        _claim(
            "sdf-coordinator",
            "5.1",
            "The coordinator is always the closest host to the source in its partition.",
            all(result.values["closest"] for result in results),
            f"in every group of {len(results)} networks",
        ),
    ]
    claims.append(
        _claim(
            "sdf-dynamic",
            "5.1",
            "Where distances change, static lists cannot be optimal: lists in the order of the costs of now cost less.",
            sums["dynamic"] < sums["static"],
            f"{sums['dynamic']:g} against {sums['static']:g}, over the links that are left",
        )
    )
    columns = ("hosts", "networks", "groups", "SDF", "best lists", "worst lists", "minimum trees")
    table = Table(name="sdf", title="Cost of coordinator trees, summed over groups", columns=columns, rows=rows)
    return Findings(claims=claims, tables=[table])


EXAMPLES = Experiment("trees", "Figs 2.1, 4.1, 5.1 and the counter-examples", "4.2, 5", findings=examples)
SDF = Experiment("sdf", "SDF and the best lists on small networks", "5.1", networks, beside_the_best, optimality)
