"""The counter protocol in scenes: one node, a scripted port, one sentence of CH per test; and the notes' ten traps."""

import pytest

from ordercast.core import parameters_of
from ordercast.parts.counter_node import Msg, Req
from ordercast.parts.counter_state import Entry, Flow, Ring, T, founding, no_flow
from ordercast.parts.token_list import Agree, Answer, Call, Join, Past, Propose
from ordercast.protocols.counter import Counter
from tests.protocols.scripted import Script

A, B, C = 0, 1, 2


@pytest.fixture
def port():
    return Script()


def node(port, me=B, members=(A, B, C), **parameters):
    kind = port.kind or Counter
    process = kind(me, members, port, parameters_of(kind, parameters))
    process.start()
    port.take()
    return process


def token(c, n, t, *state, ring=None, flow=None):
    ring = ring or Ring((A, B, C), (0, 0, 0))
    return T(c, n, t, tuple(state), ring, flow or no_flow(ring))


def msg(sender, k, to=(), p=0):
    return Msg(sender, to, p, k, b"%d.%d" % (sender, k))


class TestBroadcasting:
    def test_any_node_broadcasts_at_any_time(self, port):
        """3.1: if there is a message to be broadcast at any time then broadcast it."""
        process = node(port, C)
        process.broadcast(b"c")
        assert port.take() == [("multicast", Msg(C, (), 0, 0, b"c"), None)]

    def test_a_message_that_is_in_the_data_list_is_discarded(self, port):
        process = node(port)
        process.receive(A, msg(A, 0))
        process.receive(C, Msg(A, (), 0, 0, b"other"))
        assert process.store[A, 0] == msg(A, 0)

    def test_the_destinations_of_a_multicast_travel_with_the_message_and_stand_in_s(self, port):
        """6, Fig. 9: the IDs field records the destination nodes."""
        process = node(port, A)
        process.expire("token_owner")
        process.broadcast(b"x", to=(A, C))
        process.broadcast(b"y")
        assert port.take("multicast")[1:] == [
            ("multicast", Msg(A, (A, C), 1, 0, b"x"), (C,)),
            ("multicast", Msg(A, (), 1, 1, b"y"), None),
        ]
        process.receive(C, token(C, A, 1))
        process.expire("token_owner")
        assert [(entry.first, entry.below, entry.to) for entry in process.token.S] == [(0, 1, (A, C)), (1, 2, ())]

    def test_a_message_to_a_part_is_committed_by_the_expected_count_of_its_ids(self, port):
        """6: committed when the counter equals the expected number of the related IDs field; here B alone counts."""
        process = node(port)
        process.receive(A, msg(A, 0, to=(A, B)))
        process.receive(A, token(A, B, 1, Entry(A, 0, 0, 1, to=(A, B))))
        process.expire("token_owner")
        [mine] = process.token.S
        assert mine.counter == 1
        assert port.take("deliver") == []  # C has not seen it yet
        process.receive(C, token(C, A, 1, mine))
        assert port.take("deliver") == [("deliver", A, 0, b"0.0")]

    def test_whoever_is_no_destination_neither_asks_counts_nor_delivers_but_goes_on(self, port):
        process = node(port, C)
        process.receive(B, token(B, C, 1, Entry(A, 0, 0, 1, 1, to=(A, B))))
        process.expire("token_owner")
        assert process.token.S[0].counter == 1
        asked = port.take("deliver", "send")
        assert asked == []
        assert process.ledger.next == 1


