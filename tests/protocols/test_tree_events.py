"""GK's Appendix I, one event at a time, at one host with a scripted port."""

import pytest

from ordercast.parts.runs import runs
from ordercast.parts.tree_words import Ask, Coordinator, Data, Desc, IAmCoordinator, Null, Probe, Status
from ordercast.protocols.tree import Tree
from tests.protocols.script_port import Script

TRANSMITS = ("send", "multicast")
EMPTY = ()


def host(me, size=4, lists=None, **parameters):
    """A host among 0..size-1, source 0; without lists host k may be coordinated by all below k."""
    if lists is not None:
        parameters["lists"] = (lists,)
    process = Tree(me, range(size), Script(), Tree.Parameters(sources=(0,), **{"gather": 0.0, **parameters}))
    process.start()
    process.port.take()
    return process


def give(process, *numbers, src=0):
    for n in numbers:
        process.receive(src, Data(0, n, 0, b"%d" % n))
    process.port.take()


def stream(process):
    return process.streams[0]


class TestTheSource:
    def test_messages_are_numbered_and_multicast_once(self):
        source = host(0)
        source.broadcast(b"x")
        source.broadcast(b"y")
        asked = source.port.take("deliver", *TRANSMITS)
        assert asked == [
            ("deliver", 0, 0, b"x"),
            ("multicast", Data(0, 0, 0, b"x")),
            ("deliver", 0, 1, b"y"),
            ("multicast", Data(0, 1, 0, b"y")),
        ]

    def test_after_delta_of_silence_a_null_message_carries_the_last_number(self):
        source = host(0, delta=0.25)
        source.broadcast(b"x")
        assert ("set_timer", "null", 0.25) in source.port.take()
        source.expire("null")
        assert source.port.take() == [("multicast", Null(0, 1, 0)), ("set_timer", "null", 0.25)]

    def test_it_answers_fills_and_forgets(self):
        source = host(0)
        source.broadcast(b"x")
        source.port.take()
        source.receive(2, Probe(0))
        source.receive(2, Desc(0, ((2, EMPTY), (3, EMPTY))))
        assert source.port.take() == [
            ("send", 2, Coordinator(0, 0)),
            ("multicast", Data(0, 0, 0, b"x", again=True), (2, 3)),
        ]
        assert (stream(source).coord, stream(source).desc) == (None, {})

    def test_reports_raise_the_floor_and_the_history_shrinks(self):
        source = host(0, size=3)
        for payload in (b"x", b"y"):
            source.broadcast(payload)
        source.receive(1, Status(0, 2))
        assert source.buffers() == {"history": (2, 10_000)}
        source.receive(2, Status(0, 1))
        assert source.buffers() == {"history": (1, 10_000)}
        source.port.take()
        source.expire("null")
        assert source.port.take("multicast") == [("multicast", Null(0, 2, 1))]

    @pytest.mark.parametrize(("when_full", "ready", "kept"), [("wait", False, [0, 1]), ("drop", True, [1, 2])])
    def test_a_full_history_is_a_clear_policy(self, when_full, ready, kept):
        source = host(0, history=2, when_full=when_full)
        source.broadcast(b"x")
        source.broadcast(b"y")
        assert source.ready() == ready
        if ready:
            source.broadcast(b"z")
        assert sorted(stream(source).history.kept) == kept

    def test_who_is_not_a_source_is_told_so(self):
        with pytest.raises(ValueError, match=r"1 is not one of the sources \(0\)"):
            host(1).broadcast(b"x")
        with pytest.raises(ValueError, match="to the whole group"):
            host(0).broadcast(b"x", [1])

    def test_a_source_that_lost_its_memory_begins_another_life(self):
        source = Tree(0, range(3), Script(), Tree.Parameters(sources=(0,), gather=0.0))
        source.port.now = lambda: 2.5
        source.start(joining=True)
        source.broadcast(b"x")
        life = 2_500_000
        assert source.port.take("multicast") == [("multicast", Data(0, 0, 0, b"x", life))]
        # In its old life it is a host like any other, but for its place at the top of the lists.
        source.receive(1, Probe(0))
        source.receive(1, Desc(0, ((1, runs([0])),)))
        assert source.port.take("send") == [("send", 1, Coordinator(0, 0)), ("send", 1, Ask(0, ((0, EMPTY),)))]
        source.receive(1, Data(0, 0, 0, b"former"))
        assert source.port.take("deliver") == [("deliver", 0, 0, b"former")]

    def test_others_keep_its_lives_apart_and_do_not_take_it_for_its_former_self(self):
        process = host(2)
        give(process, 0)
        process.receive(0, Data(0, 0, 0, b"again", 7))
        assert process.port.take("deliver") == [("deliver", 0, 0, b"again")]
        former, present = process.streams[0], process.streams[0, 7]
        assert (former.hears, present.hears) == (False, True)
        process.receive(0, Data(0, 1, 0, b"from whoever has it"))
        assert not former.hears
        process.expire(("silence", 0))
        assert (former.coord, present.coord) == (2, None)


