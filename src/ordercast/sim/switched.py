"""A network of hosts, switches and links (GK 2.2): the k-th host of its topology is member k.

Unicast and multicast follow the shortest paths of the moment, hop by hop.  A multicast is copied where the paths to its
receivers part, not before, and promises nothing: a frame is lost on a link that fails while it waits or travels there,
where no path leads on, or by a link's own loss.  Links have a queue in each direction and count what they carry.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ordercast.core import Message, Pid
from ordercast.parts.topology import Link, Topology
from ordercast.sim.channel import Channel, Network

if TYPE_CHECKING:
    from ordercast.sim.member import Member
    from ordercast.sim.simulation import Simulation

Frame: TypeAlias = tuple["Member", Message, int, Any]  # who sent it, what, its size, the recorder's stamp


class Switched(Network, frozen=True, kw_only=True):
    """Hosts, switches and links that fail and return (`faults.Down`)."""

    topology: Topology

    def channel(self, simulation: "Simulation") -> Channel:
        hosts, members = len(self.topology.hosts), simulation.run.members
        if hosts != members:
            raise ValueError(f"the topology has {hosts} hosts and the run {members} members: they must be as many")
        return SwitchedChannel(self.topology, simulation)


class Way:
    """One direction of a link."""

    __slots__ = (
        "control",
        "end",
        "failures",
        "free",
        "link",
        "longest_wait",
        "payload",
        "seconds_per_byte",
        "size_bytes",
    )

    def __init__(self, link: Link, end: str) -> None:
        self.link, self.end = link, end
        self.seconds_per_byte = 8.0 / link.bandwidth if link.bandwidth else 0.0
        self.free = 0.0  # when it can take the next frame
        self.failures = 0  # of the link or of a site at its ends: what was on it then is lost
        self.payload = self.control = self.size_bytes = 0  # frames and bytes that it was given
        self.longest_wait = 0.0


class SwitchedChannel:
    point_to_point = False

    def __init__(self, topology: Topology, simulation: "Simulation") -> None:
        self.topology, self.simulation = topology, simulation
        self.random = simulation.stream("links").random
        self.down: dict[str, int] = {}  # link or site -> failures that last
        self.ways = {(link.name, end): Way(link, end) for link in topology.links for end in (link.a, link.b)}
        self.switches = frozenset(topology.switches)
        self.reroute()

    def reroute(self) -> None:
        self.paths = self.topology.without(self.down)
        # (site, receivers) -> (the ways on and whom each leads to, whom none leads to)
        self.forks: dict[tuple[str, tuple[Pid, ...]], tuple[list[tuple[Way, tuple[Pid, ...]]], list[Pid]]] = {}

    def host(self, pid: Pid) -> str:
        return self.topology.hosts[self.simulation.by_pid[pid].home]

    def cost(self, src: "Member", to: "Member") -> float:
        """The communication distance now; infinite: there is no path."""
        return self.paths.distance(self.topology.hosts[src.home], self.topology.hosts[to.home])

    # ------------------------------------------------------------------ what fails and returns

    def check(self, what: str) -> None:
        self.topology.without([what])

    def fail(self, what: str, *_: Any) -> None:
        self.down[what] = self.down.get(what, 0) + 1
        for way in self.ways.values():
            if what in (way.link.name, way.link.a, way.link.b):
                way.failures += 1
                way.free = 0.0
        self.reroute()

    def restore(self, what: str, *_: Any) -> None:
        self.down[what] -= 1
        if not self.down[what]:
            del self.down[what]
        self.reroute()

    # ------------------------------------------------------------------ frames

    def transmit(self, src: "Member", to: Sequence["Member"], message: Message, size: int, stamp: Any) -> None:
        simulation = self.simulation
        if src in to:
            simulation.schedule(simulation.now, src.arrive, src.pid, message, stamp)
        others = tuple(member.pid for member in to if member is not src)
        if others:
            self.forward(self.topology.hosts[src.home], others, (src, message, size, stamp))
        if src.composes_late:
            simulation.schedule(simulation.now, src.cleared)

    def forward(self, site: str, to: tuple[Pid, ...], frame: Frame) -> None:
        fork = self.forks.get((site, to))
        if fork is None:
            fork = self.forks[site, to] = self.fork(site, to)
        onward, cut_off = fork
        for pid in cut_off:
            self.lose("partition", pid, frame)
        simulation, (_, message, size, _) = self.simulation, frame
        now = simulation.now
        for way, there in onward:
            begin = way.free if way.free > now else now
            way.free = end = begin + size * way.seconds_per_byte
            way.longest_wait = max(way.longest_wait, begin - now)
            if message.carries == "payload":
                way.payload += 1
            else:
                way.control += 1
            way.size_bytes += size
            simulation.schedule(end + way.link.delay, self.cross, (way, way.failures), there, frame)

    def fork(self, site: str, to: tuple[Pid, ...]) -> tuple[list[tuple[Way, tuple[Pid, ...]]], list[Pid]]:
        hops = self.paths.table(site)[1]
        onward: dict[tuple[str, str], list[Pid]] = {}
        cut_off: list[Pid] = []
        for pid in to:
            hop = hops.get(self.host(pid))
            if hop is None:
                cut_off.append(pid)
            else:
                onward.setdefault((hop[1].name, hop[0]), []).append(pid)
        return [(self.ways[name], tuple(there)) for name, there in onward.items()], cut_off

    def cross(self, on: tuple[Way, int], to: tuple[Pid, ...], frame: Frame) -> None:
        way, failures = on
        if way.failures != failures:
            for pid in to:
                self.lose("partition", pid, frame)
        elif way.link.loss and self.random() < way.link.loss:
            for pid in to:
                self.lose("loss", pid, frame)
        elif way.end in self.switches:
            self.forward(way.end, to, frame)
        else:
            src, message, _, stamp = frame
            member = self.simulation.by_pid[to[0]]
            if self.simulation.links:
                self.simulation.spread(src, (member,), message, stamp)
            else:
                member.arrive(src.pid, message, stamp)

    def lose(self, reason: str, pid: Pid, frame: Frame) -> None:
        self.simulation.meet(reason)
        self.simulation.by_pid[pid].dropped(reason, frame[3])

    # ------------------------------------------------------------------ what it came to

    def facts(self) -> dict[str, Any]:
        """What each link carried, both ways together, and the longest wait for it."""
        links: dict[str, dict[str, float]] = {}
        for link in self.topology.links:
            both = [self.ways[link.name, end] for end in (link.a, link.b)]
            links[link.name] = {
                "payload": sum(way.payload for way in both),
                "control": sum(way.control for way in both),
                "bytes": sum(way.size_bytes for way in both),
                "longest_wait_s": max(way.longest_wait for way in both),
            }
        return {"links": links}
