"""A stream as a host holds it: each message is due once, in order where that was asked for, and kept from the floor."""

from hypothesis import given
from hypothesis import strategies as st

from ordercast.parts import runs
from ordercast.parts.history import History

STEPS = st.lists(st.tuples(st.sampled_from(["take", "take", "take", "floor"]), st.integers(0, 15)), max_size=40)


def lived(steps, fifo):
    history, due, taken, floor = History(fifo), [], set(), 0
    for what, n in steps:
        if what == "take":
            due += [each for each, _ in history.take(n, b"%d" % n)]
            if n >= floor:
                taken.add(n)
        else:
            due += [each for each, _ in history.raise_floor(n)]
            floor = max(floor, n)
        assert history.floor == floor
        assert all(floor <= each < history.end for each in history.kept)
        assert set(runs.numbers(history.received)) == taken | set(range(floor))
        assert history.lacks() == (runs.prefix(history.received) < history.end)
        assert set(runs.numbers(history.held())) == set(history.kept)
    return history, due, taken


@given(STEPS)
def test_out_of_order_each_is_due_once_and_at_once(steps):
    _, due, taken = lived(steps, fifo=False)
    assert sorted(due) == sorted(taken)


@given(STEPS)
def test_in_order_each_is_due_once_all_before_it_have_come_or_were_given_up(steps):
    history, due, taken = lived(steps, fifo=True)
    assert due == sorted(set(due))
    assert set(due) == {n for n in taken if n < history.due}


@given(STEPS, STEPS)
def test_a_copy_goes_its_own_way(steps, more):
    history, _, _ = lived(steps, fifo=True)
    before = (history.received, dict(history.kept), history.floor, history.end, history.due)
    twin = history.copy()
    for what, n in more:
        if what == "take":
            twin.take(n, b"")
        else:
            twin.raise_floor(n)
    assert (history.received, history.kept, history.floor, history.end, history.due) == before
