"""DTP, CM, Pinwheel and Totem, a sentence of KK at a time."""

import pytest

from ordercast.parts.token_passing import Ack, Msg, Req
from ordercast.protocols.catalog import protocol
from ordercast.protocols.cm import CM
from ordercast.protocols.dtp import DTP
from ordercast.protocols.pinwheel import Pinwheel
from ordercast.protocols.totem import NOBODY, Numbered, Token, Totem
from ordercast.sim import Run, simulate, workloads
from ordercast.trace import Recorder
from ordercast.trace.columns import REACH


class Script:
    """A port that only writes down what it was asked for."""

    def __init__(self):
        self.asked = []

    def __getattr__(self, verb):
        return lambda *args: self.asked.append((verb, *args))

    def take(self, *verbs):
        asked, self.asked = self.asked, []
        return [each for each in asked if not verbs or each[0] in verbs]


def member(kind, me, size=3, **parameters):
    port = Script()
    process = kind(me, range(size), port, kind.Parameters(**parameters))
    process.start()
    port.take()
    return process, port


class TestDTP:
    """KK 4.2."""

    def test_upon_a_request_it_multicasts_msg_and_waits_for_its_ack(self):
        dtp, port = member(DTP, 1)
        dtp.broadcast(b"u")
        assert port.take() == [("multicast", Msg(1, 0, 0, b"u")), ("set_timer", "message", 0.05)]
        assert not dtp.ready()  # S.ACK is WAIT: another is deferred until DONE
        dtp.receive(0, Ack(0, ((1, 0),), 1, 2, 1, 0))
        assert dtp.ready()

    def test_the_holder_gives_the_next_gsn_and_the_token_to_the_least_active(self):
        dtp, port = member(DTP, 0)
        dtp.receive(1, Msg(1, 0, 0, b"u"))
        assert port.take("multicast", "deliver") == [
            ("multicast", Ack(0, ((1, 0),), 1, 1, 1, 0)),
            ("deliver", 1, 0, b"u"),
        ]
        assert dtp.token == "TRST"

    def test_the_least_active_is_the_one_whose_hgsn_is_least(self):
        dtp, _ = member(DTP, 0, size=4)
        dtp.R.update({1: 5, 2: 3, 3: 4})
        assert dtp.next_holder() == 2

    def test_a_msg_not_yet_acknowledged_is_multicast_again_at_every_timeout(self):
        dtp, port = member(DTP, 1)
        dtp.broadcast(b"u")
        port.take()
        dtp.expire("message")
        assert port.take("multicast") == [("multicast", Msg(1, 0, 0, b"u"))]

    def test_an_ack_for_a_message_that_it_lacks_makes_it_ask_for_that_message(self):
        dtp, port = member(DTP, 2)
        dtp.receive(0, Ack(0, ((1, 0),), 1, 1, 1, 0))
        assert port.take("multicast") == [("multicast", Req(0, (), ((1, 0),)))]
        assert dtp.R[2] == 0  # R says what I hold: it does not rise before U is there
        dtp.receive(0, Msg(1, 0, 0, b"u"))
        assert port.take("deliver", "cancel_timer") == [("deliver", 1, 0, b"u"), ("cancel_timer", "request")]
        assert dtp.R[2] == 1

    def test_an_ack_ahead_shows_that_acks_were_lost(self):
        dtp, port = member(DTP, 2)
        dtp.receive(1, Ack(1, ((0, 0),), 2, 0, 2, 0))
        assert port.take("multicast") == [("multicast", Req(0, (1,), ((0, 0),)))]

    def test_only_the_holder_answers_a_request_and_trst_answers_its_successor(self):
        dtp, port = member(DTP, 0)
        dtp.receive(1, Msg(1, 0, 0, b"u"))
        port.take()
        dtp.receive(2, Req(0, (1,), ()))  # TRST, and 2 is not the next holder
        assert port.take("send") == []
        dtp.receive(1, Req(0, (1,), ((1, 0),)))
        assert [each[1:] for each in port.take("send")] == [
            (1, Ack(0, ((1, 0),), 1, 1, 1, 0)),
            (1, Msg(1, 0, 0, b"u")),
        ]

    def test_the_new_holder_recovers_before_it_acknowledges(self):
        dtp, port = member(DTP, 1)
        dtp.receive(2, Msg(2, 0, 0, b"v"))
        dtp.receive(0, Ack(0, ((0, 0),), 1, 1, 1, 0))
        assert dtp.token == "HOLD"
        assert not any(isinstance(each[1], Ack) for each in port.take("multicast"))
        dtp.receive(0, Msg(0, 0, 0, b"u"))
        assert [each[1] for each in port.take("multicast")] == [Ack(1, ((2, 0),), 2, 2, 2, 0)]

    def test_the_silent_holder_passes_the_token_by_a_null_ack(self):
        dtp, port = member(DTP, 0)
        dtp.expire("silence")
        assert port.take("multicast") == [("multicast", Ack(0, (), 0, 1, 1, 0))]

    def test_a_pass_that_is_not_above_the_highest_seen_moves_nothing(self):
        dtp, _ = member(DTP, 1)
        dtp.receive(0, Ack(0, (), 0, 1, 1, 0))
        dtp.expire("silence")
        dtp.receive(2, Ack(2, (), 0, 0, 3, 0))
        dtp.receive(0, Ack(0, (), 0, 1, 1, 0))  # 0's null ACK, repeated and late
        assert dtp.token == "EMPT"

    def test_the_pass_is_repeated_until_a_later_one_is_seen(self):
        dtp, port = member(DTP, 0)
        dtp.receive(1, Msg(1, 0, 0, b"u"))
        port.take()
        dtp.expire("token")
        assert port.take("multicast") == [("multicast", Ack(0, ((1, 0),), 1, 1, 1, 0))]
        dtp.receive(1, Ack(1, (), 1, 2, 2, 0))
        assert dtp.token == "EMPT"
        assert ("cancel_timer", "token") in port.take()

    def test_stable_messages_are_removed_with_their_acks(self):
        dtp, port = member(DTP, 0)
        dtp.receive(1, Msg(1, 0, 0, b"u"))
        dtp.receive(1, Ack(1, (), 1, 2, 2, 0))
        assert port.take("reach") == []
        dtp.receive(2, Ack(2, (), 1, 0, 3, 0))
        assert port.take("reach") == [("reach", "stable", 1, 1)]
        assert not dtp.placed
        assert not dtp.acks

    def test_an_f_resilient_member_delivers_when_f_plus_one_hold_it(self):
        dtp, port = member(DTP, 0, F=1)
        dtp.receive(1, Msg(1, 0, 0, b"u"))
        assert port.take("deliver") == []
        dtp.receive(1, Ack(1, (), 1, 2, 2, 0))
        assert port.take("deliver") == [("deliver", 1, 0, b"u")]

    def test_more_resilience_than_members_is_refused(self):
        with pytest.raises(ValueError, match="survive fewer crashes"):
            member(DTP, 0, F=3)


