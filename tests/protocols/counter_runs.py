"""Random runs of the counter protocol with faults of every kind, and what is wrong with how one ended."""

from random import Random

from ordercast.parts.token_list import quorum
from ordercast.protocols.counter import Counter
from ordercast.sim import Run, faults, networks, simulate, workloads
from ordercast.sim.member import DEAD
from ordercast.spec import check
from ordercast.spec.verdict import AT_THE_END
from ordercast.trace import Recorder


class Watched(Counter):
    """A node that sees whether anybody else has the token when it gets it, and has another list for the same number."""

    def enter(self, token):
        rings = self.port.simulation.__dict__.setdefault("rings", {})
        assert rings.setdefault(token.ring.number, token.ring) == token.ring, "two lists of one configuration"
        super().enter(token)

    def own(self):
        super().own()
        for member in self.port.simulation.members:
            other = member.process
            if other is not self and other.state == "owner":
                assert other.ring.number != self.ring.number, "two tokens in one configuration"


def schedule(seed):
    """A run with up to a minority of nodes crashing or leaving, some coming back, and the rest in trouble."""
    random = Random(seed)
    size = random.choice([2, 3, 4, 5, 5, 7])
    to_parts = random.random() < 0.2
    workload = workloads.Poisson(interval=random.choice([0.02, 0.1]) * size)
    if random.random() < 0.3:
        workload = workloads.Bursts(interval=0.1 * size, size=7)
    parameters = {
        "order": random.choice(["fixed", "rotating"]),
        "batch_requests": random.random() < 0.5,
        "multicast_repairs": random.random() < 0.5,
    }
    if to_parts:  # no living node may be deleted: a destination list names nodes, not views
        parameters["tries"] = 20
        workload = workloads.Script(lines=tuple(part_line(random, size) for _ in range(120)))
    return Run(
        protocol="counter",
        members=size,
        messages=200,
        network=networks.Delay(low=0.001, high=random.choice([0.004, 0.02])),
        workload=workload,
        faults=(*links(random, size, to_parts), *members(random, size, to_parts)),
        parameters=parameters,
        settle=12.0 if to_parts else 6.0,  # so many tries take their time
        seed=seed,
    )


def part_line(random, size):
    to = None if random.random() < 0.5 else tuple(sorted(random.sample(range(size), random.randint(1, size))))
    return (random.uniform(0, 4), random.randrange(size), None, to)


def links(random, size, to_parts):
    yield faults.Loss(rate=random.choice([0, 0, 0.02, 0.1, 0.2]))
    if random.random() < 0.4:
        yield faults.Duplication(rate=0.1, within=0.05)
    if random.random() < 0.4:
        yield faults.Reordering(rate=0.1, by=0.05)
    if random.random() < 0.4:
        yield faults.Correlated(rate=0.05)
    if random.random() < 0.4:
        yield faults.Spikes(rate=0.03, delay=0.3)
    if random.random() < 0.2:  # every token is lost for a while
        yield faults.Loss(rate=1.0, on=("T",), begin=1, end=1 + random.choice([0.1, 0.5, 1]))
    if random.random() < 0.3 and not to_parts:
        group = tuple(random.sample(range(size), random.randint(1, size - 1)))
        begin = random.uniform(0.2, 3)
        end = begin + random.choice([0.2, 1, 2])
        yield faults.Partition(groups=(group,), begin=begin, end=end, one_way=random.random() < 0.3)


def members(random, size, to_parts):
    who = random.sample(range(size), size)
    gone = random.randint(0, (size - 1) // 2)
    for member in who[:gone]:
        at = random.uniform(0.2, 3)
        how = random.choice(["crash", "restart", "leave"])
        yield faults.Leave(member=member, at=at) if how == "leave" else faults.Crash(member=member, at=at)
        if how == "restart":
            yield faults.Restart(member=member, at=at + random.choice([0.01, 0.3, 1.5]))
    for member in who[gone:]:
        if random.random() < 0.3 and not to_parts:
            begin = random.uniform(0.2, 3)
            kind = random.choice([faults.Outage, faults.Pause])
            yield kind(member=member, begin=begin, end=begin + random.choice([0.1, 0.5, 1.5, 3]))


def wrong_with(run, kind=Watched):
    """What a run broke: properties by name, and how the ring stood at the end."""
    outcome = simulate(kind, run, Recorder())
    verdicts = check(outcome.trace())
    wrong = [f"{name}: {verdict.witness}" for name, verdict in verdicts.items() if verdict.result != "holds"]
    present = [member for member in outcome.simulation.members if member.state != DEAD and not member.left]
    inside = [member.process for member in present if member.process.state in ("idle", "owner")]
    last = max(process.ring.number for process in inside)
    newest = [process for process in inside if process.ring.number == last]
    if not quorum(newest[0].ring, [process.me for process in newest]):
        # The majority of the last list is gone or in another configuration: nobody may go on, and nobody is to blame.
        return [complaint for complaint in wrong if complaint.partition(":")[0] not in AT_THE_END]
    if outcome.excused:
        wrong = [complaint for complaint in wrong if complaint.partition(":")[0] not in AT_THE_END]
    elif len(inside) < len(present):
        wrong.append("somebody never came in")
    if sum(process.state == "owner" for process in newest) > 1:
        wrong.append("two owners at the end")
    return wrong