class TestTheToken:
    def test_the_start_node_passes_the_first_token_after_the_token_owner_time(self, port):
        process = Counter(A, (A, B, C), port)
        process.start()
        assert ("set_timer", "token_owner", 0.01) in port.take()
        process.expire("token_owner")
        assert port.take("multicast") == [("multicast", token(A, B, 1), None)]

    def test_only_the_next_owner_takes_the_ownership(self, port):
        process = node(port, C)
        process.receive(A, token(A, B, 1))
        assert process.state == "idle"
        process.receive(B, token(B, C, 1))
        assert process.state == "owner"
        assert process.P == 1

    def test_the_owner_attaches_what_it_sent_in_the_previous_cycle_and_raises_the_counters(self, port):
        """3.1, the token-owner timer: two operations."""
        process = node(port)
        process.broadcast(b"b0")
        process.receive(A, msg(A, 0))
        process.receive(A, token(A, B, 1, Entry(A, 0, 0, 1)))
        process.broadcast(b"b1")  # of the next cycle
        process.expire("token_owner")
        assert port.sent(T) == [token(B, C, 1, Entry(A, 0, 0, 1, 1), Entry(B, 0, 0, 1, place=1))]

    def test_an_old_copy_of_the_token_makes_no_second_owner(self, port):
        process = node(port)
        process.receive(A, token(A, B, 1))
        process.expire("token_owner")
        process.receive(C, token(C, A, 1))
        port.take()
        process.receive(A, token(A, B, 1))
        assert process.state == "idle"
        assert port.take() == [("send", A, token(C, A, 1))]

    def test_a_node_whose_turn_is_repeated_repeats_its_own_token(self, port):
        process = node(port)
        process.receive(A, token(A, B, 1))
        process.expire("token_owner")
        port.take()
        process.receive(A, token(A, B, 1))
        assert port.sent(T) == [token(B, C, 1)]

    def test_a_lost_token_is_issued_again_after_a_random_delay_l_times(self, port):
        """3.3: reissue after a randomly chosen delay; after L times conclude that the next owner has failed."""
        process = node(port, A, tries=2)
        process.expire("token_owner")
        port.take()
        for _ in range(2):
            process.expire("lost")
            assert port.take() == [("set_timer", "reissue", 0.01)]
            process.expire("reissue")
            assert port.take("multicast") == [("multicast", token(A, B, 1), None)]
        process.expire("lost")
        asked = port.take()
        assert ("suspect", B) in asked
        assert ("multicast", Call((1, A), token(A, B, 1)), (B, C)) in asked


class TestLoss:
    def test_a_loss_shows_on_the_token_and_is_asked_for_with_a_timer_and_a_number(self, port):
        process = node(port, C)
        process.receive(A, msg(A, 1))
        process.receive(A, token(A, B, 1, Entry(A, 0, 0, 3)))
        asked = port.take()
        assert ("send", A, Req(C, A, 0, (0, 2), 1)) in asked
        assert ("set_timer", ("request", A, 0, 0), 0.05) in asked
        process.expire(("request", A, 0, 0))
        assert ("send", A, Req(C, A, 0, (0, 2), 2)) in port.take()
        process.receive(A, msg(A, 0))
        process.receive(A, msg(A, 2))
        process.expire(("request", A, 0, 0))
        assert port.take() == []

    def test_one_request_per_message_is_a_variant(self, port):
        process = node(port, C, batch_requests=False)
        process.receive(A, token(A, B, 1, Entry(A, 0, 0, 2)))
        assert port.sent(Req) == [Req(C, A, 0, (0,), 1), Req(C, A, 0, (1,), 1)]

    @pytest.mark.parametrize(
        ("repairs", "frame"), [(True, ("multicast", msg(B, 0), None)), (False, ("send", C, msg(B, 0)))]
    )
    def test_a_request_is_served_once_and_its_repetition_again(self, port, repairs, frame):
        process = node(port, multicast_repairs=repairs)
        process.broadcast(b"1.0")
        port.take()
        process.receive(C, Req(C, B, 0, (0,), 1))
        assert port.take() == [frame]
        process.receive(C, Req(C, B, 0, (0,), 1))  # a copy
        assert port.take() == []
        process.receive(C, Req(C, B, 0, (0,), 2))
        assert port.take() == [frame]

    def test_a_loss_is_found_within_two_cycles_even_if_only_ones_own_token_arrives(self, port):
        """1: the protocol can detect a message loss in at most two-cycles time."""
        process = node(port)
        process.receive(A, token(A, B, 1))
        process.expire("token_owner")
        port.take()  # C sends c0 now, in its cycle 1, and attaches it at t = 2: all of that is lost on B
        process.receive(A, token(A, B, 2))
        process.expire("token_owner")
        port.take()
        process.receive(A, token(A, B, 3, Entry(C, 1, 0, 1, 1, place=2)))
        assert port.sent(Req) == [Req(B, C, 1, (0,), 1)]