class TestEvent1:
    def test_silence_is_a_failure_and_the_list_is_probed_in_its_order_and_again(self):
        process = host(3)
        process.expire(("silence", 0))
        for _ in range(4):
            process.expire(("probe", 0))
        assert process.port.take("send") == [("send", other, Probe(0)) for other in (0, 1, 2, 0, 1)]
        assert stream(process).coord == 3

    def test_a_gap_is_a_failure_and_what_came_is_delivered_at_once(self):
        process = host(3)
        process.receive(0, Data(0, 1, 0, b"1"))
        asked = process.port.take("deliver", "send")
        assert asked == [("deliver", 0, 1, b"1"), ("send", 0, Probe(0))]

    def test_a_null_message_beyond_what_came_is_a_gap(self):
        process = host(3)
        process.receive(0, Null(0, 1, 0))
        assert process.port.take("send") == [("send", 0, Probe(0))]

    def test_in_fifo_order_later_messages_wait(self):
        process = host(3, fifo=True)
        process.receive(0, Data(0, 1, 0, b"1"))
        assert process.port.take("deliver") == []
        process.receive(2, Data(0, 0, 0, b"0"))
        assert process.port.take("deliver") == [("deliver", 0, 0, b"0"), ("deliver", 0, 1, b"1")]

    def test_dynamic_lists_are_probed_in_the_order_of_what_it_costs_now(self):
        process = host(3, dynamic=True)
        process.port.cost = {0: 9.0, 1: float("inf"), 2: 1.0}.get
        process.expire(("silence", 0))
        for _ in range(2):
            process.expire(("probe", 0))
        assert [each[1] for each in process.port.take("send")] == [2, 0, 1]

    def test_no_answer_from_the_coordinator_starts_the_search_again(self):
        process = host(3)
        process.expire(("silence", 0))
        process.receive(2, Coordinator(0, 1))
        process.port.take()
        process.expire(("coordinator", 0))
        assert process.port.take("send") == [("send", 0, Probe(0))]
        assert stream(process).coord == 3


class TestEvents2And3:
    def test_a_host_at_nil_becomes_its_own_coordinator_and_says_so(self):
        process = host(2)
        process.receive(3, Probe(0))
        assert process.port.take("send") == [("send", 3, Coordinator(0, 2))]
        assert stream(process).coord == 2

    def test_a_host_in_a_tree_names_its_coordinator(self):
        process = host(2)
        process.expire(("silence", 0))
        process.receive(1, Coordinator(0, 1))
        process.port.take()
        process.receive(3, Probe(0))
        assert process.port.take("send") == [("send", 3, Coordinator(0, 1))]

    def test_a_coordinator_that_is_told_of_another_sends_it_its_desc(self):
        process = host(2)
        give(process, 0)
        process.expire(("silence", 0))
        process.receive(3, Desc(0, ((3, EMPTY),)))
        process.port.take()
        process.receive(1, Coordinator(0, 1))
        assert process.port.take("send") == [("send", 1, Desc(0, ((2, runs([0])), (3, runs([0])))))]
        assert stream(process).coord == 1

    @pytest.mark.parametrize("named", [2, 3])
    def test_itself_and_lower_hosts_are_no_coordinators(self, named):
        process = host(2)
        process.expire(("silence", 0))
        process.port.take()
        process.receive(1, Coordinator(0, named))
        assert process.port.take() == []
        assert stream(process).coord == 2

    def test_who_has_a_coordinator_ignores_the_message(self):
        process = host(3)
        process.expire(("silence", 0))
        process.receive(2, Coordinator(0, 2))
        process.port.take()
        process.receive(1, Coordinator(0, 1))
        assert process.port.take() == []
        assert stream(process).coord == 2


