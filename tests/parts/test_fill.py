"""GK's fill, by its properties: the group ends with the union, and no message is sent twice."""

from hypothesis import given
from hypothesis import strategies as st

from ordercast.parts.fill import ask, fill, filled
from ordercast.parts.runs import NOTHING, numbers, runs, union

HELD = st.sets(st.integers(0, 25)).map(runs)
DESCRIPTIONS = st.dictionaries(st.integers(1, 8), HELD, max_size=6)


def sent(have, desc):
    return [(n, to) for start, end, to in fill(have, desc) for n in range(start, end)]


@given(HELD, DESCRIPTIONS)
def test_each_lacked_message_is_one_multicast_to_all_who_lack_it(have, desc):
    sends = sent(have, desc)
    assert [n for n, _ in sends] == sorted({n for n, _ in sends})
    for host, received in desc.items():
        got = runs(n for n, to in sends if host in to)
        assert not set(numbers(got)) & set(numbers(received))
        assert union(received, got) == filled(have, desc)[host]


@given(HELD, DESCRIPTIONS, st.permutations(range(9)))
def test_asking_and_filling_together_give_everybody_the_union(have, desc, costs):
    desc = {0: have, **desc}
    everything = NOTHING
    for received in desc.values():
        everything = union(everything, received)
    after = filled(have, desc)
    times: dict[int, int] = {}
    for holder, there in ask(have, desc, lambda host: costs[host]).items():
        for n, to in sent(desc[holder], there):
            times[n] = times.get(n, 0) + 1
            for host in to:
                after[host] = union(after[host], ((n, n + 1),))
    assert set(after.values()) == {everything}
    assert all(count == 1 for count in times.values())


def test_the_cheapest_holder_is_asked():
    desc = {0: NOTHING, 1: runs([4, 5]), 2: runs([5, 6])}
    asked = ask(NOTHING, desc, {0: 0.0, 1: 2.0, 2: 1.0}.__getitem__)
    assert {holder: set(there) for holder, there in asked.items()} == {2: {0, 1}, 1: {0, 2}}
    assert sent(desc[2], asked[2]) == [(5, (0,)), (6, (0, 1))]  # 1 holds 5 itself
    assert sent(desc[1], asked[1]) == [(4, (0, 2))]