class TestFlowControl:
    """3.2: local, localC, global, globalC."""

    def test_a_nearly_full_owner_sets_its_local_flag_and_cycle_and_takes_them_back(self):
        port = Script(room=64)
        process = node(port)
        port.free = 31
        process.receive(A, token(A, B, 1))
        process.expire("token_owner")
        assert process.token.flow == Flow((False, True, False), (0, 1, 0))
        port.free = 60
        process.receive(A, token(A, B, 2, flow=process.token.flow))
        process.expire("token_owner")
        assert process.token.flow == Flow((False, False, False), (0, 0, 0))

    def test_nobody_sends_to_a_node_that_is_nearly_full(self, port):
        process = node(port)
        process.receive(C, token(A, B, 1, flow=Flow((False, False, True), (0, 0, 1))))
        process.broadcast(b"to A", to=(A, B))
        assert port.sent(Msg) == [Msg(B, (A, B), 1, 0, b"to A")]
        process.broadcast(b"to all")
        assert port.sent(Msg) == []
        assert not process.ready()
        process.expire("token_owner")
        process.receive(C, token(C, A, 1))  # C has room again
        assert [each.msg for each in port.sent(Msg)] == [b"to all"]
        assert process.ready()

    def test_a_message_that_waits_for_room_is_not_attached(self, port):
        process = node(port)
        process.receive(A, token(A, B, 1, flow=Flow((False, False, True), (0, 0, 1))))
        process.broadcast(b"to all")
        process.expire("token_owner")
        process.receive(A, token(A, B, 2, flow=Flow((False, False, True), (0, 0, 2))))
        process.expire("token_owner")
        assert process.token.S == ()

    def test_an_overloaded_network_stops_everybody_until_it_is_not(self, port):
        process = node(port, overload=4)
        process.receive(A, token(A, B, 1, Entry(A, 0, 0, 4)))
        process.expire("token_owner")
        assert process.token.flow.everywhere
        assert process.token.flow.everywhere_cycle == 1
        assert not process.ready()
        process.receive(C, token(C, A, 1, Entry(A, 0, 0, 4, 1)))  # C, with another limit, sees no overload
        assert process.ready()

    def test_tokens_and_requests_go_on_while_nobody_may_send(self, port):
        """Trap 9: else what is lost stays lost, and the load never falls."""
        stopped = Flow((True, True, True), (1, 1, 1), True, 1)
        process = node(port)
        process.broadcast(b"1.0")
        process.receive(A, token(A, B, 1, Entry(A, 0, 0, 1), flow=stopped))
        process.receive(C, Req(C, B, 0, (0,), 1))
        process.expire("token_owner")
        kinds = [type(args[-1] if verb == "send" else args[0]) for verb, *args in port.frames()]
        assert kinds == [Msg, Req, Msg, T]


