"""The counter protocol's flow control (CH 3.2) in runs: receivers that take their time, and the size of the token."""

from itertools import pairwise

import pytest

from ordercast.protocols.counter import Counter
from ordercast.sim import Run, faults, networks, simulate, workloads
from ordercast.spec import check
from ordercast.trace import Recorder
from ordercast.trace.columns import DELIVER, DROP, DROPS

CONSUME = 200.0  # frames that a receiver takes per second; the group has more to say than that


def slow(kind=Counter, faulty=(), buffer=48, **parameters):
    run = Run(
        protocol="counter",
        members=5,
        messages=600,
        network=networks.Delay(low=0.001, high=0.003),
        workload=workloads.Bursts(interval=0.02, size=20),
        consume=CONSUME,
        buffer=buffer,
        faults=faulty,
        parameters=parameters,
        seed=3,
    )
    return simulate(kind, run, Recorder())


def overrun(outcome):
    rows = outcome.trace().rows
    return int(((rows["kind"] == DROP) & (rows["level"] == DROPS.index("overrun"))).sum())


def rate(outcome):
    """Deliveries at one member per second, while there is something to deliver."""
    rows = outcome.trace().rows
    times = rows["time"][(rows["kind"] == DELIVER) & (rows["member"] == 0)]
    return len(times) / (times[-1] - times[0])


class Deaf(Counter):
    """Pays no attention to the local flags."""

    def release(self):
        if self.waiting is not None:
            self.port.multicast(self.waiting, self.others(self.waiting.rec))
            self.waiting = None


@pytest.mark.parametrize("lossy", [(), (faults.Loss(rate=0.05),)], ids=["quiet", "lossy"])
def test_a_slow_receiver_is_never_overrun_and_nobody_deadlocks(lossy):
    outcome = slow(faulty=lossy)
    assert overrun(outcome) == 0
    assert not outcome.stalled
    assert {verdict.result for verdict in check(outcome.trace()).values()} == {"holds"}


def test_the_rate_is_near_the_receivers():
    """Each receiver takes the frames of four others, and the token waits in the same queue as they do."""
    assert rate(slow(token_time=0.002)) > 0.6 * CONSUME * 5 / 4


def test_the_local_flag_holds_back_senders_without_a_window():
    """Without a window the flags alone are too slow to prevent every overrun: the token waits behind what fills the
    buffer, so a cycle takes N times as long as emptying it.  But they keep a group from drowning in repairs."""

    def run(kind):
        plan = Run(
            protocol="counter",
            members=5,
            messages=1000,
            network=networks.Delay(low=0.001, high=0.003),
            workload=workloads.Poisson(interval=0.024),
            consume=150.0,
            buffer=400,
            parameters={"window": 1 << 20, "reserve": 350, "token_timeout": 5.0, "request_timeout": 3.0},
            settle=40.0,
        )
        return simulate(kind, plan, Recorder())

    flagged = run(Counter)
    assert not flagged.stalled
    assert overrun(flagged) < overrun(run(Deaf)) / 5


def test_an_overloaded_network_stops_and_starts_again():
    stopped = []

    class Seen(Counter):
        def flow(self, state):
            flow = super().flow(state)
            stopped.append(flow.everywhere)
            return flow

    outcome = slow(Seen, overload=20, window=20, buffer=500)
    assert not outcome.stalled
    assert sum(before != after for before, after in pairwise(stopped)) >= 4


@pytest.mark.parametrize("size", [3, 6, 12])
def test_the_token_is_bounded_by_the_windows(size):
    """S holds what is not committed: two cycles of messages when nothing is lost, at most every sender's window."""
    run = Run(
        protocol="counter",
        members=size,
        messages=100 * size,
        network=networks.Delay(),
        workload=workloads.Poisson(interval=0.05),
        faults=(faults.Loss(rate=0.1),),
        parameters={"window": 8},
        watch_buffers=True,
    )
    outcome = simulate(Counter, run, Recorder())
    assert {verdict.result for verdict in check(outcome.trace()).values()} == {"holds"}
    for name, limit in {"token": 8 * size, "messages": 16 * size}.items():
        most, stated = outcome.simulation.peaks[name]
        assert stated == limit
        assert most <= limit
