"""The explorer: what it visits, what it finds, and how it tells it; with the number of worlds, exactly."""

import pytest

from ordercast.explore import Budget, counterexample, explore
from ordercast.explore.cells import freeze
from ordercast.protocols.catalog import CATALOG
from ordercast.trace.listing import listing
from tests.explore import plain, sequencer
from tests.explore.sequencer import Sequencer


@pytest.mark.parametrize(
    ("kind", "size", "broadcasts", "timeouts"),
    [
        (Sequencer, 2, 2, 0),
        (Sequencer, 2, 2, 1),
        (Sequencer, 3, 1, 1),
        (CATALOG["dtp"], 2, 1, 1),
        (CATALOG["dtp"], 2, 2, 0),
        (CATALOG["cm"], 2, 2, 0),
    ],
)
def test_it_reaches_what_every_interleaving_reaches(kind, size, broadcasts, timeouts):
    plainly, worlds = plain.logs_reached(kind, size, broadcasts, timeouts)
    for losses in (0, 1):
        explored = explore(kind, size, Budget(broadcasts=broadcasts, timeouts=timeouts, losses=losses))
        assert explored.complete
        assert explored.logs() == plainly
        if losses:  # then a world with fewer frames under way can do nothing that one with more cannot
            assert explored.worlds < worlds


TWO = Budget(broadcasts=2, losses=1, timeouts=1)


@pytest.mark.parametrize(
    ("name", "members", "budget", "worlds"),
    [
        ("dtp", 2, TWO, 394),
        ("cm", 2, TWO, 528),
        ("pinwheel", 2, TWO, 418),
        ("dtp", 2, Budget(broadcasts=2, losses=1, timeouts=2, duplicates=1, crashes=1), 14026),
        ("cm", 2, Budget(broadcasts=2, losses=1, timeouts=2, duplicates=1, crashes=1), 24709),
        ("pinwheel", 2, Budget(broadcasts=2, losses=1, timeouts=2, duplicates=1, crashes=1), 14642),
        ("dtp", 3, Budget(broadcasts=2, losses=1), 11907),
        ("cm", 3, Budget(broadcasts=2, losses=1), 15162),
        ("pinwheel", 3, Budget(broadcasts=2, losses=1), 12574),
        ("totem", 2, Budget(broadcasts=2, losses=1, timeouts=1, arrivals=8), 7475),  # its token never rests
        ("totem", 3, Budget(broadcasts=2, losses=1, timeouts=1, arrivals=8), 29563),
    ],
)
def test_every_schedule_of_the_protocols_of_kk_keeps_their_promises(name, members, budget, worlds):
    explored = explore(CATALOG[name], members, budget)
    assert explored.finding is None, explored.finding
    assert explored.complete
    assert explored.worlds == worlds


@pytest.mark.campaign
@pytest.mark.parametrize(("name", "worlds"), [("dtp", 141985), ("cm", 292111), ("pinwheel", 152036)])
def test_every_schedule_of_three_members_with_a_time_out(name, worlds):
    explored = explore(CATALOG[name], 3, TWO)
    assert explored.complete, explored.finding
    assert explored.worlds == worlds


RESTLESS = Budget(broadcasts=2, losses=1, timeouts=1, arrivals=8)


@pytest.mark.parametrize("name", sorted(set(CATALOG) - {"dtp", "cm", "pinwheel", "totem"}))
def test_every_schedule_of_two_members_keeps_the_promises_of_any_other_protocol(name):
    explored = explore(CATALOG[name], 2, RESTLESS)
    assert explored.complete, explored.finding


def test_the_same_search_visits_the_same_worlds():
    first, second = (explore(CATALOG["dtp"], 2, TWO) for _ in range(2))
    assert (first.worlds, first.events, first.cells) == (second.worlds, second.events, second.cells)


@pytest.mark.parametrize(
    ("kind", "members", "broken"),
    [
        (sequencer.AsTheyCome, 2, "fifo"),
        (sequencer.Twice, 2, "integrity"),
        (sequencer.GivesUp, 2, "validity"),
        (sequencer.Hasty, 3, "safe"),
        (sequencer.Asserts, 2, "process"),
    ],
)
def test_a_wrong_protocol_is_caught(kind, members, broken):
    explored = explore(kind, members, Budget(broadcasts=2, losses=1, duplicates=1, timeouts=1))
    assert explored.finding.broken == broken
    assert not explored.complete
    lived = counterexample(explored)
    assert lived.broken[0] == broken
    assert len(lived.moves) <= len(explored.finding.steps)


SWAPPED = """\
time      0                    1
1.000000  broadcast (0, 0)
1.000000  send Ordered (0, 0)
1.000000  deliver (0, 0)
2.000000  broadcast (0, 1)
2.000000  send Ordered (0, 1)
2.000000  deliver (0, 1)
3.000000                       Ordered (0, 1) from 0
3.000000                       deliver (0, 1)
3.000000                       send Have"""


def test_a_counterexample_has_nothing_that_it_does_not_need_and_is_listed():
    explored = explore(sequencer.AsTheyCome, 2, Budget(broadcasts=2, losses=1, timeouts=2))
    lived = counterexample(explored)
    assert "\n".join(listing(lived.trace)) == SWAPPED


def test_what_is_lost_is_listed():
    explored = explore(sequencer.GivesUp, 2, Budget(broadcasts=2, losses=1, timeouts=1))
    text = "\n".join(listing(counterexample(explored).trace))
    assert "Ask (1, 0) from 1 lost (loss)" in text


def test_a_search_stops_when_it_is_told_to():
    explored = explore(CATALOG["dtp"], 3, TWO, most_worlds=500)
    assert not explored.complete
    assert 500 <= explored.worlds < 600


@pytest.mark.parametrize(
    ("members", "budget", "what"),
    [
        (0, Budget(), "at least one member"),
        (2, Budget(losses=-1), "not negative"),
        (2, Budget(copies=0), "holds a copy"),
    ],
)
def test_misuse_is_told(members, budget, what):
    with pytest.raises(ValueError, match=what):
        explore(Sequencer, members, budget)


def test_what_is_not_promised_is_not_explored():
    with pytest.raises(ValueError, match="optimistic promises nothing under crash"):
        explore(CATALOG["optimistic"], 2, Budget(crashes=1))


def test_equal_states_freeze_equal_and_unequal_ones_do_not():
    class Part:
        __slots__ = ("items", "port")

        def __init__(self, items):
            self.items, self.port = items, object()

    assert freeze(Part({1: [2], 3: {4, 5}})) == freeze(Part({1: [2], 3: {5, 4}}))
    assert freeze(Part({1: [2], 3: [4]})) != freeze(Part({3: [4], 1: [2]}))
    assert freeze(Part({1: [2]})) != freeze(Part({1: [3]}))
    assert freeze([1, 2]) != freeze([2, 1])
    with pytest.raises(TypeError, match="cannot be compared"):
        freeze({"call": test_misuse_is_told.__get__(1)})