class TestCMAndPinwheel:
    """KK 3."""

    def test_cm_passes_the_token_along_the_ring_whatever_r_says(self):
        cm, port = member(CM, 0)
        cm.R.update({1: 7, 2: 0})
        cm.receive(2, Msg(2, 0, 0, b"u"))
        assert port.take("multicast") == [("multicast", Ack(0, ((2, 0),), 1, 1, 1, 0))]

    def test_one_ack_of_pinwheel_orders_all_that_wait_each_sender_in_its_order(self):
        pinwheel, port = member(Pinwheel, 1)
        for msg in (Msg(2, 1, 0, b"c"), Msg(0, 0, 0, b"a"), Msg(2, 0, 0, b"b")):
            pinwheel.receive(msg.origin, msg)
        port.take()
        pinwheel.receive(0, Ack(0, (), 0, 1, 1, 0))
        assert port.take("multicast") == [("multicast", Ack(1, ((0, 0), (2, 0)), 2, 2, 2, 0))]

    def test_pinwheel_allows_m_outstanding_messages(self):
        pinwheel, _ = member(Pinwheel, 1, m=2)
        pinwheel.broadcast(b"a")
        assert pinwheel.ready()
        pinwheel.broadcast(b"b")
        assert not pinwheel.ready()


@pytest.mark.parametrize(
    ("name", "expected"), [("cm", [0, 0, 0, 0, 1, 2]), ("pinwheel", [0, 0, 0, 2, 3, 3]), ("dtp", [0, 0, 1, 1, 2, 4])]
)
def test_figure_1(name, expected):
    """Stable messages after each ACK, when members 1, 3, 5, 1, 2, 4 (counted from 1) send one after another."""
    lines = tuple((float(k), sender - 1, None, None) for k, sender in enumerate((1, 3, 5, 1, 2, 4)))
    silent = {"T": 1000.0, "token_timeout": 2000.0}  # no null ACK comes between
    run = Run(protocol=name, members=5, messages=6, workload=workloads.Script(lines=lines), parameters=silent)
    rows = simulate(protocol(name), run, Recorder()).trace().rows
    reached = rows[(rows["kind"] == REACH) & (rows["level"] == 1)]

    def known(who, time):
        mine = reached[(reached["member"] == who) & (reached["time"] < time)]
        return sum(mine["n"][mine["origin"] == origin].max(initial=0) for origin in range(5))

    assert [min(known(who, k + 0.5) for who in range(5)) for k in range(6)] == expected


