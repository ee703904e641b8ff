"""OPD and the partial order, kept message by message, against their definitions (MMA II.C)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trans_logs import order_of, random_log, reached

from ordercast.parts.partial_order import PartialOrder

A, B, C, D = range(4)
# B1  D1  A1 d1  C1 -d1 b1 a1  D2 -a1 c1  D1 again  C2 d2 d1  B2 -a1 c2   (II.C, Figs 1 and 2)
FIG_1 = {
    (B, 0): ((), ()),
    (D, 0): ((), ()),
    (A, 0): (((D, 0),), ()),
    (C, 0): (((B, 0), (A, 0)), ((D, 0),)),
    (D, 1): (((C, 0),), ((A, 0),)),
    (C, 1): (((D, 1), (D, 0)), ()),
    (B, 1): (((C, 1),), ((A, 0),)),
}

logs = st.builds(
    random_log,
    n=st.integers(2, 6),
    count=st.integers(1, 40),
    loss=st.sampled_from([0.0, 0.1, 0.3, 0.5]),
    seed=st.integers(0, 2**32),
)


def take_all(order, messages, view):
    entries = {}
    for id in view:
        for entry in order.receive(id, *messages[id]):
            assert entry.id not in entries
            entries[entry.id] = entry
    return entries


@pytest.fixture
def fig_1():
    return take_all(PartialOrder(range(4)), FIG_1, FIG_1)


class TestFigures1And2:
    def test_c1_does_not_follow_a1_because_its_source_lacked_d1(self, fig_1):
        assert fig_1[C, 0].reaches((A, 0))
        assert not fig_1[C, 0].follows(fig_1[A, 0])

    def test_c2_follows_a1(self, fig_1):
        assert fig_1[C, 1].follows(fig_1[A, 0])

    def test_b2_does_not_follow_c2_but_d2(self, fig_1):
        assert not fig_1[B, 1].follows(fig_1[C, 1])
        assert [id for id in fig_1 if fig_1[B, 1].follows(fig_1[id])] == [(B, 0), (D, 0), (D, 1), (B, 1)]

    def test_d2_acknowledges_d1_implicitly(self, fig_1):
        assert fig_1[D, 1].follows(fig_1[D, 0])


def test_a_message_waits_for_what_it_reaches_and_not_for_what_it_lacks():
    order = PartialOrder(range(3))
    assert order.receive((0, 0), [(1, 0)], [(2, 0)]) == []
    assert [entry.id for entry in order.receive((1, 0), [], [])] == [(1, 0), (0, 0)]


def test_what_was_skipped_as_lacking_is_looked_at_once_it_is_lacked_no_more():
    # x acknowledges y; c1 lacks y, c2 of the same source has received it: c2 reaches y through x.
    x, y, z, c1, c2 = (0, 0), (1, 5), (2, 0), (3, 0), (3, 1)
    order = PartialOrder(range(4))
    for number in range(5):
        order.receive((1, number), [], [])
    order.receive(z, [], [])
    order.receive(y, [z], [])
    order.receive(x, [y], [])
    first, second = [*order.receive(c1, [x], [y]), *order.receive(c2, [], [])]
    assert not first.reaches(z)
    assert not first.reaches(y)
    assert second.reaches(y)
    assert second.reaches(z)


@settings(deadline=None, max_examples=150)
@given(logs, st.data())
def test_it_agrees_with_the_definitions(log, data):
    messages, views = log
    view = views[data.draw(st.integers(0, len(views) - 1))]
    order = PartialOrder(range(len(views)))
    entries = take_all(order, messages, view)
    follows = order_of(messages, set(view))
    assert set(entries) == set(follows)
    for c, entry in entries.items():
        assert {b for b in entries if entry.follows(entries[b])} == follows[c]
        assert {b for b in entries if entry.reaches(b)} == {b for b in reached(messages, c) if b in entries} | {c}
        assert entry.size() == len(reached(messages, c)) + 1


@settings(deadline=None, max_examples=100)
@given(logs, st.data())
def test_what_is_let_go_is_held_by_every_member(log, data):
    """OPD by enumeration: it deletes a message only when all processors have received it (II.C)."""
    messages, views = log
    order = PartialOrder(range(len(views)))
    for id in views[data.draw(st.integers(0, len(views) - 1))]:
        order.receive(id, *messages[id])
    held = [(source, number) for source, below in enumerate(order.stable) for number in range(below)]
    assert all(id in view for view in views for id in held)
    assert all(order.holds(id) and id not in order.acks for id in held)


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 6), st.integers(0, 2**32), st.data())
def test_messages_enter_after_all_that_they_follow_whatever_the_order_of_arrival(n, seed, data):
    messages, _ = random_log(n, 25, 0.3, seed)
    entered = take_all(PartialOrder(range(n)), messages, data.draw(st.permutations(list(messages))))
    assert set(entered) == set(messages), "with everything received, everything is in the order"
    follows, earlier = order_of(messages, set(messages)), set()
    for id in entered:
        earlier.add(id)
        assert follows[id] <= earlier


def test_the_memory_is_that_of_what_some_member_may_lack():
    messages, _ = random_log(4, 2000, 0.1, seed=3)
    order = PartialOrder(range(4))
    most = 0
    for id in messages:
        order.receive(id, *messages[id])
        most = max(most, len(order.acks) + len(order.entries))
    assert most < 200


class Counted(dict):
    looks = 0

    def get(self, *args):
        Counted.looks += 1
        return super().get(*args)


def test_the_work_does_not_grow_with_the_history():
    messages, _ = random_log(5, 2000, 0.1, seed=4)
    order, looks = PartialOrder(range(5)), []
    order.acks = Counted()
    for number, id in enumerate(messages):
        if number % 500 == 0:
            Counted.looks = 0
        order.receive(id, *messages[id])
        if number % 500 == 499:
            looks.append(Counted.looks)
    assert max(looks) < 1.2 * min(looks)
    assert max(looks) < 500 * 2 * 5, "a message is looked at about once by each source"


def test_a_new_membership_waits_for_nobody_outside_it():
    order = PartialOrder(range(3))
    order.receive((0, 0), [], [])
    order.receive((1, 0), [(0, 0)], [])
    order.receive((0, 1), [(1, 0)], [])
    assert order.stable == [0, 0, 0]
    order.install([0, 1])
    assert order.stable == [1, 1, 0]


def test_a_copy_is_independent():
    messages, _ = random_log(4, 30, 0.3, seed=5)
    order = PartialOrder(range(4))
    ids = list(messages)
    for id in ids[:15]:
        order.receive(id, *messages[id])
    twin = order.copy()
    before = (dict(order.acks), {k: list(v) for k, v in order.waiting.items()}, list(order.stable))
    for id in ids[15:]:
        twin.receive(id, *messages[id])
    assert before == (order.acks, order.waiting, order.stable)
