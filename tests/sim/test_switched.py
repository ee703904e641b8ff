"""The switched network: shortest paths of the moment, late copies, failures, and what each link carried."""

import msgspec
import pytest

from ordercast.parts.topology import Link, Topology
from ordercast.sim import Run, Simulation, faults, networks, simulate, workloads
from ordercast.sim.topologies import AnyFamily, Halves, LanOfLans, Satellite, Scattered, TwoSites
from ordercast.trace import Recorder
from ordercast.trace.columns import DELIVER, DROP, DROPS
from tests.toys import Flood

DIAMOND = Topology(
    ("a", "b", "c"),
    ("s", "t", "u"),
    (
        Link("a-s", "a", "s", bandwidth=8e3, delay=0.01),  # a frame of 500 bytes takes half a second
        Link("s-t", "s", "t", cost=1, delay=0.01),
        Link("s-u", "s", "u", cost=2, delay=0.01),
        Link("u-t", "u", "t", cost=2, delay=0.01),
        Link("b-t", "b", "t", delay=0.01),
        Link("c-t", "c", "t", delay=0.01),
    ),
)


def run(*failures, topology=DIAMOND, lines=((0.0, 0),), **more):
    workload = workloads.Script(lines=tuple((time, member, None, None) for time, member in lines))
    network = networks.Switched(topology=topology)
    plan = Run(
        protocol="flood",
        members=len(topology.hosts),
        messages=len(lines),
        workload=workload,
        network=network,
        faults=failures,
        **more,
    )
    return simulate(Flood, plan, Recorder())


def carried(outcome):
    links = outcome.trace().info.facts["links"]
    return {name: link["payload"] for name, link in links.items() if link["payload"]}


def deliveries(outcome):
    rows = outcome.trace().rows
    return [(int(row["member"]), round(float(row["time"]), 6)) for row in rows[rows["kind"] == DELIVER]]


def test_one_copy_crosses_each_link_and_time_adds_up():
    outcome = run()
    assert carried(outcome) == {"a-s": 1, "s-t": 1, "b-t": 1, "c-t": 1}
    assert deliveries(outcome) == [(0, 0.0), (1, 0.53), (2, 0.53)]


def test_frames_wait_for_a_link_that_is_busy():
    outcome = run(lines=((0.0, 0), (0.1, 0)))
    assert [time for member, time in deliveries(outcome) if member == 1] == [0.53, 1.03]
    assert outcome.trace().info.facts["links"]["a-s"]["longest_wait_s"] == pytest.approx(0.4)


def test_a_frame_takes_the_path_that_is_shortest_when_it_gets_there():
    outcome = run(faults.Down(what="s-t", begin=0.2, end=9))  # the frame is still on its way to s
    assert carried(outcome) == {"a-s": 1, "s-u": 1, "u-t": 1, "b-t": 1, "c-t": 1}
    assert outcome.faults_met == ()


@pytest.mark.parametrize("what", ["a-s", "a", "s"])
def test_what_waits_or_travels_on_a_link_that_fails_is_lost(what):
    outcome = run(faults.Down(what=what, begin=0.2, end=0.3))
    assert deliveries(outcome) == [(0, 0.0)]
    rows = outcome.trace().rows
    drops = rows[rows["kind"] == DROP]
    assert sorted(drops["member"]) == [1, 2]
    assert {DROPS[level] for level in drops["level"]} == {"partition"}
    assert outcome.faults_met == ("partition",)


def test_hosts_beyond_reach_get_nothing_and_the_others_do():
    outcome = run(faults.Down(what="b-t", begin=0, end=9))
    assert deliveries(outcome) == [(0, 0.0), (2, 0.53)]
    assert carried(outcome) == {"a-s": 1, "s-t": 1, "c-t": 1}


def test_failures_that_overlap_end_with_the_last():
    network = networks.Switched(topology=DIAMOND)
    downs = (faults.Down(what="s-t", begin=0, end=5), faults.Down(what="s-t", begin=1, end=2))
    simulation = Simulation(Flood, Run(protocol="flood", members=3, network=network, faults=downs))
    channel, (a, b, _) = simulation.channel, simulation.members
    assert channel.cost(a, b) == 3
    for step, cost in (("fail", 6), ("fail", 6), ("restore", 6), ("restore", 3)):
        getattr(channel, step)("s-t")
        assert channel.cost(a, b) == cost


def test_a_link_that_loses_loses_for_all_behind_it():
    lossy = msgspec.structs.replace(
        DIAMOND,
        links=tuple(msgspec.structs.replace(link, loss=0.5 if link.name == "s-t" else 0.0) for link in DIAMOND.links),
    )
    outcome = run(topology=lossy, lines=[(float(k), 0) for k in range(40)])
    got = [{time for member, time in deliveries(outcome) if member == who} for who in (1, 2)]
    assert got[0] == got[1]
    assert 8 < len(got[0]) < 32


def test_link_faults_of_the_run_come_on_top():
    outcome = run(faults.Loss(rate=1.0))
    assert deliveries(outcome) == [(0, 0.0)]
    assert carried(outcome) == {"a-s": 1, "s-t": 1, "b-t": 1, "c-t": 1}


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="3 hosts and the run 5 members"):
        simulate(Flood, Run(protocol="flood", network=networks.Switched(topology=DIAMOND)))
    with pytest.raises(ValueError, match="no link or site is called 'x'"):
        run(faults.Down(what="x", begin=0, end=1))
    with pytest.raises(ValueError, match="'x' cannot fail: this network is not made of links"):
        simulate(Flood, Run(protocol="flood", faults=(faults.Down(what="x", begin=0, end=1),)))


@pytest.mark.parametrize(
    "family",
    [LanOfLans(), TwoSites(), Satellite(), Scattered(), Scattered(seed=9, more=0), Halves(hosts=20, switches=8)],
)
def test_a_generated_family_is_connected_and_can_be_written_down(family):
    topology = family.topology()
    assert len(topology.without(()).groups()) == 1
    assert family.topology() == topology
    read = msgspec.json.decode(msgspec.json.encode(family), type=AnyFamily)
    assert read.topology() == topology
    network = networks.Switched(topology=topology)
    assert msgspec.json.decode(msgspec.json.encode(network), type=networks.AnyNetwork) == network


def test_satellite_windows_meet_two_by_two_and_end_in_peace():
    family = Satellite(stations=3, hosts=1, orbit=30, window=15)
    names = {f"up{k}" for k in range(3)}
    seen = set()
    for tenth in range(6000):
        time = tenth / 10 + 0.05
        down = {fault.what for fault in family.failures(500) if fault.begin <= time < fault.end}
        up = names - down
        seen.add(frozenset(up))
        assert up == names if time > 500 else len(up) <= 2
    assert {frozenset(pair) for pair in (("up0", "up1"), ("up1", "up2"), ("up2", "up0"))} <= seen
