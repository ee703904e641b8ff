"""The simulator: determinism, networks, faults, workloads, and the phases of a run."""

import subprocess
import sys

import numpy as np
import pytest

from ordercast.sim import Run, faults, networks, simulate, workloads
from ordercast.trace import Recorder
from ordercast.trace.columns import BROADCAST, DELIVER, DROP, RECEIVE, SEND
from tests.toys import Flood


def run(**more):
    return simulate(Flood, Run(**{"protocol": "flood", "messages": 200, **more}), Recorder())


def rows(outcome, kind):
    every = outcome.trace().rows
    return every[every["kind"] == kind]


EVERYTHING = (
    faults.Loss(rate=0.1),
    faults.Bursts(enter=0.01),
    faults.Correlated(rate=0.02),
    faults.Duplication(rate=0.1),
    faults.Reordering(rate=0.2, by=0.05),
    faults.Spikes(rate=0.05),
    faults.Partition(begin=1, end=2, groups=((0, 1), (2,))),
    faults.Pause(member=3, begin=0.5, end=1.5),
    faults.Outage(member=4, begin=2.5, end=3),
    faults.Crash(member=1, at=3),
)


@pytest.mark.parametrize("network", [networks.Bus(), networks.Delay()])
def test_the_same_seed_is_the_same_trace(network):
    hashes = [run(network=network, faults=EVERYTHING, seed=seed).trace().digest() for seed in (1, 1, 2)]
    assert hashes[0] == hashes[1] != hashes[2]


def test_the_trace_does_not_depend_on_the_process_or_its_hash_seed():
    program = (
        "from tests.sim.test_simulation import *;"
        "print(run(network=networks.Delay(), faults=EVERYTHING, seed=3).trace().digest())"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "77")
    }
    assert printed == {run(network=networks.Delay(), faults=EVERYTHING, seed=3).trace().digest() + "\n"}


def test_every_fault_above_meets_traffic_and_is_named():
    met = set(run(network=networks.Delay(), workload=workloads.Poisson(interval=0.05), faults=EVERYTHING).faults_met)
    assert met == {"loss", "duplication", "reordering", "delay", "partition", "pause", "outage", "crash"}


def test_a_fault_that_met_nothing_is_not_named():
    outcome = run(faults=(faults.Loss(rate=0.5, on=("Token",)), faults.Loss(rate=1.0, begin=1e6, end=2e6)))
    assert outcome.faults_met == ()


def test_a_bus_carries_one_frame_at_a_time_to_all_at_once():
    outcome = run(members=4, messages=50, workload=workloads.Bursts(interval=0.01, size=5))
    received = rows(outcome, RECEIVE)
    times = np.unique(received["time"])
    assert len(times) == len(rows(outcome, SEND))
    assert np.diff(times).min() >= 500 * 8 / 10e6 - 1e-12
    assert all((received["time"] == time).sum() == 3 for time in times)


def test_delays_are_independent_and_within_their_bounds():
    outcome = run(network=networks.Delay(low=0.01, high=0.02))
    received, every = rows(outcome, RECEIVE), outcome.trace().rows
    late = received["time"] - every["time"][received["cause"]]
    assert 0.01 <= late.min() < 0.0102 < 0.0198 < late.max() <= 0.02


def test_a_multicast_on_point_to_point_links_is_recorded_as_its_sends():
    sends = rows(run(network=networks.Delay(point_to_point=True), members=4), SEND)
    asked = rows(run(network=networks.Delay(), members=4), BROADCAST)
    assert len(sends) == 3 * len(asked)


def test_loss_is_drawn_per_receiver_and_its_drops_are_recorded():
    outcome = run(messages=4000, faults=(faults.Loss(rate=0.2),), settle=1)
    share = len(rows(outcome, DROP)) / (4 * len(rows(outcome, SEND)))
    assert 0.18 < share < 0.22


def test_a_stall_under_a_fault_that_the_contract_leaves_out_is_excused():
    outcome = run(faults=(faults.Loss(rate=0.2),), settle=1)
    assert outcome.stalled
    assert outcome.excused
    assert not outcome.trace().info.finished


def test_a_run_without_faults_ends_by_itself_with_everything_delivered():
    outcome = run()
    assert not outcome.stalled
    assert len(rows(outcome, DELIVER)) == 5 * len(rows(outcome, BROADCAST)) >= 5 * 200


def test_a_slow_receiver_overruns_its_buffer_and_only_then():
    slow = run(consume=20.0, buffer=4, workload=workloads.Poisson(interval=0.02), settle=1)
    assert (rows(slow, DROP)["level"] == 4).any()
    assert not len(rows(run(consume=5000.0), DROP))


