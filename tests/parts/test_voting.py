"""Total's voting, with sets of messages as bits, against the letter of MMA III.A."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trans_logs import Literal, order_of, random_log

from ordercast.parts.partial_order import PartialOrder
from ordercast.parts.voting import Voting


def vote(n, k, messages, view, voting=Voting):
    """The extensions of one who received this view: (how many received, set, stage)."""
    order, votes = PartialOrder(range(n)), voting(n, k)
    found = []
    for received, id in enumerate(view, 1):
        found += [(received, frozenset(ids), stage) for ids, stage in votes.enter(order.receive(id, *messages[id]))]
    return found


def by_the_letter(n, k, messages, view):
    literal, ordered, found = Literal(n, k), set(), []
    for received in range(1, len(view) + 1):
        follows = order_of(messages, set(view[:received]))
        while (extension := literal.extension(follows, ordered)) is not None:
            found.append((received, *extension))
            ordered |= extension[0]
    return found


@pytest.mark.parametrize(
    ("n", "k", "n_d", "n_v"), [(4, 1, 3, 2), (6, 1, 4, 3), (10, 1, 6, 5), (7, 2, 5, 3), (8, 2, 6, 3)]
)
def test_the_table_of_parameters_rounded_up(n, k, n_d, n_v):
    voting = Voting(n, k)
    assert (voting.decide_at, voting.vote_at) == (n_d, n_v)


@pytest.mark.parametrize(("n", "k"), [(3, 1), (6, 2), (9, 3), (4, -1)])
def test_a_third_of_faulty_processors_is_refused(n, k):
    with pytest.raises(ValueError, match="fewer than n/3"):
        Voting(n, k)


@settings(deadline=None, max_examples=60)
@given(
    n=st.sampled_from([(4, 1), (5, 1), (6, 1), (7, 2), (3, 0)]),
    count=st.integers(5, 26),
    loss=st.sampled_from([0.0, 0.1, 0.2, 0.4]),
    seed=st.integers(0, 2**32),
    crashed=st.booleans(),
)
def test_it_agrees_with_the_letter(n, count, loss, seed, crashed):
    n, k = n
    messages, views = random_log(n, count, loss, seed, silent=range(k) if crashed else ())
    view = views[n - 1]
    assert vote(n, k, messages, view) == by_the_letter(n, k, messages, view)


@settings(deadline=None, max_examples=100)
@given(
    n=st.sampled_from([(2, 0), (4, 1), (5, 1), (7, 2), (10, 3)]),
    loss=st.sampled_from([0.0, 0.1, 0.3]),
    seed=st.integers(0, 2**32),
    crashed=st.booleans(),
)
def test_all_total_orders_are_prefixes_of_one(n, loss, seed, crashed):
    """III.C: the same candidate set at the j-th extension everywhere; consistent with the partial order."""
    n, k = n
    messages, views = random_log(n, 80, loss, seed, silent=range(k) if crashed else ())
    found = [[chosen for _, chosen, _ in vote(n, k, messages, view)] for view in [*views, list(messages)]]
    longest = max(found, key=len)
    assert all(extensions == longest[: len(extensions)] for extensions in found)
    follows, place = order_of(messages, set(messages)), {}
    for position, chosen in enumerate(longest):
        place.update(dict.fromkeys(chosen, position))
    for id, position in place.items():
        assert all(place[earlier] < position for earlier in follows[id] - {id})


class TestFigure3:
    def test_the_decision_falls_with_the_fourth_message(self):
        messages = {(0, 0): ((), ())}
        for source in range(1, 6):
            messages[source, 0] = (((source - 1, 0),), ())
        assert vote(6, 1, messages, list(messages))[0] == (4, {(0, 0)}, 0)


def test_two_processors_agree_though_each_could_outvote_itself_forever():
    messages = {(0, 0): ((), ()), (1, 0): ((), ())}
    messages[0, 1], messages[1, 1] = (((1, 0),), ()), (((0, 0),), ())
    messages[0, 2] = (((1, 1),), ())
    assert vote(2, 0, messages, list(messages))[0][1] == {(0, 0), (1, 0)}


def speaking_in_turn(count, skips=()):
    """Two for {C1} in stage 0 and two against it; then A, C, D and B speak in turn, each following all before.

    Those in `skips` do not follow the one immediately before them.
    """
    a, b, c, d = range(4)
    messages = {(c, 0): ((), ()), (d, 0): (((c, 0),), ()), (b, 0): ((), ()), (b, 1): (((d, 0),), ())}
    order = list(messages)
    for number in range(count):
        source = (a, c, d, b)[number % 4]
        id = (source, sum(1 for each in order if each[0] == source))
        messages[id] = ((order[-2 if number in skips else -1],), ())
        order.append(id)
    return messages


def test_a_tie_lives_on_while_members_speak_in_turn():
    messages = speaking_in_turn(200)
    order, voting = PartialOrder(range(4)), Voting(4, 1)
    assert [voting.enter(order.receive(id, *messages[id])) for id in messages] == [[]] * 204
    assert voting.stages() > 100


def test_one_that_does_not_follow_the_last_ends_the_tie():
    messages = speaking_in_turn(60, skips={40})
    assert vote(4, 1, messages, list(messages))


def test_bits_are_used_again_and_the_work_does_not_grow():
    messages, _ = random_log(4, 3000, 0.05, seed=1)
    order, voting = PartialOrder(range(4)), Voting(4, 1)
    for id in messages:
        voting.enter(order.receive(id, *messages[id]))
        assert voting.next_bit.bit_length() < 1000
    assert len(voting.awaiting) < 50


def test_a_copy_is_independent():
    messages, _ = random_log(5, 40, 0.3, seed=2)
    order, voting = PartialOrder(range(5)), Voting(5, 1)
    entries = [entry for id in messages for entry in order.receive(id, *messages[id])]
    voting.enter(entries[:20])
    twin = voting.copy()
    before = list(voting.votes())
    assert before == list(twin.votes())
    assert twin.enter(entries[20:])
    assert before == list(voting.votes())


# Deliberately wrong votings: each must differ from the right one, which agrees with the letter, in some log.


class FloorInDecisions(Voting):
    def __init__(self, n, resilience):
        super().__init__(n, resilience)
        self.decide_at = (n + resilience + 1) // 2


class OwnVoteExcluded(Voting):
    def _votes_for(self, ballot, poll, stage):
        ballot.before ^= ballot.bit if stage else 0
        try:
            return super()._votes_for(ballot, poll, stage)
        finally:
            ballot.before |= ballot.bit


class NoDecisionInStageZero(Voting):
    def _vote(self, ballot, poll):
        first = not poll.stages_of.get(ballot.source)
        super()._vote(ballot, poll)
        if poll.closed == 0:
            poll.closed = None
        if first and poll.stages_of[ballot.source] == 0 and self._votes_for(ballot, poll, 0) is not None:
            poll.stages_of[ballot.source] = 1
            super()._vote(ballot, poll)


class PartialFollowersAgainst(Voting):
    def _votes_for(self, ballot, poll, stage):
        vote = super()._votes_for(ballot, poll, stage)
        return False if vote is None and stage == 0 else vote


class SubsetsNotAsked(Voting):
    def _subsets_rejected(self, chosen):
        return True


class AbstainingUsesTheVote(Voting):
    def _vote(self, ballot, poll):
        if poll.stages_of.get(ballot.source) != 0:
            super()._vote(ballot, poll)


class TiesAreInFavour(Voting):
    def _votes_for(self, ballot, poll, stage):
        if stage and (ballot.before & poll.favour[stage - 1]).bit_count() >= self.vote_at:
            return True
        return super()._votes_for(ballot, poll, stage)


MUTANTS = [
    FloorInDecisions,
    OwnVoteExcluded,
    NoDecisionInStageZero,
    PartialFollowersAgainst,
    SubsetsNotAsked,
    AbstainingUsesTheVote,
    TiesAreInFavour,
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_a_wrong_voting_is_caught(mutant):
    for seed in range(300):
        n = 5 + seed % 2
        messages, views = random_log(n, 30, 0.25, seed)
        if vote(n, 1, messages, views[0], mutant) != vote(n, 1, messages, views[0]):
            return
    pytest.fail("no log tells it from the right one")
