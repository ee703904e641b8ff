"""Trans: scenes from MMA II, one sentence each."""

import pytest

from ordercast.core import codec
from ordercast.parts.exchange import Broadcast, Call, ExchangeParameters, Null
from ordercast.protocols.trans import Trans
from tests.protocols.paper_port import PaperPort

P, Q, R, S = range(4)


def member(me, members=(P, Q, R, S), **parameters):
    process = Trans(me, members, PaperPort(), ExchangeParameters(**parameters))
    process.start()
    return process


def word(origin, seq, acks=(), lacks=(), n=None, to=()):
    return Broadcast(origin, seq, tuple(acks), tuple(lacks), seq if n is None else n, to, b"%d.%d" % (origin, seq))


def says(process):
    """What the process broadcasts next, the channel taking it at once."""
    process.broadcast(b"x")
    process.clear()
    frames = process.port.sent()
    return frames[-1]


class TestTheScenario:
    """II.A: P broadcasts a message, Q acknowledges it, R hears of it."""

    def test_q_includes_a_positive_acknowledgment_in_its_next_message_and_in_no_later_one(self):
        q = member(Q)
        q.receive(P, word(P, 0))
        assert says(q).acks == ((P, 0),)
        assert says(q).acks == ()

    def test_r_acknowledges_q_and_need_not_acknowledge_p(self):
        r = member(R)
        r.receive(P, word(P, 0))
        r.receive(Q, word(Q, 0, acks=[(P, 0)]))
        assert says(r).acks == ((Q, 0),)

    def test_r_lacks_ps_message_and_says_so_until_it_comes(self):
        r = member(R)
        r.receive(Q, word(Q, 0, acks=[(P, 0)]))
        assert says(r).lacks == ((P, 0),)
        assert says(r).lacks == ((P, 0),)
        r.receive(P, word(P, 0))
        spoken = says(r)
        assert spoken.lacks == ()
        assert spoken.acks == ((P, 0),)


class TestReceiving:
    def test_a_gap_in_the_numbers_is_a_loss(self):
        q = member(Q)
        q.receive(P, word(P, 2))
        assert says(q).lacks == ((P, 0), (P, 1))

    def test_a_negative_acknowledgment_of_what_one_has_not_either_is_adopted(self):
        q = member(Q)
        q.receive(R, word(R, 0, lacks=[(P, 0)]))
        assert says(q).lacks == ((P, 0),)

    def test_a_large_discontinuity_is_left_to_others(self):
        q = member(Q, window=4)
        q.receive(P, word(P, 4))
        q.receive(R, word(R, 0, acks=[(P, 4)]))
        assert says(q) == Broadcast(Q, 0, (), (), 0, (), b"x")
        q.receive(P, word(P, 3))
        assert says(q).lacks == ((P, 0), (P, 1), (P, 2))

    def test_a_second_copy_changes_nothing(self):
        q = member(Q)
        q.receive(P, word(P, 0))
        q.receive(R, word(P, 0))
        assert q.port.take() == [("deliver", P, 0)]
        assert says(q).acks == ((P, 0),)


