"""Trans's three lists, as properties (MMA II.A)."""

from hypothesis import given
from hypothesis import strategies as st

from ordercast.parts.acknowledgments import Acknowledgments

SOURCES = 3
ids = st.tuples(st.integers(0, SOURCES - 1), st.integers(0, 12))
frames = st.lists(st.tuples(ids, st.lists(ids, max_size=3), st.lists(ids, max_size=3)), max_size=40)


def fed(arrivals, window=6):
    """Lists to which these messages came, and what of them was taken."""
    lists, taken = Acknowledgments(SOURCES, window), []
    for id, acks, lacks in arrivals:
        if not lists.has(id) and lists.takes(id, acks):
            lists.take(id, ("frame", id), acks, lacks)
            taken.append((id, acks, lacks))
    return lists, taken


@given(frames)
def test_what_is_known_and_not_received_is_lacked_and_nothing_else(arrivals):
    lists, taken = fed(arrivals)
    known = {(source, number) for source in range(SOURCES) for number in range(lists.known[source])}
    assert set(lists.received) == {id for id, _, _ in taken}
    assert set(lists.negative) == known - set(lists.received)
    assert all(id in known for message, acks, _ in taken for id in (message, *acks)), "acknowledged, so it exists"


@given(frames)
def test_everything_below_was_received_and_the_next_was_not(arrivals):
    lists, _ = fed(arrivals)
    for source, below in enumerate(lists.below):
        assert all((source, number) in lists.received for number in range(below))
        assert (source, below) not in lists.received


@given(frames, st.integers(1, 8))
def test_no_more_than_a_window_of_each_source_is_lacked(arrivals, window):
    lists, _ = fed(arrivals, window)
    for source in range(SOURCES):
        lacked = [number for of, number in lists.negative if of == source]
        assert all(lists.below[source] <= number < lists.below[source] + window for number in lacked)


@given(frames)
def test_every_message_received_is_acknowledged_here_or_by_a_message_received(arrivals):
    """Its acknowledgment may be left out only where another message carries it (II.A, the scenario)."""
    lists, taken = fed(arrivals)
    by_others = {ack for _, acks, _ in taken for ack in acks}
    assert set(lists.received) <= set(lists.positive) | by_others


@given(frames, st.integers(1, 5))
def test_composing_takes_the_oldest_positive_and_keeps_the_negative_acknowledgments(arrivals, limit):
    lists, _ = fed(arrivals)
    positive, negative = list(lists.positive), list(lists.negative)
    acks, lacks = lists.compose(limit)
    assert list(acks) == positive[:limit]
    assert list(lists.positive) == positive[limit:]
    assert list(lacks) == list(lists.negative) == negative


@given(frames, st.lists(st.integers(0, 13), min_size=SOURCES, max_size=SOURCES))
def test_who_knows_less_is_told_what_it_has_not_heard_of(arrivals, known):
    lists, _ = fed(arrivals)
    beyond = list(lists.asked_beyond(known))
    assert all(id in lists.received and id[1] >= known[id[0]] for id in beyond)
    for source, below in enumerate(known):
        held = [number for of, number in lists.received if of == source and number >= below]
        assert not held or any(of == source for of, _ in beyond) or min(held) >= below + lists.window
