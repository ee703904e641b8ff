"""Random schedules of faults, for campaigns: the same seed is the same schedule."""

import random

from ordercast.sim import Run, faults, networks, workloads


def random_run(protocol, seed, crashes, groups=(4, 4, 5, 5, 6, 7, 10), parts=True):
    """A run under loss to 30 %, bursts, crashes, partitions, outages and slow members, at random.

    `crashes(n)` is how many members of n may crash; a member that crashes is in no other trouble for good.
    """
    rng = random.Random(f"{protocol} {seed}")
    n = rng.choice(groups)
    members = rng.sample(range(n), n)
    planned = []
    if rng.random() < 0.7:
        planned.append(faults.Loss(rate=rng.choice([0.01, 0.05, 0.1, 0.2, 0.3])))
    if rng.random() < 0.3:
        planned.append(faults.Bursts(enter=rng.choice([0.01, 0.05]), leave=rng.choice([0.1, 0.3])))
    if rng.random() < 0.2:
        planned.append(faults.Duplication(rate=0.1))
    if rng.random() < 0.2:
        planned.append(faults.Reordering(rate=0.2, by=0.02))
    if rng.random() < 0.2:
        planned.append(faults.Spikes(rate=0.05, delay=0.1))
    crashed = [members.pop() for _ in range(rng.randint(0, crashes(n)))]
    planned += [faults.Crash(member=member, at=rng.uniform(0, 1.5)) for member in crashed]
    if rng.random() < 0.4:
        begin = rng.uniform(0, 1)
        side = tuple(sorted(rng.sample(range(n), rng.randint(1, n - 1))))
        planned.append(faults.Partition(begin=begin, end=begin + rng.uniform(0.1, 2), groups=(side,)))
    if rng.random() < 0.3:
        begin = rng.uniform(0, 1)
        planned.append(faults.Outage(member=members.pop(), begin=begin, end=begin + rng.uniform(0.1, 1)))
    if rng.random() < 0.4:
        begin = rng.uniform(0, 1)
        planned.append(
            faults.Pause(
                member=members.pop(), begin=begin, end=begin + rng.uniform(0.1, 1), socket=rng.choice([8, 256])
            )
        )
    network = rng.choice([networks.Bus(), networks.Delay(), networks.Delay(low=0.0, high=0.05)])
    load = rng.choice([workloads.Poisson(interval=0.05), workloads.Bursts(interval=0.05, size=5)])
    if parts and rng.random() < 0.3:
        lines = []
        for number in range(40):
            to = tuple(sorted(rng.sample(range(n), rng.randint(1, n))))
            lines.append((number * 0.02, rng.randrange(n), None, to))
        load = workloads.Script(lines=tuple(lines))
    return Run(
        protocol=protocol,
        members=n,
        messages=40,
        network=network,
        workload=load,
        faults=tuple(planned),
        settle=3.0,
        seed=seed,
    )