class TestTotem:
    """KK 5."""

    def test_a_message_waits_for_the_token_and_gets_its_number_from_it(self):
        totem, port = member(Totem, 1)
        totem.broadcast(b"u")
        assert port.take() == []
        totem.receive(0, Token(1, 4, 0, 2, (), 0))
        assert ("multicast", Numbered(5, 1, 0, b"u")) in port.take()

    def test_the_token_goes_on_at_once_when_there_is_nothing_to_send(self):
        totem, port = member(Totem, 1)
        totem.receive(0, Token(1, 0, 0, NOBODY, (), 0))
        assert port.take("send") == [("send", 2, Token(2, 0, 0, NOBODY, (), 0))]

    def test_who_lacks_a_message_lowers_aru_and_asks_for_it(self):
        totem, port = member(Totem, 1)
        totem.receive(0, Token(1, 1, 1, NOBODY, (), 1))
        assert port.take("send") == [("send", 2, Token(2, 1, 0, 1, (1,), 1))]

    def test_who_has_it_sends_it_again(self):
        totem, port = member(Totem, 1)
        totem.receive(0, Numbered(1, 0, 0, b"u"))
        port.take()
        totem.receive(0, Token(1, 1, 0, 2, (1,), 0))
        assert port.take("multicast", "send") == [
            ("multicast", Numbered(1, 0, 0, b"u")),
            ("send", 2, Token(2, 1, 0, 2, (), 0)),
        ]

    def test_a_message_is_stable_on_the_second_visit(self):
        totem, port = member(Totem, 1)
        totem.receive(0, Numbered(1, 0, 0, b"u"))
        totem.receive(0, Token(1, 1, 1, NOBODY, (), 1))
        assert port.take("reach") == []
        totem.receive(0, Token(4, 1, 1, NOBODY, (), 1))
        assert port.take("reach") == [("reach", "stable", 0, 1)]

    def test_flow_control_limits_a_visit_and_a_rotation(self):
        totem, port = member(Totem, 1, visit=3, window=4)
        for k in range(3):
            totem.broadcast(b"%d" % k)
        assert not totem.ready()
        totem.receive(0, Token(1, 2, 0, 0, (), 2))
        assert len(port.take("multicast")) == 2
        assert totem.ready()

    def test_a_lost_token_is_passed_again_and_a_repeated_one_dropped(self):
        totem, port = member(Totem, 1)
        totem.receive(0, Token(1, 0, 0, NOBODY, (), 0))
        port.take()
        totem.expire("token")
        assert port.take("send") == [("send", 2, Token(2, 0, 0, NOBODY, (), 0))]
        totem.receive(0, Token(1, 0, 0, NOBODY, (), 0))
        assert port.take() == []


@pytest.mark.parametrize("name", ["dtp", "cm", "pinwheel", "totem"])
def test_destinations_are_refused(name):
    process, _ = member(protocol(name), 0)
    with pytest.raises(ValueError, match="whole group"):
        process.broadcast(b"u", (0, 1))