class TestRetransmission:
    def test_it_is_identical(self):
        p = member(P)
        p.receive(Q, word(Q, 0))
        first = says(p)
        p.receive(R, word(R, 0, lacks=[(P, 0)]))
        assert p.port.sent() == [first]

    def test_any_holder_retransmits_when_its_turn_comes_the_source_being_first(self):
        p, r = member(P), member(R)
        for process in (p, r):
            process.receive(Q, word(Q, 0))
            process.receive(S, word(S, 0, lacks=[(Q, 0)]))
        assert r.port.timers["turn", (Q, 0)] < p.port.timers["turn", (Q, 0)]
        r.port.take()
        r.port.expire(r, ("turn", (Q, 0)))
        assert r.port.sent() == [word(Q, 0)]

    def test_not_if_it_observes_that_another_has(self):
        r = member(R)
        r.receive(Q, word(Q, 0))
        r.receive(S, word(S, 0, lacks=[(Q, 0)]))
        r.receive(P, word(Q, 0))
        assert ("turn", (Q, 0)) not in r.port.timers
        assert not r.lists.pending

    def test_a_demand_older_than_the_copy_is_not_answered_again(self):
        p = member(P)
        says(p)
        p.receive(R, word(R, 0, lacks=[(P, 0)]))
        p.clear()
        p.port.take()
        p.receive(S, word(S, 0, lacks=[(P, 0)]))
        assert p.port.sent() == []
        p.port.expire(p, ("guard", (P, 0)))
        p.receive(R, word(R, 1, lacks=[(P, 0)]))
        assert len(p.port.sent()) == 1

    def test_after_the_time_out_what_nobody_acknowledged_goes_out_again(self):
        p = member(P)
        first, second = says(p), says(p)
        p.receive(Q, word(Q, 0, acks=[(P, 0)]))
        p.port.take()
        p.port.expire(p, "timeout")
        p.port.expire(p, "timeout")
        p.clear()
        assert first not in p.port.asked
        assert second in p.port.asked


class TestNullMessages:
    def test_without_a_broadcast_of_its_own_a_null_message_carries_the_acknowledgments(self):
        q = member(Q)
        q.receive(P, word(P, 0))
        q.port.take()
        q.port.expire(q, "null")
        assert q.port.sent() == [Null(Q, 0, ((P, 0),), ())]

    def test_a_lack_is_told_sooner(self):
        q = member(Q)
        q.receive(P, word(P, 1))
        assert q.port.timers["ask"] < q.port.timers["null"]
        q.port.take()
        q.port.expire(q, "ask")
        assert q.port.sent() == [Null(Q, 0, ((P, 1),), ((P, 0),))]

    def test_without_a_number_if_it_has_nothing_else_to_say(self):
        q = member(Q)
        q.receive(P, Null(P, 1, (), ()))
        q.port.expire(q, "ask")
        assert q.port.sent() == [Call((2, 0, 0, 0), ((P, 0),))]

    def test_a_null_message_calls_forth_none(self):
        q = member(Q)
        q.receive(P, Null(P, 0, (), ()))
        assert q.port.timers == {}

    def test_a_broadcast_of_its_own_makes_the_null_message_superfluous(self):
        q = member(Q)
        q.receive(P, word(P, 0))
        says(q)
        assert "null" not in q.port.timers

    def test_a_call_is_answered_with_what_the_caller_has_not_heard_of(self):
        p, q = member(P), member(Q)
        said = says(p)
        p.receive(Q, Call((0, 0, 0, 0), ()))
        assert p.port.sent() == [said]
        q.receive(P, Call((1, 0, 0, 0), ()))
        assert says(q).lacks == ((P, 0),)


class TestAcknowledgmentsThatDoNotFit:
    def test_they_go_ahead_on_null_messages_negative_ones_on_all(self):
        q = member(Q, acks=1)
        for source in (P, R, S):
            q.receive(source, word(source, 0))
        q.receive(P, word(P, 2))
        q.port.take()
        q.broadcast(b"x")
        frames = []
        for _ in range(4):
            frames += q.port.sent()
            q.clear()
        assert [(type(frame), frame.acks, frame.lacks) for frame in frames] == [
            (Null, ((P, 0),), ((P, 1),)),
            (Null, ((R, 0),), ((P, 1),)),
            (Null, ((S, 0),), ((P, 1),)),
            (Broadcast, ((P, 2),), ((P, 1),)),
        ]


