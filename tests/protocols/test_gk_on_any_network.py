"""`tree` and `basic` keep their contracts on buses and over independent delays, too, whatever the faults they allow."""

from random import Random

import pytest

from ordercast.protocols.catalog import protocol
from ordercast.sim import Run, faults, networks, simulate, workloads
from ordercast.spec import judge
from ordercast.trace import Recorder


def plan(name, seed):
    random = Random(f"{name} {seed}")
    size = random.randint(2, 6)
    planned = [
        faults.Loss(rate=random.choice((0.0, 0.05, 0.2))),
        faults.Duplication(rate=random.choice((0.0, 0.1))),
        faults.Reordering(rate=random.choice((0.0, 0.2)), by=0.05),
    ]
    if random.random() < 0.5:
        planned.append(faults.Partition(begin=1, end=4, groups=((0,),)))
    if random.random() < 0.4 and name == "tree":
        planned.append(faults.Crash(member=random.randrange(size), at=random.uniform(0, 4)))
    begin = random.uniform(0, 4)
    if random.random() < 0.4:
        planned.append(faults.Outage(member=random.randrange(size), begin=begin, end=begin + 2))
    elif random.random() < 0.5:
        planned.append(faults.Pause(member=random.randrange(size), begin=begin, end=begin + 1))
    parameters = {"fifo": seed % 2 == 1} if name == "tree" else {"slowest": 1.0}
    return Run(
        protocol=name,
        members=size,
        messages=random.choice((20, 200)),
        network=random.choice((networks.Bus(), networks.Delay(), networks.Delay(point_to_point=True))),
        workload=workloads.Poisson(interval=0.1),
        faults=tuple(planned),
        parameters=parameters,
        settle=15.0,
        watch_buffers=True,
        seed=seed,
    )


@pytest.mark.parametrize("name", ["tree", "basic"])
@pytest.mark.parametrize("seed", range(40))
def test_every_promise_is_kept(name, seed):
    run = plan(name, seed)
    kind = protocol(name)
    outcome = simulate(kind, run, Recorder(control_receipts=False))
    found = judge(outcome.trace(), kind.contract)
    assert not outcome.stalled
    assert {name: found.verdicts[name].witness for name in found.broken} == {}
    assert {"integrity", "validity", "agreement"} <= set(found.promised)
    if run.parameters.get("fifo"):
        assert found.verdicts["fifo"].result == "holds"
    assert found.verdicts["bounded"].result == "holds"