class TestEvent4:
    def test_the_paper_s_fill(self):
        """i has 1, 2, 3, 5, 6; k has 1, 3, 5; j has 1, 2, 4: 2 and 6 go to k, 3, 5 and 6 to j (numbers from 1)."""
        i, k, j = 1, 2, 3
        process = host(i)
        give(process, 0, 1, 2, 4, 5)
        process.receive(j, Desc(0, ((k, runs([0, 2, 4])), (j, runs([0, 1, 3])))))
        filled = [(each[2], each[1].n) for each in process.port.take("multicast")]
        assert filled == [((k,), 1), ((j,), 2), ((j,), 4), ((k, j), 5)]

    def test_who_can_fill_everything_stays_at_nil(self):
        process = host(1)
        give(process, 0)
        process.receive(3, Desc(0, ((3, EMPTY), (2, EMPTY))))
        assert process.port.take() == [("multicast", Data(0, 0, 0, b"0", again=True), (3, 2))]
        assert (stream(process).coord, stream(process).desc) == (None, {})

    def test_who_cannot_coordinates_probes_and_asks_for_what_others_have(self):
        process = host(1)
        give(process, 0)
        process.receive(3, Desc(0, ((3, runs([1])), (2, EMPTY))))
        fill, ask, probe = process.port.take("send", "multicast")
        assert fill == ("multicast", Data(0, 0, 0, b"0", again=True), (3, 2))
        assert ask == ("send", 3, Ask(0, ((1, runs([0])), (2, runs([0])))))
        assert probe == ("send", 0, Probe(0))
        assert stream(process).coord == 1

    def test_a_host_in_a_tree_fills_and_passes_on(self):
        process = host(2)
        give(process, 0)
        process.receive(0, Null(0, 2, 0))
        process.receive(1, Coordinator(0, 1))
        process.port.take()
        process.receive(3, Desc(0, ((3, EMPTY),)))
        assert process.port.take() == [
            ("multicast", Data(0, 0, 0, b"0", again=True), (3,)),
            ("send", 1, Desc(0, ((3, runs([0])),))),
        ]

    def test_who_is_asked_fills_and_is_in_no_tree_for_it(self):
        process = host(3)
        give(process, 0, 1)
        process.receive(1, Ask(0, ((1, EMPTY), (2, runs([0])))))
        assert process.port.take() == [
            ("multicast", Data(0, 0, 0, b"0", again=True), (1,)),
            ("multicast", Data(0, 1, 0, b"1", again=True), (1, 2)),
        ]
        assert stream(process).coord is None

    def test_what_comes_within_gather_is_filled_together(self):
        process = host(1, gather=0.02)
        give(process, 0)
        process.receive(2, Desc(0, ((2, EMPTY),)))
        process.receive(3, Desc(0, ((3, EMPTY),)))
        assert process.port.take() == [("set_timer", ("gather", 0), 0.02)]
        process.expire(("gather", 0))
        assert process.port.take("multicast") == [("multicast", Data(0, 0, 0, b"0", again=True), (2, 3))]

    def test_what_nobody_keeps_is_told_instead_of_sent(self):
        process = host(1)
        give(process, 0, 1, 2)
        process.receive(0, Null(0, 3, 2))  # every host had 0 and 1: one of them lost its memory
        process.port.take()
        process.receive(3, Desc(0, ((3, EMPTY),)))
        assert process.port.take() == [
            ("multicast", Null(0, 3, 2), (3,)),
            ("multicast", Data(0, 2, 2, b"2", again=True), (3,)),
        ]


