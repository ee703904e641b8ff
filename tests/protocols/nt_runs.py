"""Random runs of PO and TO, and what each of them must come to."""

from random import Random

from ordercast.protocols.po import PO
from ordercast.protocols.to import TO, TOMerged
from ordercast.sim import Run, faults, networks, simulate, workloads
from ordercast.spec import judge
from ordercast.trace import Recorder


def watched(kind):
    """The protocol, with what PACK and ACK mean looked up at every member at the moment at which they are given."""

    class Watched(kind):
        def moved(self, step):
            everyone = [member.process for member in self.port.simulation.members]
            for p in step.packed:
                j = self.logs.rank[p.SRC]
                for other in asked(self, p, everyone):
                    has = other.logs.REQ[j] > p.SEQ or (other.me == p.SRC and other.SEQ > p.SEQ)
                    assert has, f"{self.me} packed {p}, which {other.me} has not received"
            for p in step.acked:
                j = self.logs.rank[p.SRC]
                for other in asked(self, p, everyone):
                    known = other.logs.known[j]
                    ends = (other.logs.rank[each.me] for each in asked(self, p, everyone))
                    knows = other.logs.packed[j] > p.SEQ or (p.DST and all(known[h] > p.SEQ for h in ends))
                    assert knows, f"{self.me} acknowledged {p}, and {other.me} does not know that all have it"
            super().moved(step)

    return Watched


def asked(process, p, everyone):
    """Whom PACK and ACK of a PDU ask."""
    return [other for other in everyone if process.one_log or not p.DST or other.me in p.DST]


def schedule(kind, seed):
    """The run of a protocol with that seed."""
    random = Random(f"{kind.name} {seed}")
    members = random.choice((1, 2, 3, 3, 4, 4, 5))
    parameters = {
        "reading": random.choice(("literal", "sender", "sender", "implicit", "implicit_ackall")),
        "W": random.choice((2, 4, 8, 32)),
        "C": random.choice((1, 2)),
        "deliver_at": random.choice(("packed", "acked") if issubclass(kind, TO) else ("received", "packed", "acked")),
    }
    slow = random.random() < 0.3
    if random.random() < 0.3:
        lines = []
        for k in range(random.randrange(5, 40)):
            to = tuple(sorted(random.sample(range(members), random.randrange(1, members + 1))))
            lines.append((round(k * random.random() * 0.03, 6), random.randrange(members), None, to))
        workload = workloads.Script(lines=tuple(lines))
    elif random.random() < 0.3:
        workload = workloads.Bursts(interval=0.1, size=random.randrange(2, 12))
    else:
        workload = random.choice((workloads.Poisson(interval=0.1), workloads.Saturated(window=3)))
    return Run(
        protocol=kind.name,
        members=members,
        messages=40,
        network=random.choice(_networks(kind)),
        workload=workload,
        faults=_faults(random, members),
        parameters=parameters,
        consume=random.choice((100.0, 400.0)) if slow else None,
        buffer=random.choice((4, 16, 64)),
        watch_buffers=True,
        settle=3.0,
        seed=seed,
    )


def _networks(kind):
    if kind.contract.needs:
        return (networks.OneChannel(), networks.OneChannel(bandwidth=5e6), networks.Bus())
    return (networks.MultiChannel(), networks.Delay(), networks.Delay(high=0.05, point_to_point=True), networks.Bus())


def _faults(random, members):
    some = [
        faults.Loss(rate=random.choice((0.05, 0.15, 0.3))),
        faults.Bursts(enter=0.05, leave=0.3),
        faults.Correlated(rate=0.15),
        faults.Duplication(rate=0.2),
        faults.Reordering(rate=0.2, by=0.03),
        faults.Spikes(rate=0.1, delay=0.1),
    ]
    planned = random.sample(some, random.randrange(4))
    who, begin = random.randrange(members), random.uniform(0, 1)
    if random.random() < 0.5:
        one_way = random.random() < 0.5
        other = [
            faults.Pause(member=who, begin=begin, end=begin + 0.5, socket=random.choice((1, 256))),
            faults.Outage(member=who, begin=begin, end=begin + 0.7),
            faults.Partition(groups=((who,),), begin=begin, end=begin + 0.7, one_way=one_way),
            faults.Crash(member=who, at=begin),
        ]
        planned.append(random.choice(other))
    return tuple(planned)


def wrong_with(kind, seed):
    """What a run did that it must not; nothing, for a right protocol."""
    run = schedule(kind, seed)
    try:
        outcome = simulate(watched(kind), run, Recorder())
    except AssertionError as error:
        return [str(error)]
    trace = outcome.trace()
    wrong = [f"broken: {name}" for name in judge(trace, kind.contract).broken]
    if outcome.stalled and not outcome.excused:
        wrong.append("it stalled")
    for name, (most, limit) in outcome.simulation.peaks.items():
        if most > limit:
            wrong.append(f"{name} held {most}, over {limit}")
    return wrong


PROTOCOLS = (PO, TO, TOMerged)
