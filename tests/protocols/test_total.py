"""Total: scenes from MMA III, one sentence each."""

import pytest

from ordercast.parts.exchange import Broadcast, Null
from ordercast.protocols.total import Total, TotalParameters
from ordercast.sim import Run, faults, simulate, workloads
from ordercast.spec import check, judge
from ordercast.trace import Recorder
from ordercast.trace.columns import DELIVER, SEND
from tests.protocols.paper_port import PaperPort


def member(me, n, **parameters):
    process = Total(me, range(n), PaperPort(), TotalParameters(**parameters))
    process.start()
    return process


def word(origin, seq, acks=(), lacks=()):
    return Broadcast(origin, seq, tuple(acks), tuple(lacks), seq, (), b"x")


def delivered(process):
    return [each[1:] for each in process.port.take() if isinstance(each, tuple) and each[0] == "deliver"]


A, B, C, D, E, F = range(6)


class TestFigure3:
    """Six processors, one-resilient, every message received by all and acknowledging the one before."""

    def test_on_receiving_d1_every_processor_decides_for_a1(self):
        f = member(F, 6, resilience=1)
        f.receive(A, word(A, 0))
        f.receive(B, word(B, 0, [(A, 0)]))
        f.receive(C, word(C, 0, [(B, 0)]))
        assert delivered(f) == []
        f.receive(D, word(D, 0, [(C, 0)]))
        assert delivered(f) == [(A, 0)]

    def test_a_source_that_speaks_again_adds_no_vote(self):
        f = member(F, 6, resilience=1)
        f.receive(A, word(A, 0))
        f.receive(B, word(B, 0, [(A, 0)]))
        for seq in range(1, 5):
            f.receive(A, word(A, seq, [(B, 0)]))
        assert delivered(f) == []


class TestLiveness:
    def test_a_null_message_is_owed_while_broadcasts_await_their_place(self):
        c = member(C, 4)
        c.receive(A, word(A, 0))
        c.port.expire(c, "null")
        c.clear()
        c.receive(B, Null(B, 0, ((A, 0),), ()))
        assert delivered(c) == [(A, 0)], "A, B and C follow A's message: N_d is 3"
        assert "null" not in c.port.timers

    def test_the_wait_for_more_votes_doubles_until_the_order_grows(self):
        b = member(B, 7, resilience=2)
        b.receive(A, word(A, 0))
        b.port.expire(b, "null")
        b.clear()
        waits = []
        for seq in range(4):
            b.receive(A, Null(A, seq + 1, ((B, seq),), ()))
            waits.append(b.port.timers["null"])
            b.port.expire(b, "null")
            b.clear()
        assert [late / waits[0] for late in waits] == [1, 2, 4, 8]
        b.receive(C, Null(C, 0, ((B, 4),), ()))
        assert b.port.timers["null"] == waits[0], "a silent member is heard"

    def test_nothing_is_owed_to_null_messages_alone(self):
        b = member(B, 4)
        b.receive(A, Null(A, 0, (), ()))
        assert b.port.timers == {}


class TestTies:
    """Votes that stay two to two, stage after stage, while four members speak in turn."""

    def torn(self, draw):
        """A fifth member that has heard them for long enough, and what it says next."""
        e = member(E, 5, resilience=1)
        e.port.draw = draw
        said = [Null(C, 0, (), ()), Null(D, 0, ((C, 0),), ()), Null(B, 0, (), ()), Null(B, 1, ((D, 0),), ())]
        for number in range(16):
            source = (A, C, D, B)[number % 4]
            seq = sum(1 for each in said if each.origin == source)
            said.append(Null(source, seq, ((said[-1].origin, said[-1].seq),), ()))
        for each in said:
            e.receive(each.origin, each)
        assert e.voting.stages() > 4
        assert not delivered(e)
        e.broadcast(b"x")
        return said, e.port.sent()[-1], e

    def test_by_one_side_of_a_coin_the_next_message_does_not_follow_the_last(self):
        said, spoken, e = self.torn(draw=0.1)
        last, before = said[-1], said[-2]
        assert (last.origin, last.seq) not in spoken.acks
        assert (before.origin, before.seq) in spoken.acks
        e.clear()
        e.port.draw = 0.9
        e.broadcast(b"y")
        assert (last.origin, last.seq) in e.port.sent()[-1].acks

    def test_by_the_other_it_does(self):
        said, spoken, _ = self.torn(draw=0.9)
        assert (said[-1].origin, said[-1].seq) in spoken.acks


