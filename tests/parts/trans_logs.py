"""Random logs of messages that acknowledge one another, and the paper's definitions word for word, as an oracle."""

import random
from itertools import chain, combinations


def random_log(n, count, loss, seed, silent=()):
    """(messages: id -> (acks, lacks) in the order of sending, views: for each processor the ids as received).

    A bus that loses copies; anybody who holds what is asked for sends it again.  `silent` sources stop half way.
    """
    rng = random.Random(seed)
    messages, views = {}, [[] for _ in range(n)]
    acks, lacks = [[] for _ in range(n)], [set() for _ in range(n)]
    sent, highest = [0] * n, [[0] * n for _ in range(n)]

    def take(at, id):
        views[at].append(id)
        its_acks, its_lacks = messages[id]
        lacks[at].discard(id)
        acks[at] = [ack for ack in acks[at] if ack not in its_acks]
        if id[0] != at:
            acks[at].append(id)
        for source, number in chain([id], its_acks, sorted(its_lacks)):
            for missing in range(highest[at][source], number + 1):
                if (source, missing) not in views[at]:
                    lacks[at].add((source, missing))
            highest[at][source] = max(highest[at][source], number + 1)

    while len(messages) < count:
        speakers = [p for p in range(n) if p not in silent or 2 * len(messages) < count]
        sender = rng.choice(speakers)
        wanted = sorted(id for p in speakers for id in lacks[p] if id in views[sender])
        if wanted and rng.random() < 0.7:
            id = rng.choice(wanted)
        else:
            id = (sender, sent[sender])
            sent[sender] += 1
            messages[id] = (tuple(acks[sender]), frozenset(lacks[sender]))
            acks[sender] = []
            take(sender, id)
        for p in range(n):
            if p != sender and id not in views[p] and rng.random() >= loss:
                take(p, id)
    return messages, views


def reached(messages, c, received=None):
    """All a != c with OPD(P, a, c), P having received these; None if P cannot tell because something is missing."""
    lacks, found, todo = messages[c][1], set(), [c]
    while todo:
        x = todo.pop()
        steps = set(messages[x][0]) | {(x[0], number) for number in range(x[1])}
        for y in steps - lacks - found - {c}:
            if received is not None and y not in received:
                return None
            found.add(y)
            todo.append(y)
    return found


def order_of(messages, received):
    """For each message in the partial order of one who received these: all that it follows, itself included."""
    reach = {c: reached(messages, c, received) for c in received}
    reach = {c: found for c, found in reach.items() if found is not None}
    return {c: {b for b in found if b in reach and reach[b] <= found} | {c} for c, found in reach.items()}


class Literal:
    """Total by the letter of III.A: every subset of the candidates is a candidate set."""

    def __init__(self, n, k):
        self.decide_at, self.vote_at = -(-(n + k + 1) // 2), -(-(n - k) // 2)

    def extension(self, follows, ordered):
        """The next set that one with this partial order decides for, and the stage; None: undecided."""
        rest = sorted((c for c in follows if c not in ordered), key=lambda c: len(follows[c]))
        candidates = [c for c in rest if follows[c] - ordered == {c}]
        sets = [frozenset(s) for size in range(1, len(candidates) + 1) for s in combinations(candidates, size)]
        votes = {s: self.votes(s, set(candidates), rest, follows) for s in sets}
        for s in sorted(sets, key=lambda s: (len(s), sorted(s))):
            stage = self.enough(votes[s], True)
            if stage is not None and all(self.enough(votes[t], False) is not None for t in sets if t < s):
                return s, stage
        return None

    def votes(self, chosen, candidates, rest, follows):
        stages = []
        while True:
            now, voted = {}, set()
            for m in rest:
                if m[0] in voted:
                    continue
                if not stages:
                    mine = follows[m] & candidates
                    vote = True if mine == chosen else False if mine - chosen else None
                else:
                    favour = sum(1 for x in follows[m] if stages[-1].get(x) is True)
                    against = sum(1 for x in follows[m] if stages[-1].get(x) is False)
                    vote = None
                    if favour >= self.vote_at and against < favour:
                        vote = True
                    elif against >= self.vote_at:
                        vote = False
                if vote is not None:
                    voted.add(m[0])
                    now[m] = vote
            if not now:
                return stages
            stages.append(now)

    def enough(self, stages, favour):
        for stage, votes in enumerate(stages):
            if sum(1 for vote in votes.values() if vote is favour) >= self.decide_at:
                return stage
        return None