class TestPruning:
    """II.A, Pruning the Received List; II.C, OPD by enumeration."""

    def test_a_message_is_kept_until_all_have_it_and_reported_stable_then(self):
        p = member(P)
        says(p)
        p.receive(Q, Null(Q, 0, ((P, 0),), ()))
        p.receive(R, Null(R, 0, ((Q, 0),), ()))
        p.receive(S, Null(S, 0, (), ((P, 0),)))
        assert (P, 0) in p.lists.received
        p.port.take()
        p.receive(S, Null(S, 1, ((R, 0),), ()))
        assert ("stable", P, 1) in p.port.take()
        assert (P, 0) not in p.lists.received
        assert not p.concerned()

    def test_a_new_membership_frees_what_was_kept_for_those_it_leaves_out(self):
        p = member(P, members=(P, Q, R), history=2)
        says(p)
        assert p.ready()
        p.receive(Q, Null(Q, 0, ((P, 0),), ()))
        assert not p.ready()
        p.install((P, Q))
        assert p.ready()
        p.receive(R, word(R, 0))
        assert (R, 0) not in p.lists.received, "it has stopped; what it says now is not taken"

    def test_only_a_part_of_the_membership_can_be_installed(self):
        with pytest.raises(ValueError, match="can install a part"):
            member(P).install((Q, R))


def test_the_members_that_hold_everybody_up_are_suspected():
    p = member(P, members=(P, Q, R), history=2)
    p.broadcast(b"x")
    p.clear()
    p.port.take()
    p.receive(Q, Null(Q, 0, ((P, 0),), ()))
    assert ("suspect", R) in p.port.take()


def test_a_message_for_others_is_acknowledged_and_not_delivered():
    q = member(Q)
    q.receive(P, word(P, 0, to=(R, S)))
    assert q.port.take() == []
    assert says(q).acks == ((P, 0),)


def test_the_next_message_is_composed_when_the_channel_has_taken_the_last():
    p = member(P)
    p.broadcast(b"x")
    assert not [frame for frame in p.port.sent() if frame.seq]
    p.broadcast(b"y")
    assert not p.ready()
    p.receive(Q, word(Q, 0))
    p.clear()
    assert p.port.sent()[-1].acks == ((Q, 0),)


def test_delivery_waits_for_what_a_message_follows():
    q = member(Q)
    q.receive(R, word(R, 0, acks=[(P, 0)]))
    assert q.port.take() == []
    q.receive(P, word(P, 0))
    assert q.port.take() == [("deliver", P, 0), ("deliver", R, 0)]


def test_the_first_example():
    """II.B: A Ba Cb Dc Ec'd Cb Fec, where E and F lose the first copy of C.

    By the rules E acknowledges B as well, because it lost C, which would have spared it that; the text leaves it out.
    """
    crowd = [member(k, members=range(6)) for k in range(6)]
    log = []

    def speak(k, deaf=()):
        crowd[k].broadcast(b"x")
        frame = crowd[k].port.sent()[-1]
        crowd[k].clear()
        hear(k, frame, deaf)

    def hear(k, frame, deaf=()):
        log.append(("ABCDEF"[frame.origin], [tuple(x) for x in frame.acks], [tuple(x) for x in frame.lacks]))
        for other in range(6):
            if other != k and other not in deaf:
                crowd[other].receive(k, frame)

    for k in range(4):
        speak(k, deaf=(4, 5) if k == 2 else ())
    speak(4)
    hear(2, crowd[2].port.sent()[-1])
    speak(5)
    a, b, c, d, e = ((k, 0) for k in range(5))
    assert log == [
        ("A", [], []),
        ("B", [a], []),
        ("C", [b], []),
        ("D", [c], []),
        ("E", [b, d], [c]),
        ("C", [b], []),
        ("F", [e, c], []),
    ]


@pytest.mark.parametrize(
    "message", [word(P, 3, [(Q, 1)], [(R, 2)], to=(Q,)), Null(P, 0, (), ()), Call((1, 2), ((P, 0),))]
)
def test_a_message_survives_the_wire(message):
    encode, decode = codec(Trans)
    assert decode(encode(message)) == message


def test_a_copy_is_independent():
    p = member(P)
    p.receive(Q, word(Q, 1))
    says(p)
    twin = p.copy(PaperPort())
    twin.receive(Q, word(Q, 0))
    says(twin)
    assert p.lists.negative == {(Q, 0): None}
    assert p.seq == 1
    assert list(p.unplaced) == [(Q, 1)]
