"""Hosts, switches and the links between them (GK 2.2), with shortest paths over what is left when some have failed.

Switches only forward, hosts never do: a path goes from host to host through switches.  Every host hangs on one switch,
its server.  Among paths of equal cost the one found first, in the order of the file, is taken, everywhere alike.
"""

from collections.abc import Collection, Iterable, Mapping
from heapq import heappop, heappush
from math import inf

import msgspec


class Link(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A two-way link between two sites."""

    name: str
    a: str
    b: str
    cost: float = 1.0
    bandwidth: float | None = None  # bits per second, each way; none: a frame takes no time but the delay
    delay: float = 0.001  # seconds
    loss: float = 0.0  # probability that it loses a frame

    def __post_init__(self) -> None:
        if not (self.cost > 0 and self.delay >= 0 and 0 <= self.loss <= 1):
            raise ValueError(f"link {self.name}: cost is above 0, delay at least 0, loss between 0 and 1")
        if self.bandwidth is not None and not self.bandwidth > 0:
            raise ValueError(f"link {self.name}: bandwidth is above 0")


class Topology(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A network.  Its hosts, in this order, are the members 0, 1, 2 … of a group."""

    hosts: tuple[str, ...]
    switches: tuple[str, ...]
    links: tuple[Link, ...]
    source: str = ""  # the host that broadcasts, unless a caller names another; empty: the first
    lists: Mapping[str, tuple[str, ...]] | None = None  # priority lists for that source, instead of computed ones

    def __post_init__(self) -> None:
        sites = [*self.hosts, *self.switches]
        names = [*sites, *(link.name for link in self.links)]
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"two things are called {twice!r}")
        if not self.hosts:
            raise ValueError("a topology has at least one host")
        hosts, known = set(self.hosts), set(sites)
        served: dict[str, int] = dict.fromkeys(self.hosts, 0)
        for link in self.links:
            for site in (link.a, link.b):
                if site not in known:
                    raise ValueError(f"link {link.name} ends at {site!r}, which is neither a host nor a switch")
                if site in hosts:
                    served[site] += 1
            if link.a in hosts and link.b in hosts:
                raise ValueError(f"link {link.name} joins two hosts: a host hangs on a switch, its server")
        for host, count in served.items():
            if count != 1:
                raise ValueError(f"host {host} has {count} links: a host hangs on one switch, its server")
        if self.source and self.source not in hosts:
            raise ValueError(f"the source {self.source!r} is no host")
        if self.lists is not None and set(self.lists) != hosts:
            raise ValueError("where lists are given, every host has one, and nobody else")

    def origin(self, source: str | None = None) -> str:
        """The name of the host that broadcasts; `ValueError` if it is none."""
        name = source or self.source or self.hosts[0]
        if name not in self.hosts:
            raise ValueError(f"{name!r} is no host of this topology; there are: {', '.join(self.hosts)}")
        return name

    def without(self, failed: Iterable[str]) -> "Paths":
        """The paths that are left when these links and sites have failed; `ValueError` names what there is not."""
        down = set(failed)
        unknown = down - {*self.hosts, *self.switches, *(link.name for link in self.links)}
        if unknown:
            raise ValueError(f"no link or site is called {min(unknown)!r}")
        return Paths(self, down)


class Paths:
    """Shortest paths over the links and sites that are up.  Tables are made when they are asked for, and kept."""

    def __init__(self, topology: Topology, down: Collection[str] = ()) -> None:
        self.topology = topology
        self._forwards = set(topology.switches) - set(down)
        self._near: dict[str, list[tuple[str, Link]]] = {site: [] for site in (*topology.hosts, *topology.switches)}
        for link in topology.links:
            if link.name not in down and link.a not in down and link.b not in down:
                self._near[link.a].append((link.b, link))
                self._near[link.b].append((link.a, link))
        self._tables: dict[str, tuple[dict[str, float], dict[str, tuple[str, Link]]]] = {}

    def table(self, start: str) -> tuple[dict[str, float], dict[str, tuple[str, Link]]]:
        """From a site: (distance of each site that can be reached, the first hop on the way there)."""
        if start not in self._tables:
            self._tables[start] = self._search(start)
        return self._tables[start]

    def _search(self, start: str) -> tuple[dict[str, float], dict[str, tuple[str, Link]]]:
        distance: dict[str, float] = {start: 0.0}
        hop: dict[str, tuple[str, Link]] = {}
        settled: set[str] = set()
        queue: list[tuple[float, int, str]] = [(0.0, 0, start)]
        tick = 0
        while queue:
            so_far, _, site = heappop(queue)
            if site in settled:
                continue
            settled.add(site)
            if site != start and site not in self._forwards:
                continue
            for other, link in self._near[site]:
                further = so_far + link.cost
                if further < distance.get(other, inf):
                    distance[other] = further
                    hop[other] = hop[site] if site != start else (other, link)
                    tick += 1
                    heappush(queue, (further, tick, other))
        return distance, hop

    def distance(self, a: str, b: str) -> float:
        """The sum of the costs on the shortest path between two sites (GK 5.1); infinite: there is none."""
        return self.table(a)[0].get(b, inf)

    def distances(self) -> dict[str, dict[str, float]]:
        """Between all hosts."""
        hosts = self.topology.hosts
        return {a: {b: self.distance(a, b) for b in hosts} for a in hosts}

    def route(self, a: str, b: str) -> list[Link]:
        """The links of the shortest path between two sites; `ValueError`: there is none."""
        links: list[Link] = []
        site = a
        while site != b:
            hop = self.table(site)[1].get(b)
            if hop is None:
                raise ValueError(f"no path leads from {a} to {b}")
            site = hop[0]
            links.append(hop[1])
        return links

    def multicast(self, a: str, to: Iterable[str]) -> list[Link]:
        """The links that one multicast crosses, each once: copies are made as late as the shortest paths allow.

        Hosts that cannot be reached get none.
        """
        crossed: dict[str, Link] = {}
        for b in to:
            if self.distance(a, b) < inf:
                for link in self.route(a, b):
                    crossed.setdefault(link.name, link)
        return list(crossed.values())

    def groups(self) -> list[tuple[str, ...]]:
        """The hosts that can reach one another, group by group."""
        left, out = list(self.topology.hosts), []
        while left:
            reach = self.table(left[0])[0]
            out.append(tuple(host for host in left if host in reach))
            left = [host for host in left if host not in reach]
        return out


def decode(text: str, suffix: str) -> Topology:
    """A topology from the text of a TOML or JSON file (by its suffix); `ValueError` says what is wrong with it."""
    if suffix not in (".toml", ".json"):
        raise ValueError(f"a topology is a .toml or .json file, not {suffix or 'one without a suffix'!r}")
    try:
        if suffix == ".toml":
            return msgspec.toml.decode(text, type=Topology)
        return msgspec.json.decode(text, type=Topology)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise ValueError(f"not a topology: {error}") from None
