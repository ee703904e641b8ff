"""Runs of GK's protocols over switched networks, driven past their end so that one can look at the hosts afterwards."""

from random import Random

from ordercast.parts.assignment import members_lists
from ordercast.protocols.tree import Tree
from ordercast.sim import Run, Simulation, faults, networks, workloads
from ordercast.sim.member import DEAD
from ordercast.sim.topologies import Scattered
from ordercast.trace import Recorder


def script(*lines):
    """Broadcasts: (time, member)."""
    return workloads.Script(lines=tuple((time, member, None, None) for time, member in lines))


def make(topology, lines, *failures, kind=Tree, record=False, seed=0, **parameters):
    """A simulation, begun."""
    sources = tuple(sorted({member for _, member in lines})) or (0,)
    if kind.name == "tree":
        parameters = {
            "sources": sources,
            "lists": members_lists(topology, *(topology.hosts[source] for source in sources)),
            **parameters,
        }
    run = Run(
        protocol=kind.name,
        members=len(topology.hosts),
        messages=max(1, len(lines)),
        network=networks.Switched(topology=topology),
        workload=script(*lines),
        faults=failures,
        parameters=parameters,
        seed=seed,
    )
    simulation = Simulation(kind, run, Recorder() if record else None)
    simulation.begin()
    return simulation


def drive(simulation, until):
    """Go on to a time, whatever phase the run is in."""
    simulation.advance(until)
    return simulation


def alive(simulation):
    return {pid: member.process for pid, member in simulation.by_pid.items() if member.state != DEAD}


def groups(simulation):
    """The live hosts that can reach one another now."""
    place = {host: k for k, host in enumerate(simulation.channel.topology.hosts)}
    live = alive(simulation)
    for group in simulation.channel.paths.groups():
        here = [place[host] for host in group if place[host] in live]
        if here:
            yield here


class Schedule:
    """A random schedule: flapping links, losses, outages, crashes and returns, a stable partition, and peace."""

    def __init__(self, seed):
        random = Random(f"schedule {seed}")
        self.hosts, self.seed = random.randint(3, 9), seed
        self.sources = tuple(sorted(random.sample(range(self.hosts), random.choice((1, 1, 2)))))
        self.loss = random.choice((0, 0, 0.02, 0.05))  # on every link
        switches, more = random.randint(1, 6), random.randint(0, 3)
        self.topology = Scattered(hosts=self.hosts, switches=switches, more=more, loss=self.loss, seed=seed).topology()
        self.parameters = {
            "gather": random.choice((0.0, 0.02)),
            "fifo": random.random() < 0.3,
            "dynamic": random.random() < 0.3,
        }
        self.trouble, self.stable, self.end = 12.0, 60.0, 90.0
        self.lines = sorted(
            (round(random.uniform(0, self.stable - 15), 3), random.choice(self.sources))
            for _ in range(random.randint(5, 60))
        )
        self.faults = []
        links = [link.name for link in self.topology.links]
        for _ in range(random.randint(0, 12)):
            begin = round(random.uniform(0, self.trouble), 3)
            end = round(min(self.trouble, begin + random.choice((0.05, 0.5, 3, 12))), 3)
            self.faults.append(faults.Down(what=random.choice(links), begin=begin, end=end))
        others = [host for host in range(self.hosts) if host not in self.sources]
        random.shuffle(others)
        for host in others[: random.randint(0, 2)]:
            at = round(random.uniform(0, self.trouble), 3)
            self.faults.append(faults.Crash(member=host, at=at))
            if random.random() < 0.7:
                self.faults.append(faults.Restart(member=host, at=round(at + random.uniform(0.1, 5), 3)))
        for host in others[2 : 2 + random.randint(0, 2)]:
            begin = round(random.uniform(0, self.trouble), 3)
            self.faults.append(faults.Outage(member=host, begin=begin, end=begin + random.choice((0.5, 4))))
        if self.hosts > 3 and random.random() < 0.3:
            at = round(random.uniform(2, self.trouble), 3)
            self.faults.append(faults.Crash(member=self.sources[-1], at=at))
            if random.random() < 0.5:
                self.faults.append(faults.Restart(member=self.sources[-1], at=round(at + random.uniform(0.1, 5), 3)))
        for name in random.sample(links, min(len(links), random.randint(1, 3))):
            self.faults.append(faults.Down(what=name, begin=self.trouble + 5, end=self.stable))

    def begin(self, kind=Tree, record=False, **more):
        return make(
            self.topology,
            self.lines,
            *self.faults,
            kind=kind,
            record=record,
            seed=self.seed,
            **{**self.parameters, **more},
        )


def streams_of(processes):
    """Every stream that somebody knows: its key, and host -> what that one knows of it."""
    for key in dict.fromkeys(key for process in processes.values() for key in process.streams):
        yield key, {pid: process.streams[key] for pid, process in processes.items() if key in process.streams}


def wrong_at_the_end(simulation):
    """What is not as GK promises once all is connected and quiet; empty: all is well."""
    out = []
    live = alive(simulation)
    for key, streams in streams_of(live):
        if any(stream.own for stream in streams.values()):
            source = next(iter(streams.values())).source
            asked, known = len(simulation.by_pid[source].payloads), streams[source].history.end
            if asked != known:
                out.append(f"source {key} was asked to broadcast {asked}, and did {known}")
            out += [f"host {pid} does not know the stream {key}" for pid in live if pid not in streams and asked]
            out += [f"of {key}, host {pid} lacks something" for pid, each in streams.items() if each.history.lacks()]
            out += [
                f"host {pid} has not returned to NIL in the stream of {key}"
                for pid, stream in streams.items()
                if pid != source and stream.coord is not None
            ]
        held = {stream.history.received for stream in streams.values()}
        if len(held) > 1:
            out.append(f"of {key}, hosts have {sorted(held)}")
    return out


def wrong_in_a_stable_partition(simulation):
    """What is not as GK promises in groups without the source that nothing has disturbed for a while."""
    out = []
    live = alive(simulation)
    for group in groups(simulation):
        for key, streams in streams_of({pid: live[pid] for pid in group}):
            if any(stream.own for stream in streams.values()):
                continue
            coordinators = {stream.coord for stream in streams.values()}
            if len(coordinators) != 1 or not coordinators <= set(group):
                out.append(f"stream {key}, group {group}: coordinators {coordinators}")
            if len({stream.history.received for stream in streams.values()}) != 1:
                out.append(f"stream {key}, group {group}: {[s.history.received for s in streams.values()]}")
    return out


def wrong_with(schedule, kind=Tree, **more):
    """Drive a random schedule; what is wrong in its stable partition and at its end, and the simulation.

    While links lose frames a host suspects failures now and then: then it is enough to be right at some moment.
    """
    simulation = schedule.begin(kind, **more)
    out = []
    for moment, wrong in ((schedule.stable - 0.01, wrong_in_a_stable_partition), (schedule.end, wrong_at_the_end)):
        looks = [moment - 8 + 0.25 * k for k in range(32)] if schedule.loss else []
        found = []
        for time in (*looks, moment):
            found = wrong(drive(simulation, time))
            if schedule.loss and not found:
                break
        out += found
        drive(simulation, moment)
    return out, simulation