class TestEvents5And6:
    def coordinator(self):
        process = host(1)
        give(process, 0)
        process.expire(("silence", 0))
        process.receive(3, Desc(0, ((3, runs([0, 1])), (2, runs([0])))))
        process.port.take()
        return process

    def test_a_coordinator_announces_itself_and_what_its_group_holds(self):
        process = self.coordinator()
        process.expire(("announce", 0))
        message = IAmCoordinator(0, runs([0, 1]), 0, False)
        assert ("multicast", message, (3, 2)) in process.port.take()

    def test_it_calls_the_roll_and_drops_who_does_not_answer_twice(self):
        process = self.coordinator()
        calls = []
        for _ in range(24):
            process.expire(("announce", 0))
            calls += [each for each in process.port.take("multicast") if isinstance(each[1], IAmCoordinator)]
            if calls[-1][1].call:
                process.receive(2, Desc(0, ((2, runs([0, 1])),)))
        assert [each[1].call for each in calls] == [k % 8 == 7 for k in range(24)]
        assert calls[15][2] == (3, 2)
        assert calls[-1][2] == (2,)

    def member(self, *numbers):
        process = host(3)
        give(process, *numbers)
        process.expire(("silence", 0))
        process.receive(1, Coordinator(0, 1))
        process.port.take()
        return process

    def test_who_has_what_the_group_has_says_nothing(self):
        process = self.member(0, 1)
        process.receive(1, IAmCoordinator(0, runs([0, 1]), 0, False))
        assert process.port.take() == [("set_timer", ("coordinator", 0), 2.0)]

    @pytest.mark.parametrize("holds", [runs([0]), runs([0, 1, 2])])
    def test_who_has_less_or_more_sends_its_desc(self, holds):
        process = self.member(0, 1)
        process.receive(1, IAmCoordinator(0, holds, 0, False))
        assert process.port.take("send") == [("send", 1, Desc(0, ((3, runs([0, 1])),)))]

    def test_while_something_is_being_filled_nobody_complains(self):
        process = self.member(0, 2)
        process.receive(1, Data(0, 1, 0, b"1", again=True))
        process.receive(1, IAmCoordinator(0, runs([0, 1, 2, 3]), 0, False))
        assert process.port.take("send") == []
        process.receive(1, IAmCoordinator(0, runs([0, 1, 2, 3]), 0, False))
        assert process.port.take("send") == [("send", 1, Desc(0, ((3, runs([0, 1, 2])),)))]

    def test_the_coordinator_may_have_handed_over_to_a_higher_one(self):
        process = host(3)
        process.expire(("silence", 0))
        process.receive(2, Coordinator(0, 2))
        process.receive(1, IAmCoordinator(0, EMPTY, 0, False))
        assert stream(process).coord == 1

    def test_a_lower_one_is_ignored(self):
        process = self.member()
        process.receive(2, IAmCoordinator(0, EMPTY, 0, True))
        assert stream(process).coord == 1
        lowest = host(2)
        lowest.expire(("silence", 0))
        lowest.port.take()
        lowest.receive(3, IAmCoordinator(0, EMPTY, 0, True))
        assert lowest.port.take() == []
        assert stream(lowest).coord == 2

    def test_a_coordinator_that_hears_a_higher_one_hands_over_its_hosts(self):
        process = host(2)
        process.expire(("silence", 0))
        process.receive(3, Desc(0, ((3, runs([0])),)))
        process.port.take()
        process.receive(1, IAmCoordinator(0, EMPTY, 0, False))
        assert process.port.take("send") == [("send", 1, Desc(0, ((2, EMPTY), (3, runs([0])))))]


class TestReturnToNil:
    def test_hearing_the_source_without_gaps_ends_it(self):
        process = host(3)
        process.expire(("silence", 0))
        process.receive(1, Coordinator(0, 1))
        process.receive(1, Data(0, 0, 0, b"0", again=True))
        assert stream(process).coord == 1
        process.receive(0, Null(0, 1, 0))
        assert stream(process).coord is None

    def test_it_begins_its_list_anew_when_it_hears_the_source_again(self):
        process = host(3)
        process.expire(("silence", 0))
        process.expire(("probe", 0))
        process.port.take()
        process.receive(0, Null(0, 1, 0))
        assert process.port.take("send") == [("send", 0, Probe(0))]


def test_lists_that_do_not_serve_are_refused():
    with pytest.raises(ValueError, match="not jointly complete: neither of 2 and 3"):
        host(1, lists=((), (0,), (0, 1), (0, 1)))
    with pytest.raises(ValueError, match="as many assignments"):
        Tree(0, range(2), Script(), Tree.Parameters(sources=(0,), lists=((), ()))).start()
    with pytest.raises(ValueError, match="the source 7 is no member"):
        Tree(0, range(2), Script(), Tree.Parameters(sources=(7,))).start()


def test_a_copy_goes_its_own_way():
    process = host(1)
    give(process, 0)
    twin = process.copy(Script())
    twin.receive(0, Data(0, 1, 0, b"1"))
    twin.receive(3, Desc(0, ((3, runs([5])),)))
    assert stream(process).history.received == runs([0])
    assert stream(process).desc == {}
    assert stream(twin).history.received == runs([0, 1])