def run(**more):
    return simulate(Total, Run(**{"protocol": "total", "members": 5, "messages": 100, **more}), Recorder())


def sent(outcome, kind):
    trace = outcome.trace()
    index = trace.info.messages.index(kind) if kind in trace.info.messages else -2
    return int(((trace.rows["kind"] == SEND) & (trace.rows["message"] == index)).sum())


class TestResilience:
    """Up to k crashed members do not stop it; a part with enough members goes on; who returns catches up."""

    @pytest.mark.parametrize(("n", "k"), [(4, 1), (7, 2), (10, 3)])
    def test_k_crashed_members_do_not_stop_it(self, n, k):
        crashed = tuple(faults.Crash(member=member, at=0.3) for member in range(k))
        outcome = run(members=n, faults=crashed)
        assert not outcome.stalled
        assert judge(outcome.trace(), Total.contract).broken == ()

    def test_a_part_of_a_divided_group_goes_on_and_the_others_stop_and_catch_up(self):
        divided = faults.Partition(begin=0.5, end=4.0, groups=((5, 6),))
        outcome = run(members=7, messages=300, faults=(divided,), parameters={"resilience": 2})
        rows = outcome.trace().rows
        during = rows[(rows["kind"] == DELIVER) & (rows["time"] > 0.7) & (rows["time"] < 4.0)]
        assert set(during["member"]) == {0, 1, 2, 3, 4}
        assert len(during) > 300
        verdicts = check(outcome.trace())
        assert all(verdict.result == "holds" for verdict in verdicts.values())
        assert set(rows[(rows["kind"] == DELIVER) & (rows["time"] >= 4.0)]["member"]) >= {5, 6}

    def test_parts_too_small_to_decide_keep_few_null_messages(self):
        divided = faults.Partition(begin=0.5, end=60.0, groups=((0, 1), (2, 3)))
        lines = tuple((0.6, member, None, None) for member in range(4))
        outcome = run(members=4, faults=(divided,), workload=workloads.Script(lines=lines), settle=100.0)
        rows = outcome.trace().rows
        assert (rows[rows["kind"] == DELIVER]["time"] > 60).all()
        assert check(outcome.trace())["agreement"].result == "holds"
        assert max(member.process.seq for member in outcome.simulation.members) < 40

    def test_after_a_crash_the_history_fills_and_a_new_membership_frees_it(self):
        crash = faults.Crash(member=4, at=0.2)
        stuck = run(messages=400, faults=(crash,), parameters={"history": 100}, settle=2.0)
        members = stuck.simulation.members[:4]
        assert all(member.process.full and member.waiting for member in members)
        assert all(len(member.process.lists.received) < 150 for member in members)
        freed = run(
            messages=400,
            faults=(crash, faults.Install(at=3.0, members=(0, 1, 2, 3))),
            parameters={"history": 100},
            settle=5.0,
        )
        assert not freed.stalled
        assert judge(freed.trace(), Total.contract).broken == ()
        assert not any(member.process.full for member in freed.simulation.members[:4])


def test_under_load_every_broadcast_carries_the_acknowledgments_and_nothing_else_is_sent():
    """III.D, IV: under favorable conditions, only one broadcast message per agreement."""
    outcome = run(members=10, messages=500, workload=workloads.Saturated(window=2))
    assert sent(outcome, "Null") < 0.05 * sent(outcome, "Broadcast")
    assert sent(outcome, "Call") == 0


def test_a_group_whose_broadcasts_have_their_place_falls_silent():
    lines = tuple((0.1 * k, k % 5, None, None) for k in range(10))
    outcome = run(workload=workloads.Script(lines=(*lines, (20.0, 0, None, None))), settle=30.0)
    rows = outcome.trace().rows
    last = rows[(rows["kind"] == SEND) & (rows["time"] < 20.0)]["time"].max()
    assert last < 1.5
    assert all(not member.process.concerned() for member in outcome.simulation.members)


def test_the_state_is_bounded_under_sustained_load_while_all_live():
    outcome = run(members=5, messages=3000, workload=workloads.Saturated(window=2), watch_buffers=True)
    assert outcome.trace().info.facts["bounds"]["received"]["most"] < 60
    process = outcome.simulation.members[0].process
    assert len(process.order.acks) + len(process.order.entries) + len(process.voting.awaiting) < 150
