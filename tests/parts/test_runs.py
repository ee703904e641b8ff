"""Runs are sets of numbers: every operation against Python's own sets."""

from hypothesis import given
from hypothesis import strategies as st

from ordercast.parts import runs as r

SETS = st.sets(st.integers(0, 40))


def in_form(of):
    return all(a < b for a, b in of) and all(of[k][1] < of[k + 1][0] for k in range(len(of) - 1))


@given(SETS, SETS)
def test_the_operations_are_those_of_sets(a, b):
    x, y = r.runs(a), r.runs(b)
    for got, wanted in ((r.union(x, y), a | b), (r.minus(x, y), a - b), (r.common(x, y), a & b)):
        assert in_form(got)
        assert set(r.numbers(got)) == wanted
        assert r.size(got) == len(wanted)


@given(SETS, st.integers(0, 40))
def test_one_number_more(a, n):
    x = r.runs(a)
    assert r.has(x, n) == (n in a)
    assert r.add(x, n) == r.runs(a | {n})


@given(SETS)
def test_where_a_set_ends_and_how_far_it_is_whole(a):
    x = r.runs(a)
    assert r.below(x) == max(a, default=-1) + 1
    assert r.prefix(x) == next(n for n in range(50) if n not in a)
