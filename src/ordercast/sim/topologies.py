"""Generated families of networks for GK's protocol: each a value that makes a topology, and failures where it has some.

The first host is the source.  Costs are what a path is chosen by: high where the bandwidth is low.
"""

from collections.abc import Sequence
from typing import TypeAlias

import msgspec

from ordercast.parts.topology import Link, Topology
from ordercast.sim.faults import Down
from ordercast.sim.streams import stream

LAN_BANDWIDTH, WAN_BANDWIDTH = 10e6, 64e3  # bits per second, of the paper's days
_LAN_DELAY, _WAN_DELAY = 0.0005, 0.02


class Family(msgspec.Struct, frozen=True, kw_only=True, tag=str.lower, tag_field="kind", forbid_unknown_fields=True):
    """Base of all families."""

    def topology(self) -> Topology:
        raise NotImplementedError  # abstract

    def failures(self, until: float) -> Sequence[Down]:
        """What fails by the family's own nature, up to a time."""
        return ()


class LanOfLans(Family, frozen=True, kw_only=True):
    """A backbone switch, and on it `lans` switches with `hosts` hosts each."""

    lans: int = 3
    hosts: int = 4

    def topology(self) -> Topology:
        switches = [f"s{k}" for k in range(self.lans)]
        links = [
            Link(f"b{k}", "backbone", switch, cost=5, bandwidth=LAN_BANDWIDTH / 5, delay=_LAN_DELAY)
            for k, switch in enumerate(switches)
        ]
        hosts = _hosts(self.lans * self.hosts)
        links += _attach(hosts, [switches[k // self.hosts] for k in range(len(hosts))])
        return Topology(tuple(hosts), ("backbone", *switches), tuple(links))


class TwoSites(Family, frozen=True, kw_only=True):
    """Two LANs of `near` and `far` hosts and one slow link, `slow`, between their switches; the source is near."""

    near: int = 5
    far: int = 5
    bandwidth: float = WAN_BANDWIDTH
    cost: float = 10.0
    loss: float = 0.0  # on every host's own link

    def topology(self) -> Topology:
        hosts = _hosts(self.near + self.far)
        slow = Link("slow", "here", "there", cost=self.cost, bandwidth=self.bandwidth, delay=_WAN_DELAY)
        links = _attach(hosts, ["here"] * self.near + ["there"] * self.far, self.loss)
        return Topology(tuple(hosts), ("here", "there"), (slow, *links))


class Satellite(Family, frozen=True, kw_only=True):
    """`stations` LANs of `hosts` hosts, linked only through a satellite that each sees for `window` of every `orbit`
    seconds, one station after another; two neighbours see it together for a while."""

    stations: int = 3
    hosts: int = 3
    orbit: float = 30.0
    window: float = 15.0

    def topology(self) -> Topology:
        switches = [f"s{k}" for k in range(self.stations)]
        up = [
            Link(f"up{k}", switch, "satellite", cost=20, bandwidth=WAN_BANDWIDTH, delay=0.12)
            for k, switch in enumerate(switches)
        ]
        hosts = _hosts(self.stations * self.hosts)
        links = _attach(hosts, [switches[k // self.hosts] for k in range(len(hosts))])
        return Topology(tuple(hosts), (*switches, "satellite"), (*up, *links))

    def failures(self, until: float) -> Sequence[Down]:
        """Each link to the satellite is down but for its windows; after `until` all stay up."""
        out = []
        for k in range(self.stations):
            end = -self.orbit + self.orbit * k / self.stations + self.window  # of the window before the first
            while end < until:
                begin, back = max(end, 0.0), min(end + self.orbit - self.window, until)
                if back > begin:
                    out.append(Down(what=f"up{k}", begin=begin, end=back))
                end += self.orbit
        return out


class Scattered(Family, frozen=True, kw_only=True):
    """A random network: a random tree of switches with `more` further links, and hosts on random switches."""

    hosts: int = 8
    switches: int = 6
    more: int = 3
    loss: float = 0.0
    seed: int = 0

    def topology(self) -> Topology:
        random = stream(self.seed, "topology")
        switches = [f"s{k}" for k in range(self.switches)]
        joined = [(switches[random.randrange(k)], switches[k]) for k in range(1, self.switches)]
        pairs = [(a, b) for i, a in enumerate(switches) for b in switches[i + 1 :] if (a, b) not in joined]
        joined += random.sample(pairs, min(self.more, len(pairs)))
        links = [
            Link(f"l{k}", a, b, cost=random.randint(1, 10), bandwidth=1e6, delay=0.002, loss=self.loss)
            for k, (a, b) in enumerate(joined)
        ]
        hosts = _hosts(self.hosts)
        links += _attach(hosts, [random.choice(switches) for _ in hosts], self.loss)
        return Topology(tuple(hosts), tuple(switches), tuple(links))


class Halves(Family, frozen=True, kw_only=True):
    """Two random networks and one link, `slow`, between them; the source is in the first."""

    hosts: int = 200
    switches: int = 60
    bandwidth: float = 1e6
    seed: int = 0

    def topology(self) -> Topology:
        links = [Link("slow", "a-s0", "b-s0", cost=20, bandwidth=self.bandwidth, delay=_WAN_DELAY)]
        hosts: list[str] = []
        switches: list[str] = []
        for k, half in enumerate("ab"):
            part = Scattered(
                hosts=self.hosts // 2, switches=self.switches // 2, more=self.switches // 6, seed=2 * self.seed + k
            ).topology()
            hosts += [f"{half}-{host}" for host in part.hosts]
            switches += [f"{half}-{switch}" for switch in part.switches]
            links += [
                msgspec.structs.replace(link, **{end: f"{half}-{getattr(link, end)}" for end in ("name", "a", "b")})
                for link in part.links
            ]
        return Topology(tuple(hosts), tuple(switches), tuple(links))


AnyFamily: TypeAlias = LanOfLans | TwoSites | Satellite | Scattered | Halves


def _hosts(count: int) -> list[str]:
    return [f"h{k}" for k in range(count)]


def _attach(hosts: Sequence[str], servers: Sequence[str], loss: float = 0.0) -> list[Link]:
    """Each host to its server, by a link called after the host."""
    return [
        Link(f"to-{host}", host, server, cost=1, bandwidth=LAN_BANDWIDTH, delay=_LAN_DELAY, loss=loss)
        for host, server in zip(hosts, servers, strict=True)
    ]