def test_what_comes_while_a_member_is_paused_waits_in_its_socket():
    outcome = run(faults=(faults.Pause(member=2, begin=0.5, end=1.5),))
    late = rows(outcome, RECEIVE)
    late = late[(late["member"] == 2) & (late["time"] >= 0.5) & (late["time"] <= 1.5)]
    assert len(late) > 10
    assert (late["time"] == 1.5).all()
    assert not outcome.stalled


def test_hot_and_saturated_and_scripted_workloads():
    hot = rows(run(messages=3000, workload=workloads.Hot(interval=0.1, member=2, times=8)), BROADCAST)
    counts = np.bincount(hot["member"])
    assert 6 < counts[2] / np.delete(counts, 2).mean() < 10
    saturated = rows(run(workload=workloads.Saturated(window=3), messages=300), BROADCAST)
    assert np.bincount(saturated["member"], minlength=5).min() >= 55
    script = workloads.parse_script("# a comment\n0.5 1\n0.7 2 100 0,2\n", "load")
    outcome = run(workload=script)
    assert [tuple(row) for row in rows(outcome, BROADCAST)[["time", "member", "n"]]] == [(0.5, 1, 0), (0.7, 2, 0)]
    assert not outcome.stalled


@pytest.mark.parametrize(
    ("text", "message"),
    [("0.5\n", "load:1: wants"), ("0.5 1\nx 1\n", "load:2: could not"), ("", "load: no"), ("1 -1\n", "load:1: times")],
)
def test_a_malformed_workload_names_its_line(text, message):
    with pytest.raises(ValueError, match=message):
        workloads.parse_script(text, "load")


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Run(protocol="flood", members=0),
        lambda: Run(protocol="flood", faults=(faults.Crash(member=9, at=1),)),
        lambda: faults.Loss(rate=-0.1),
        lambda: faults.Partition(groups=((0, 1), (1, 2))),
        lambda: networks.Delay(low=2, high=1),
        lambda: networks.Bus(bandwidth=0),
        lambda: workloads.Poisson(interval=0),
        lambda: workloads.Poisson(interval=float("inf")),
        lambda: networks.Delay(low=0, high=float("nan")),
        lambda: run(faults=(faults.Crash(member=1, at=1), faults.Restart(member=1, at=2))),
    ],
)
def test_what_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValueError, match=r"\w"):
        wrong()


class Talker(Flood):
    """Composes its next frame when the channel has taken the last one."""

    name = "talker"
    composes_late = True

    def __init__(self, *args):
        super().__init__(*args)
        self.on_air, self.cleared = False, 0

    def ready(self):
        return not self.on_air

    def broadcast(self, payload, to=None):
        self.on_air = True
        super().broadcast(payload, to)

    def clear(self):
        self.on_air = False
        self.cleared += 1


@pytest.mark.parametrize("network", [networks.Bus(bandwidth=100e3), networks.Delay()])
@pytest.mark.parametrize(
    "fault", [faults.Outage(member=2, begin=0.5, end=1.5), faults.Pause(member=2, begin=0.5, end=1.5)]
)
def test_the_channel_takes_a_frame_also_of_a_member_that_is_mute_or_paused(network, fault):
    plan = Run(protocol="talker", network=network, faults=(fault,), messages=300, settle=1, size_bytes=250)
    outcome = simulate(Talker, plan, Recorder())
    sent = rows(outcome, SEND)
    assert len(sent[(sent["member"] == 2) & (sent["time"] > 1.5)]) > 10


class TwoTimers(Flood):
    """Two timers, of which the one that runs out first cancels the other."""

    name = "two_timers"

    def start(self, joining=False):
        self.ran = []
        self.port.set_timer("first", 1.0)
        self.port.set_timer("second", 1.1)

    def expire(self, timer):
        self.ran.append(timer)
        self.port.cancel_timer("second")


def test_a_timer_cancelled_after_a_pause_in_which_it_was_due_does_not_run_out():
    pause = faults.Pause(member=0, begin=0.5, end=2.0)
    outcome = simulate(TwoTimers, Run(protocol="two_timers", members=2, messages=100, faults=(pause,)), Recorder())
    assert [member.process.ran for member in outcome.simulation.members] == [["first"], ["first"]]


@pytest.mark.parametrize("workload", [workloads.Hot(member=9), workloads.Script(lines=((0.1, 9, None, None),))])
def test_a_workload_names_members_of_the_group(workload):
    with pytest.raises(ValueError, match="the workload names member 9"):
        run(workload=workload)


def test_a_stall_waits_for_a_planned_fault_near_but_not_for_one_far_ahead():
    lossy = faults.Loss(rate=0.5)
    near = run(faults=(lossy, faults.Crash(member=1, at=30)), settle=5)
    far = run(faults=(lossy, faults.Crash(member=1, at=3000)), settle=5)
    assert near.duration > 30
    assert far.duration < 60
