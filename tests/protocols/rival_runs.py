"""Random runs, with faults but without crashes, of the protocols that CH compares its own with."""

from random import Random

from ordercast.protocols.catalog import protocol
from ordercast.sim import Run, faults, networks, simulate, workloads
from ordercast.spec import check
from ordercast.trace import Recorder


def schedule(name, seed, to_parts=False):
    random = Random(seed)
    size = random.choice([1, 2, 3, 5, 7])
    workload = workloads.Poisson(interval=random.choice([0.02, 0.1]) * size)
    if to_parts and random.random() < 0.4:
        workload = workloads.Script(lines=tuple(line(random, size) for _ in range(120)))
    return Run(
        protocol=name,
        members=size,
        messages=150,
        network=networks.Bus() if random.random() < 0.3 else networks.Delay(high=random.choice([0.004, 0.02])),
        workload=workload,
        faults=tuple(trouble(random, size)),
        watch_buffers=True,
        seed=seed,
    )


def line(random, size):
    to = None if random.random() < 0.3 else tuple(sorted(random.sample(range(size), random.randint(1, size))))
    return (random.uniform(0, 3), random.randrange(size), None, to)


def trouble(random, size):
    yield faults.Loss(rate=random.choice([0, 0, 0.05, 0.2]))
    for fault in (
        faults.Duplication(rate=0.1, within=0.05),
        faults.Reordering(rate=0.2, by=0.05),
        faults.Correlated(rate=0.05),
        faults.Spikes(rate=0.03, delay=0.3),
    ):
        if random.random() < 0.4:
            yield fault
    if size > 1 and random.random() < 0.2:
        yield faults.Partition(groups=((0,),), begin=0.5, end=1.2)
    for member in random.sample(range(size), random.randint(0, size - 1) if random.random() < 0.4 else 0):
        begin = random.uniform(0, 2)
        kind = random.choice([faults.Outage, faults.Pause])
        yield kind(member=member, begin=begin, end=begin + random.choice([0.1, 1, 2]))


def wrong_with(run, kind=None):
    outcome = simulate(kind or protocol(run.protocol), run, Recorder())
    verdicts = check(outcome.trace())
    wrong = [f"{name}: {verdict.witness}" for name, verdict in verdicts.items() if verdict.result != "holds"]
    wrong += [
        f"{name} holds {full} of {limit}" for name, (full, limit) in outcome.simulation.peaks.items() if full > limit
    ]
    return wrong + ["stalled"] * outcome.stalled
