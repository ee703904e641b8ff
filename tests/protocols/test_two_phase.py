"""Two-phase ordering: CH 4.3's three rounds, one process at a time; random runs; mutants."""

import pytest

from ordercast.protocols.two_phase import Final, Inquiry, Msg, Priority, TwoPhase
from tests.protocols.rival_runs import schedule, wrong_with
from tests.protocols.scripted import Script


@pytest.fixture
def port():
    return Script()


def message(origin, n, to=(), oldest=0):
    return Msg(origin, n, to, oldest, b"%d.%d" % (origin, n))


class TestScenes:
    def test_the_source_announces_the_highest_priority_when_all_have_proposed(self, port):
        source = TwoPhase(0, (0, 1, 2), port)
        source.broadcast(b"0.0")
        assert port.take("multicast") == [("multicast", message(0, 0), None)]
        source.receive(1, Priority(0, 7, ()))
        assert port.take() == []
        source.receive(2, Priority(0, 3, ()))
        assert port.take("multicast", "deliver") == [("multicast", Final(0, 7), None), ("deliver", 0, 0, b"0.0")]

    def test_what_is_final_waits_for_what_may_still_come_before_it(self, port):
        member = TwoPhase(2, (0, 1, 2), port)
        member.receive(0, message(0, 0))
        member.receive(1, message(1, 0))
        assert port.take("send") == [("send", 0, Priority(0, 1, ())), ("send", 1, Priority(0, 2, ()))]
        member.receive(1, Final(0, 2))
        assert port.take("deliver") == []
        member.receive(0, Final(0, 5))
        assert port.take("deliver") == [("deliver", 1, 0, b"1.0"), ("deliver", 0, 0, b"0.0")]

    def test_a_proposal_sent_again_is_the_same(self, port):
        member = TwoPhase(2, (0, 1, 2), port)
        for origin in (0, 1, 0):
            member.receive(origin, message(origin, 0))
        assert [each.priority for each in port.sent(Priority)] == [1, 2, 1]

    def test_messages_of_one_source_are_decided_in_their_order(self, port):
        source = TwoPhase(0, (0, 1, 2), port)
        source.broadcast(b"0.0", to=(0, 1))
        source.broadcast(b"0.1", to=(0, 2))
        port.take()
        source.receive(2, Priority(1, 1, ()))
        assert port.take("multicast") == []
        source.receive(1, Priority(0, 9, ()))
        assert port.take("multicast") == [("multicast", Final(0, 9), (1,)), ("multicast", Final(1, 10), (2,))]

    def test_who_misses_a_decision_asks_for_it(self, port):
        member = TwoPhase(2, (0, 1, 2), port)
        member.receive(0, message(0, 0))
        member.expire("inquire")
        assert ("send", 0, Inquiry(0)) in port.take()
        source = TwoPhase(0, (0, 2), port)
        source.broadcast(b"0.0")
        source.receive(2, Priority(0, 1, ()))
        port.take()
        source.receive(2, Inquiry(0))
        assert port.take("send") == [("send", 2, Final(0, 1))]


@pytest.mark.parametrize("seed", range(40))
def test_random_schedules_end_well(seed):
    assert wrong_with(schedule("two_phase", seed, to_parts=True)) == []


class Impatient(TwoPhase):
    """Announces what a majority has proposed."""

    def decide(self):
        for proposed in self.proposals.values():
            if len(proposed) * 2 > len(self.members):
                for node in self.members:
                    proposed.setdefault(node, 0)
        super().decide()


class Eager(TwoPhase):
    """Delivers what is final without looking at what waits."""

    def deliver(self):
        for origin, n in [key for key, each in self.waiting.items() if each.final]:
            self.port.deliver(origin, n, self.waiting.pop((origin, n)).message.payload)
            self.delivered[origin] = n + 1


@pytest.mark.parametrize("mutant", [Impatient, Eager])
def test_mutants_are_caught(mutant):
    assert any(wrong_with(schedule("two_phase", seed), mutant) for seed in range(30))
