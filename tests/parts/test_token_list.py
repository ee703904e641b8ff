"""The list's vote: quorums meet, a rebuilt token forgets nothing that may be committed, one value is decided."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ordercast.parts.counter_state import Entry, Ring, T, complete, counts, expected, no_flow
from ordercast.parts.token_list import NEVER, Agreement, Answer, cut, ending, quorum, rebuilt, runs

NODES = (3, 1, 4, 0, 5)
RING = Ring(NODES, (0, 0, 0, 2, 0))


def subsets(of):
    return st.lists(st.sampled_from(of), unique=True)


@given(st.integers(1, 7), st.data())
def test_any_two_quorums_meet(size, data):
    ring = Ring(tuple(range(size)), (0,) * size)
    one, other = data.draw(subsets(ring.nodes)), data.draw(subsets(ring.nodes))
    if quorum(ring, one) and quorum(ring, other):
        assert set(one) & set(other)
    rest = [node for node in ring.nodes if node not in one]
    assert quorum(ring, one) != quorum(ring, rest)  # of two parts exactly one decides


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 12)), unique=True))
def test_runs_name_exactly_the_messages(keys):
    found = runs(keys)
    assert sorted(keys) == [(origin, k) for origin, first, below in found for k in range(first, below)]
    assert all(a[0] != b[0] or a[2] < b[1] for a, b in pairwise(found))


entries = st.builds(
    Entry,
    sender=st.sampled_from((*NODES, 9)),
    cycle=st.integers(0, 3),
    first=st.integers(0, 6),
    below=st.just(0),
    counter=st.integers(0, 4),
    to=st.sampled_from(((), (1, 4), (3, 0, 5))),
).map(lambda entry: replace(entry, below=entry.first + 3))


@st.composite
def states(draw):
    """Entries of each sender one after the other, as they are attached."""
    out = []
    for sender in (*NODES, 9):
        first = 0
        for cycle in range(draw(st.integers(0, 3))):
            below = first + draw(st.integers(1, 3))
            to = draw(st.sampled_from(((), (1, 4), (3, 0, 5))))
            out.append(Entry(sender, cycle, first, below, draw(st.integers(0, 4)), to, 0))
            first = below
    return tuple(out)


@st.composite
def votes(draw):
    """Answers of some nodes, with tokens of one line: the state of each is a prefix of the newest."""
    state = draw(states())
    who = draw(subsets(NODES).filter(bool))
    answers = {}
    for node in who:
        seen = draw(st.integers(0, len(state)))
        token = T(NODES[0], NODES[1], 4 + seen, state[:seen], RING, no_flow(RING))
        keys = [(entry.sender, k) for entry in state for k in range(entry.first, entry.below)]
        held = runs(draw(subsets(keys)) if keys else ())
        answers[node] = Answer((1, who[0]), token, None, draw(st.integers(0, 2)), held, ())
    return who[0], answers


@settings(max_examples=300)
@given(votes())
def test_a_rebuilt_token_begins_a_configuration_that_keeps_what_its_nodes_have(vote):
    caller, answers = vote
    token = rebuilt(caller, answers, {7: -1}, leaving=False)
    newest = max((answer.token for answer in answers.values()), key=T.stamp)
    ring = token.ring
    assert ring.nodes[0] == token.n == caller
    assert set(ring.nodes) == {*answers, 7}
    assert ring.number == RING.number + 1
    assert all(entry.cycle < ring.base for entry in token.S)
    assert {entry.key() for entry in token.S} == {entry.key() for entry in newest.S}
    whole = {entry.key(): entry for entry in newest.S}
    for entry in token.S:
        assert entry.counter == 0
        assert not counts(ring, entry, 7)
        assert whole[entry.key()].first <= entry.below <= whole[entry.key()].below
        if entry.sender in ring.nodes or any(answer.committed > entry.cycle for answer in answers.values()):
            assert entry.below == whole[entry.key()].below or entry.sender not in ring.nodes
    for sender in {entry.sender for entry in token.S} - set(ring.nodes):  # FIFO: nothing after what was cut off
        mine = sorted((entry for entry in token.S if entry.sender == sender), key=lambda entry: entry.first)
        short = [entry.below < whole[entry.key()].below for entry in mine]
        assert all(entry.below == entry.first for entry, before in zip(mine[1:], short, strict=False) if before)
    past = ending(token, 0)
    assert (past.number, past.base, past.S) == (ring.number, ring.base, token.S)


@given(states(), subsets(NODES).filter(bool))
def test_what_everybody_who_waits_holds_is_never_cut(state, stay):
    ring = Ring(tuple(stay), (0,) * len(stay), 1, 9)
    held = runs((entry.sender, k) for entry in state for k in range(entry.first, entry.below))
    answers = {node: Answer(NEVER, T(0, 0, 0, (), RING, no_flow(RING)), None, 0, held, ()) for node in stay}
    assert {(e.key(), e.below) for e in cut(ring, state, answers)} == {(e.key(), e.below) for e in state}


@given(entries, st.integers(1, 9), st.sampled_from(NODES))
def test_an_entry_is_complete_only_when_all_who_wait_for_it_have_counted(entry, t, owner):
    token = T(owner, RING.next(owner), t, (entry,), RING, no_flow(RING))
    waiting = [node for node in NODES if counts(RING, entry, node)]
    if not entry.to and entry.sender in NODES and entry.cycle >= 2:
        assert expected(RING, entry) == len(waiting) == len(NODES) - 1
    if complete(token, entry):
        assert entry.counter >= expected(RING, entry)
    assert not complete(token, replace(entry, counter=-1))


@settings(max_examples=200)
@given(st.data())
def test_one_value_is_decided_whoever_calls_and_whatever_is_lost(data):
    """Any interleaving of calls, answers and proposals among three nodes, each of which may be lost."""
    ring = Ring((0, 1, 2), (0, 0, 0))
    nodes = {node: Agreement() for node in ring.nodes}
    first = T(0, 0, 0, (), ring, no_flow(ring))
    decided, asked = set(), {}
    for _ in range(data.draw(st.integers(1, 12))):
        me = data.draw(st.sampled_from(ring.nodes))
        mine, step = nodes[me], data.draw(st.sampled_from(("call", "ask", "propose")))
        if step == "call":
            mine.promise(mine.call(me))
            mine.answers[me] = Answer(mine.promised, first, mine.accepted, 0, (), ())
        elif step == "ask" and mine.ballot is not None:
            for other in data.draw(subsets(ring.nodes)):
                if other != me:
                    nodes[other].promise(mine.ballot)
                    mine.hear(other, Answer(nodes[other].promised, first, nodes[other].accepted, 0, (), ()))
                    if mine.ballot is None:
                        break
        elif step == "propose" and mine.ballot is not None and quorum(ring, mine.answers):
            asked.setdefault(mine.ballot, mine.bound() or replace(first, t=100 * mine.ballot[0] + me))
            mine.value = asked[mine.ballot]
            for other in [me, *data.draw(subsets(ring.nodes))]:
                if nodes[other].accept(mine.ballot, mine.value):
                    mine.agree(other, mine.ballot)
                if mine.ballot is None:
                    break
            if mine.ballot is not None and quorum(ring, mine.agreed):
                decided.add(mine.value.t)
    assert len(decided) <= 1
