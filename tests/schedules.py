"""Random fault schedules for any protocol: what its contract says it survives, in random doses; and their judge."""

from random import Random

from ordercast.sim import Run, faults, networks, simulate, workloads
from ordercast.spec import judge
from ordercast.trace import Recorder


def random_run(kind, seed, *, network=None, messages=40, sizes=(1, 2, 3, 3, 4, 5, 7), loss=0.3, **more):
    """A run of this protocol under faults that it promises to survive, or, as with a crash, only to be safe under."""
    random = Random(f"{kind.name}/{seed}")
    contract, members = kind.contract, random.choice(sizes)
    span = 40 * 0.1 / members  # about how long the load lasts
    chosen = [
        ("loss", faults.Loss(rate=random.uniform(0, loss))),
        ("loss", faults.Bursts(enter=random.uniform(0, 0.05), leave=random.uniform(0.2, 0.8))),
        ("loss", faults.Correlated(rate=random.uniform(0, 0.1))),
        ("duplication", faults.Duplication(rate=random.uniform(0, 0.3), within=random.choice((0.01, 0.5)))),
        ("reordering", faults.Reordering(rate=random.uniform(0, 0.3), by=random.choice((0.01, 0.3)))),
        ("delay", faults.Spikes(rate=random.uniform(0, 0.05), delay=random.uniform(0.05, 0.6))),
    ]
    if members > 1:
        begin = random.uniform(0, span)
        member = random.randrange(members)
        cut = random.randrange(1, members)
        groups = (tuple(range(cut)), tuple(range(cut, members)))
        passing = {"begin": begin, "end": begin + random.uniform(0.1, 1.5)}
        chosen += [
            ("pause", faults.Pause(member=member, **passing)),
            ("outage", faults.Outage(member=member, **passing)),
            ("partition", faults.Partition(groups=groups, one_way=random.random() < 0.3, **passing)),
        ]
        if seed % 5 == 4:
            chosen.append(("crash", faults.Crash(member=random.randrange(members), at=random.uniform(0, span))))
    survived = set(contract.safe_under)
    planned = tuple(fault for name, fault in chosen if name in survived and (name == "crash" or random.random() < 0.4))
    load = random.choice(
        (workloads.Poisson(interval=0.1), workloads.Bursts(interval=0.1, size=5), workloads.Saturated())
    )
    return Run(
        protocol=kind.name,
        members=members,
        messages=messages,
        network=network or random.choice((networks.Bus(), networks.Delay(), networks.Delay(low=0.001, high=0.05))),
        workload=load,
        faults=planned,
        seed=seed,
        watch_buffers=True,
        max_events=200_000,
        **more,
    )


def verdict(kind, run):
    """What is wrong with a run, in a sentence; empty: nothing is."""
    try:
        outcome = simulate(kind, run, Recorder())
    except (AssertionError, KeyError, IndexError) as error:
        return f"{type(error).__name__}: {error}"
    if outcome.stalled and not outcome.excused:
        return f"stalled at {outcome.duration:.3f} s, having met {', '.join(outcome.faults_met) or 'nothing'}"
    judged = judge(outcome.trace(), kind.contract)
    return "; ".join(f"{name}: {judged.verdicts[name].witness}" for name in judged.broken)