class TestTraps:
    def test_1_an_entry_is_counted_once(self, port):
        process = node(port)
        process.receive(A, msg(A, 0))
        process.receive(A, token(A, B, 1, Entry(A, 0, 0, 1)))
        process.expire("token_owner")
        process.receive(A, token(A, B, 2, Entry(A, 0, 0, 1, 1)))  # C lacks it
        process.expire("token_owner")
        assert process.token.S[0].counter == 1

    def test_2_a_retransmission_during_the_turn_counts_in_it(self, port):
        process = node(port)
        process.receive(A, token(A, B, 1, Entry(A, 0, 0, 1)))
        process.receive(A, msg(A, 0))
        process.expire("token_owner")
        assert process.token.S[0].counter == 1

    def test_3_an_owner_removes_every_complete_entry_of_its_own(self, port):
        process = node(port)
        late = [Entry(B, 0, 0, 1, 2, place=1), Entry(B, 1, 1, 2, 1, place=1), Entry(B, 2, 2, 3, 2, place=1)]
        process.store = {(B, k): msg(B, k) for k in range(3)}
        process.sent = process.attached = 3
        process.P = 3
        process.receive(A, token(A, B, 4, *late))
        process.expire("token_owner")
        assert (late[1],) == process.token.S

    def test_4_who_is_not_the_next_owner_compares_and_commits(self, port):
        process = node(port)
        process.receive(A, msg(A, 0))
        process.receive(A, token(A, B, 1, Entry(A, 0, 0, 1)))
        process.expire("token_owner")
        port.take()
        process.receive(C, token(C, A, 1, Entry(A, 0, 0, 1, 2)))
        assert port.take("deliver") == [("deliver", A, 0, b"0.0")]
        process = node(port)
        process.receive(C, token(C, A, 1, Entry(C, 0, 0, 1, place=2)))
        assert port.sent(Req) == [Req(B, C, 0, (0,), 1)]

    def test_5_a_cycle_is_not_committed_before_all_have_attached_it(self, port):
        process = node(port, A)
        process.receive(B, msg(B, 0))
        process.expire("token_owner")
        process.receive(B, token(B, C, 1))
        port.take()
        # A and B attached nothing of cycle 0, and nothing waits: but C has not spoken.
        assert process.ledger.next == 0
        process.receive(C, token(C, A, 1))
        assert process.ledger.next == 1

    def test_6_the_first_of_a_new_list_accepts_the_token_in_its_own_cycle(self, port):
        process = node(port, C)
        ring = Ring((C, B), (0, 0), 1, 3, (2, A))
        process.receive(B, T(B, C, 3, (), ring, no_flow(ring)))
        assert process.state == "owner"
        assert process.P == 4
        process.expire("token_owner")
        assert port.sent(T)[-1] == T(C, B, 4, (), ring, no_flow(ring))

    def test_7_a_new_list_counts_old_entries_again(self, port):
        """B and C hold A's message and A is gone: what B counted says nothing about C."""
        process = node(port)
        process.receive(A, msg(A, 0))
        process.receive(A, token(A, B, 1, Entry(A, 0, 0, 1)))
        process.expire("token_owner")
        assert process.token.S[0].counter == 1
        ring = Ring((B, C), (0, 0), 1, 2, (1, B))
        process.receive(C, T(C, B, 2, (Entry(A, 0, 0, 1),), ring, no_flow(ring)))
        process.expire("token_owner")
        assert process.token.S[0].counter == 1
        assert port.take("deliver") == []
        process.receive(C, T(C, B, 3, (Entry(A, 0, 0, 1, 2),), ring, no_flow(ring)))
        assert port.take("deliver") == [("deliver", A, 0, b"0.0")]

    def test_7_the_newest_state_goes_on_whoever_calls(self, port):
        process = node(port, A, tries=1)
        process.expire("token_owner")
        process.expire("silence")
        newer = token(B, C, 1, Entry(B, 0, 0, 1, place=1))
        process.receive(B, Answer((1, A), newer, None, 0, (), ()))
        process.receive(C, Answer((1, A), token(A, B, 1), None, 0, (), ()))
        [proposal] = port.sent(Propose)
        assert proposal.token.S == newer.S
        assert proposal.token.ring == Ring((A, B, C), (0, 0, 0), 1, 2, (1, B))

    def test_8_a_newcomer_is_not_waited_for_by_older_entries_nor_asks_for_them(self, port):
        process = Counter(3, (A, B, C), port)
        process.start(joining=True)
        assert port.take("send") == [("send", A, Join(-1, -1))]
        ring = Ring((A, B, C, 3), (0, 0, 0, 5), 1, 5, (4, A))
        process.receive(C, T(C, 3, 6, (Entry(A, 3, 7, 8, 2),), ring, no_flow(ring)))
        assert port.sent(Req) == []
        process.expire("token_owner")
        assert (Entry(A, 3, 7, 8, 2),) == process.token.S

    # 9 stands in TestFlowControl; 10, the cut-off end of the pseudo-code, in tests/vectors (fig2.json, cb_rounds.json).


class TestTheVote:
    def test_who_has_promised_follows_no_more_tokens_of_the_configuration(self, port):
        process = node(port)
        process.receive(C, Call((1, C), token(A, B, 1)))
        assert [type(each) for each in port.sent(Answer)] == [Answer]
        process.receive(A, token(A, B, 1))
        assert process.state == "idle"

    def test_a_caller_proposes_what_may_have_been_decided(self, port):
        process = node(port, tries=1)
        process.expire("silence")
        other = token(C, C, 1, ring=Ring((C, A), (0, 0), 1, 1))
        process.receive(C, Answer((1, B), token(A, B, 1), ((3, C), other), 0, (), ()))
        process.expire("call")
        assert port.sent(Propose) == [Propose((1, B), other)]

    def test_nothing_is_decided_without_a_majority(self, port):
        process = node(port, A, members=(A, B, C, 3, 4), tries=1)
        process.expire("silence")
        process.receive(B, Answer((1, A), process.token, None, 0, (), ()))
        for _ in range(3):
            process.expire("call")
        assert port.sent(Propose) == []
        process.receive(C, Answer((1, A), process.token, None, 0, (), ()))
        process.expire("call")
        [proposal] = port.sent(Propose)
        process.receive(B, Agree((1, A), 0))
        assert process.ring.number == 0
        process.receive(C, Agree((1, A), 0))
        assert process.ring == proposal.token.ring
        assert process.ring.nodes == (A, B, C)

    def test_messages_that_nobody_has_go_with_their_sender(self, port):
        process = node(port, A, tries=1)
        process.receive(C, msg(C, 0))
        process.expire("token_owner")
        newest = token(C, A, 1, Entry(C, 0, 0, 3, place=2))
        process.receive(C, newest)
        process.expire("silence")
        process.receive(B, Answer((1, A), newest, None, 0, ((C, 2, 3),), ()))
        process.expire("call")
        [proposal] = port.sent(Propose)
        assert (Entry(C, 0, 0, 1, place=2),) == proposal.token.S


