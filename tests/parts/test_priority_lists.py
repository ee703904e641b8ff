"""GK 4.2 and 5: lists that serve, the two counter-examples, SDF and its penalty, dynamic reordering."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordercast.parts.priority_lists import (
    Crowd,
    check,
    cycle,
    generic,
    incomplete_pair,
    parents,
    reorder,
    sdf,
    tree_cost,
)

SECTION_4_2 = {
    "h1": (),
    "h2": ("h1",),
    "h3": ("h1", "h2"),
    "h4": ("h3", "h5", "h2", "h1"),
    "h5": ("h1", "h3", "h2"),
}


def test_the_lists_of_4_2_serve():
    check(SECTION_4_2, "h1")


def test_without_h5_on_the_list_of_h4_both_stay_alone():
    lists = {**SECTION_4_2, "h4": ("h3", "h2", "h1")}
    assert incomplete_pair(lists) == ("h4", "h5")
    assert parents(lists, ["h4", "h5"]) == {"h4": None, "h5": None}
    with pytest.raises(ValueError, match="neither of h4 and h5"):
        check(lists, "h1")


def test_with_h4_on_the_list_of_h2_nobody_is_the_coordinator():
    lists = {**SECTION_4_2, "h2": ("h1", "h4")}
    assert incomplete_pair(lists) is None
    assert {"h2", "h4"} <= set(cycle(lists))
    assert None not in parents(lists, ["h2", "h3", "h4", "h5"]).values()
    with pytest.raises(ValueError, match=r"cycle: .* probes "):
        check(lists, "h1")


@pytest.mark.parametrize(
    ("lists", "says"),
    [
        ({"a": (), "b": ("a", "c")}, "names c, which is no host"),
        ({"a": (), "b": ("a", "a")}, "names a host twice"),
        ({"b": ("a",), "a": ("b",)}, "the source a must be empty"),
        ({"b": ()}, "the source a has no list"),
        ({"a": (), "b": ("b", "a")}, "cycle: b probes b"),
    ],
)
def test_what_is_wrong_with_lists_is_named(lists, says):
    with pytest.raises(ValueError, match=says):
        check(lists, "a")


@st.composite
def distances(draw):
    size = draw(st.integers(1, 7))
    table = [[0.0] * size for _ in range(size)]
    for a in range(size):
        for b in range(a):
            table[a][b] = table[b][a] = float(draw(st.integers(1, 6)))
    return {a: dict(enumerate(row)) for a, row in enumerate(table)}


@given(distances(), st.data())
def test_sdf_serves_and_the_coordinator_is_nearest_to_the_source(table, data):
    source = data.draw(st.sampled_from(list(table)))
    crowd = data.draw(st.none() | st.builds(Crowd, children=st.integers(1, 3), penalty=st.just(10.0)))
    queue, lists = sdf(table, source, crowd)
    assert queue[-1] == source
    check(lists, source)
    group = data.draw(st.sets(st.sampled_from(list(table))))
    tree = parents(lists, group - {source})
    roots = [host for host in tree if tree[host] is None]
    assert len(roots) == bool(tree)  # Theorem 4.1
    for root in roots:
        assert table[source][root] == min(table[source][host] for host in tree)


@given(st.permutations(range(6)))
def test_the_generic_construction_serves_whatever_the_order(order):
    check(generic(order), order[-1])


def test_the_penalty_spreads_the_children_and_lowers_the_cost_that_counts_it():
    # One host in the middle is nearest to all; the source is far away.
    hosts = ["s", "m", *"abcdef"]
    pairs = {("s", x): 30.0 for x in hosts} | {("m", x): 2.0 for x in hosts} | {("s", "m"): 20.0}
    table = {x: {y: pairs.get((x, y), pairs.get((y, x), 3.0)) if x != y else 0.0 for y in hosts} for x in hosts}
    crowd = Crowd(children=2, penalty=5.0)
    group = hosts[1:]
    plain, spread = (parents(sdf(table, "s", rule)[1], group) for rule in (None, crowd))
    assert list(plain.values()).count("m") == 6
    assert max(list(spread.values()).count(host) for host in group) < 6
    assert tree_cost(spread, table, crowd) < tree_cost(plain, table, crowd)
    assert tree_cost(spread, table) > tree_cost(plain, table)


def test_lists_follow_the_costs_of_now():
    assert reorder((3, 1, 2, 4), {1: 5.0, 2: 1.0, 3: 5.0}) == (2, 3, 1, 4)  # 4 is out of reach, 3 keeps its place
