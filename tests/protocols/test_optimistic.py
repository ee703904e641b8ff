"""The optimistic token: deliveries at once, withdrawn when a token shows that they were wrong (CH 1, 4.3, 5)."""

import numpy as np
import pytest

from ordercast.protocols.optimistic import Msg, Optimistic, Rollback, T
from ordercast.sim import Run, faults, networks, simulate, workloads
from ordercast.spec import check
from ordercast.trace import Recorder, Trace
from ordercast.trace.columns import WITHDRAW
from tests.protocols.rival_runs import schedule, wrong_with
from tests.protocols.scripted import Script


@pytest.fixture
def port():
    return Script()


def message(origin, n):
    return Msg(origin, n, b"%d.%d" % (origin, n))


def token(turn, c, next, order=(), acks=(0, 0, 0), first=0):
    return T(turn, c, next, first, tuple(order), acks)


class TestScenes:
    def test_a_message_is_delivered_as_it_arrives(self, port):
        Optimistic(1, (0, 1, 2), port).receive(0, message(0, 0))
        assert port.take() == [("deliver", 0, 0, b"0.0")]

    def test_the_owner_orders_and_acknowledges_in_one_batch_what_it_received(self, port):
        node = Optimistic(1, (0, 1, 2), port)
        for each in (message(2, 0), message(0, 0)):
            node.receive(each.origin, each)
        node.receive(0, token(1, 0, 1))
        node.expire("token_owner")
        assert port.sent(T) == [token(2, 1, 2, [(2, 0), (0, 0)], (0, 2, 0))]

    def test_another_order_than_hoped_for_is_taken_back(self, port):
        node = Optimistic(2, (0, 1, 2), port)
        for each in (message(0, 0), message(1, 0)):
            node.receive(each.origin, each)
        port.take()
        node.receive(0, token(1, 0, 1, [(1, 0), (0, 0)], (2, 0, 0)))
        assert port.take("withdraw", "deliver") == [
            ("withdraw", 2),
            ("deliver", 1, 0, b"1.0"),
            ("deliver", 0, 0, b"0.0"),
        ]

    def test_a_loss_sends_everybody_back_to_the_last_committed_state(self, port):
        node = Optimistic(2, (0, 1, 2), port)
        node.receive(0, message(0, 1))
        node.receive(1, message(1, 0))
        port.take()
        node.receive(0, token(1, 0, 1, [(0, 0), (1, 0)], (2, 0, 0)))
        asked = port.take()
        assert ("withdraw", 1) in asked
        assert ("multicast", Rollback(0, (0,), 1)) in asked
        other = Optimistic(1, (0, 1, 2), port)
        other.receive(0, message(0, 0))
        port.take()
        other.receive(2, Rollback(0, (0,), 1))
        assert port.take() == [("withdraw", 1)]
        other.receive(0, message(0, 1))
        assert port.take() == []  # until the next token
        other.receive(0, token(1, 0, 1, [(0, 0)], (1, 0, 0)))
        assert port.take("deliver") == [("deliver", 0, 0, b"0.0"), ("deliver", 0, 1, b"0.1")]

    def test_what_all_have_acknowledged_is_committed(self, port):
        node = Optimistic(2, (0, 1, 2), port)
        node.receive(0, message(0, 0))
        node.receive(1, token(2, 1, 2, [(0, 0)], (1, 1, 0)))
        port.take()
        node.expire("token_owner")
        assert port.take("reach") == [("reach", "stable", 0, 1)]
        node.receive(1, Rollback(1, (5,), 1))
        assert port.take("withdraw") == []

    def test_a_node_sends_so_many_messages_in_a_token_owner_period(self, port):
        node = Optimistic(1, (0, 1, 2), port)
        node.broadcast(b"1.0")
        assert not node.ready()
        node.receive(0, token(1, 0, 1))
        assert node.ready()


@pytest.mark.parametrize("seed", range(40))
def test_random_schedules_end_well(seed):
    assert wrong_with(schedule("optimistic", seed)) == []


def on_a_bus(*faulty, **more):
    run = Run(
        protocol="optimistic", members=5, messages=400, network=networks.Bus(), faults=faulty, **more,
        workload=workloads.Poisson(interval=0.2),
    )  # fmt: skip
    return simulate(Optimistic, run, Recorder()).trace()


def test_on_a_bus_without_losses_nothing_is_withdrawn():
    assert not (on_a_bus().rows["kind"] == WITHDRAW).any()


def test_its_lower_level_is_visible():
    """R2: the order is uniform once what was withdrawn is struck, and was not before."""
    trace = on_a_bus(faults.Loss(rate=0.1), seed=2)
    assert (trace.rows["kind"] == WITHDRAW).any()
    assert check(trace)["uniform_total_order"].result == "holds"
    never = Trace(trace.info, np.delete(trace.rows, np.flatnonzero(trace.rows["kind"] == WITHDRAW)))
    assert check(never)["uniform_total_order"].result == "violated"


class Stubborn(Optimistic):
    """Never takes anything back."""

    def roll_back(self):
        pass


class Hasty(Optimistic):
    """Commits what the owner alone has acknowledged."""

    def commit(self, below):
        super().commit(max(self.token.acks))


@pytest.mark.parametrize("mutant", [Stubborn, Hasty])
def test_mutants_are_caught(mutant):
    def wrong(seed):
        try:
            return wrong_with(schedule("optimistic", seed), mutant)
        except AssertionError:
            return True

    assert any(wrong(seed) for seed in range(30))
