"""The order of deliveries, two members at a time: total order, uniform total order, and no gaps."""

from collections.abc import Sequence

import numpy as np

from ordercast.spec.history import NEVER, History, say
from ordercast.spec.verdict import HOLDS, Verdict


def total_order(history: History) -> Verdict:
    """Two correct members deliver any two messages that both deliver in the same order."""
    return _pairwise(history, history.correct)


def uniform_total_order(history: History) -> Verdict:
    """Any two members deliver any two messages that both deliver in the same order."""
    return _pairwise(history, range(len(history.names)))


def _pairwise(history: History, members: Sequence[int]) -> Verdict:
    if history.one_sequence:
        return HOLDS
    for q in members:
        place = history.logs[q].positions()
        for p in members:
            if p >= q:
                break
            common = place[history.logs[p].first]
            common = common[common != NEVER]
            back = common[1:] < common[:-1]
            if back.any():
                i = int(np.argmax(back))
                log = history.logs[q].first
                return _opposite(history, p, q, int(log[common[i]]), int(log[common[i + 1]]))
    return HOLDS


def _opposite(history: History, p: int, q: int, a: int, b: int) -> Verdict:
    first, second = history.message(a), history.message(b)
    one, other = history.names[p], history.names[q]
    says = f"{one} delivers {say(first)} before {say(second)}, {other} {say(second)} before {say(first)}"
    return Verdict("violated", says, (first, second), (one, other))


def gap_free(history: History) -> Verdict:
    """If any member delivers a before b, every deliverer of b and destination of a delivers a before b."""
    if history.one_sequence:
        return HOLDS
    for q, judged in enumerate(history.logs):
        place, mine = judged.positions(), history.addressed_to(q)
        for p, log in enumerate(history.logs):
            if p == q or len(log.first) < 2:
                continue
            here = place[log.first]
            required = here if mine is None else np.where(mine[log.first], here, -1)
            latest = np.maximum.accumulate(required)[:-1]
            gap = latest > here[1:]  # what q lacks has the highest place of all, so it never exceeds itself
            if gap.any():
                b = int(np.argmax(gap)) + 1
                a = int(np.argmax(required[:b]))
                return _gap(history, p, q, int(log.first[a]), int(log.first[b]))
    return HOLDS


def _gap(history: History, p: int, q: int, a: int, b: int) -> Verdict:
    first, second = history.message(a), history.message(b)
    one, other = history.names[p], history.names[q]
    says = f"{one} delivers {say(first)} before {say(second)}, {other} {say(second)} without {say(first)} before it"
    return Verdict("violated", says, (first, second), (one, other))