class TestComingBack:
    def outside(self, port):
        process = node(port, C)
        process.receive(A, msg(A, 0))
        process.receive(A, token(A, B, 1, Entry(A, 0, 0, 1)))
        process.broadcast(b"c0")
        ring = Ring((A, B), (0, 0), 1, 2, (1, B))
        process.receive(A, T(A, B, 3, (), ring, no_flow(ring)))
        assert process.state == "outside"
        assert not process.ready()
        assert port.sent(Join) == [Join(0, -1)]
        return process

    def test_a_deleted_node_delivers_what_was_in_s_and_joins_again(self, port):
        process = self.outside(port)
        past = Past(1, 2, (1, B), 0, (Entry(A, 0, 0, 1), Entry(B, 0, 0, 1, place=1)))
        process.receive(B, past)
        assert port.frames() == [("send", B, Req(C, B, 2, (0,), 1))]
        process.receive(B, msg(B, 0))
        asked = port.take("deliver", "send")
        assert asked == [("deliver", A, 0, b"0.0"), ("deliver", B, 0, b"1.0"), ("send", B, Join(0, 1))]

    def test_what_was_attached_after_the_last_token_is_void(self, port):
        process = self.outside(port)
        process.ledger.see([Entry(C, 0, 0, 1, place=2)])  # it had passed on a token that nobody got
        process.receive(B, Past(1, 2, (1, B), 0, (Entry(A, 0, 0, 1),)))
        assert port.take("deliver") == [("deliver", A, 0, b"0.0")]
        assert process.attached == 0
        assert process.store.keys() == {(C, 0)}

    def test_who_deleted_it_answers_when_all_of_that_is_committed(self, port):
        process = node(port, A)
        process.expire("token_owner")
        ring = Ring((A, B), (0, 0), 1, 2, (1, A))
        process.receive(B, T(B, A, 2, (Entry(B, 0, 0, 1, place=1),), ring, no_flow(ring)))
        port.take()
        process.receive(C, Join(0, -1))
        assert port.take() == []
        process.receive(B, msg(B, 0))
        process.expire("token_owner")
        process.receive(B, T(B, A, 3, process.token.S, ring, no_flow(ring)))
        port.take()
        process.receive(C, Join(0, -1))
        assert [type(each) for each in port.sent(Past)] == [Past]
        process.receive(C, Req(C, B, 2, (0,), 1))
        assert port.take() == [("send", C, msg(B, 0))]
        process.receive(C, Join(0, 1))
        assert process.joining == {C: 1}


def test_what_is_lost_after_a_node_was_deleted_is_not_for_it_either(port):
    """D is deleted; then C crashes with a message that only it had: D must not wait for that."""
    process = node(port, A, members=(A, B, C, 3))
    first = Ring((A, B, C), (0, 0, 0), 1, 2, (1, C))
    process.receive(B, T(B, A, 2, (Entry(C, 0, 0, 2, place=2),), first, no_flow(first)))
    assert (Entry(C, 0, 0, 2, place=2),) == process.past[3].S
    second = Ring((A, B), (0, 0), 2, 4, (3, A))
    process.receive(B, T(B, A, 4, (Entry(C, 0, 0, 1, place=2),), second, no_flow(second)))
    assert (Entry(C, 0, 0, 1, place=2),) == process.past[3].S


def test_a_node_is_a_value():
    port = Script()
    process = node(port)
    process.receive(A, msg(A, 0))
    twin = process.copy(Script())
    process.receive(A, token(A, B, 1, Entry(A, 0, 0, 1)))
    assert (twin.state, twin.P, twin.ledger.cycles) == ("idle", 0, {})
    assert process.ledger.cycles


def test_the_first_token_is_the_founders():
    assert founding((A, B, C)) == token(A, A, 0)
