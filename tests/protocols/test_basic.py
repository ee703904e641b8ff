"""GK's basic algorithm: separate copies, again and again, until each host has acknowledged."""

from ordercast.protocols.basic import Ack, Basic, Copy
from ordercast.sim import faults
from ordercast.sim.topologies import Scattered, TwoSites
from tests.protocols.script_port import Script
from tests.protocols.switched_runs import alive, drive, make


def test_a_copy_to_every_host_until_it_acknowledges():
    port = Script()
    source = Basic(0, [0, 1, 2], port)
    source.start()
    source.broadcast(b"x")
    copy = Copy(0, 0, b"x")
    assert port.take() == [
        ("deliver", 0, 0, b"x"),
        ("send", 1, copy),
        ("send", 2, copy),
        ("set_timer", ("resend", 0), 0.5),
    ]
    source.receive(1, Ack(0))
    source.expire(("resend", 0))
    assert port.take() == [("send", 2, copy), ("set_timer", ("resend", 0), 1.0)]  # the wait doubles
    source.receive(2, Ack(0))
    source.receive(2, Ack(0))
    assert port.take() == [("cancel_timer", ("resend", 0))]
    assert source.buffers() == {"outstanding": (0, 10_000)}


def test_what_comes_again_is_acknowledged_again_and_delivered_once():
    port = Script()
    host = Basic(1, [0, 1], port)
    host.start()
    for _ in range(2):
        host.receive(0, Copy(0, 0, b"x"))
    assert port.take() == [("send", 0, Ack(0)), ("deliver", 0, 0, b"x"), ("send", 0, Ack(0))]


def test_a_full_window_makes_the_source_wait():
    source = Basic(0, [0, 1], Script(), Basic.Parameters(window=2))
    source.start()
    for payload in (b"x", b"y"):
        assert source.ready()
        source.broadcast(payload)
    assert not source.ready()
    source.receive(1, Ack(1))
    assert source.ready()


def test_a_part_of_the_group_gets_what_is_meant_for_it():
    port = Script()
    source = Basic(0, [0, 1, 2], port)
    source.start()
    source.broadcast(b"x", [2])
    assert port.take("send", "deliver") == [("send", 2, Copy(0, 0, b"x"))]


def test_it_recovers_host_by_host():
    """GK 6: at least k m transmissions over the critical link, where the tree needs m."""
    far, missed = 5, 20
    simulation = make(
        TwoSites(near=2, far=far, bandwidth=1e6).topology(),
        [(1 + 0.1 * k, 0) for k in range(missed)],
        faults.Down(what="slow", begin=0.5, end=5),
        kind=Basic,
    )
    drive(simulation, 30)
    assert simulation.channel.facts()["links"]["slow"]["payload"] == far * missed
    assert all(process.received[0] == ((0, missed),) for pid, process in alive(simulation).items() if pid)


def test_everybody_gets_everything_over_lossy_links_that_flap():
    topology = Scattered(hosts=6, loss=0.05, seed=3).topology()
    flaps = [faults.Down(what=link.name, begin=k, end=k + 2) for k, link in enumerate(topology.links[:6])]
    simulation = make(topology, [(0.2 * k, k % 3) for k in range(30)], *flaps, kind=Basic)
    drive(simulation, 60)
    for pid, process in alive(simulation).items():
        assert process.received == {source: ((0, 10),) for source in range(3) if source != pid}
        assert process.buffers()["outstanding"][0] == 0
