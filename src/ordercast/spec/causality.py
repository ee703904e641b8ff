"""FIFO and causal order: what must precede a message, against what each member delivered before it.

The past of a message is closed downwards in every origin's numbers, so it is a vector: per origin, how many of its
messages precede.  A member has all of it in time if the latest of its deliveries among those messages, of the ones
addressed to it, comes before the message's own.
"""

from collections.abc import Sequence

import numpy as np

from ordercast.spec.history import NEVER, History, Ints, say
from ordercast.spec.verdict import HOLDS, Verdict, not_measured


def fifo(history: History) -> Verdict:
    """Whoever delivers (o, j) has delivered before it every (o, i), i < j, addressed to it."""
    return _precede(history, [np.arange(len(history.to)) + history.origins]) or HOLDS


def causal(history: History) -> Verdict:
    """Whoever delivers m has delivered before it every message that precedes m and is addressed to it."""
    if _in_one_sequence(history):
        return HOLDS
    past = _direct_past(history)
    if not history.to_all:  # a message between two others may be addressed elsewhere, and is not judged here
        _close(history, past)
    offsets = history.start[:-1] + np.arange(len(history.names))
    found = _precede(history, list(past.T + offsets[:, None].astype(np.int32)))
    if found:
        return found
    for log in history.logs:
        bare = log.first[~history.recorded[log.first]]
        if len(bare):
            return not_measured(f"nobody recorded the broadcast of {say(history.message(int(bare[0])))}")
    return HOLDS


def _in_one_sequence(history: History) -> bool:
    """The usual case, cheaply: every log is a prefix of one sequence, so what a member had delivered when it broadcast
    m is a prefix, too, and comes before m everywhere if it is no longer than what comes before m in the sequence."""
    if not (history.to_all and history.one_sequence):
        return False
    longest = max(history.logs, key=lambda log: len(log.first))
    place = longest.positions()
    for log in history.logs:
        if (np.searchsorted(log.first_at, log.broadcast_at) > place[log.broadcasts]).any():
            return False
    return bool(history.recorded[longest.first].all()) and fifo(history).result == "holds"


def _precede(history: History, pasts: Sequence[Ints]) -> Verdict | None:
    """Is each past delivered in time?  A past is, per message, an index into `_fronts`."""
    for p, log in enumerate(history.logs):
        if not len(log.first):
            continue
        place = log.positions()
        fronts = _fronts(history, p, place)
        got = place != NEVER
        for past in pasts:
            late = got & (fronts[past] >= place)
            if late.any():
                m = int(log.first[np.argmax(late[log.first])])
                return _late(history, p, m, int(past[m]), place)
    return None


def _fronts(history: History, p: int, place: Ints) -> Ints:
    """Per origin o and k, at start[o] + o + k: the latest place among o's first k messages addressed to p."""
    mine = history.addressed_to(p)
    place = place if mine is None else np.where(mine, place, -1)
    out = np.full(len(place) + len(history.names), -1, dtype=np.int32)
    for o in range(len(history.names)):
        begin, end = int(history.start[o]), int(history.start[o + 1])
        np.maximum.accumulate(place[begin:end], out=out[begin + o + 1 : end + o + 1])
    return out


def _late(history: History, p: int, m: int, past: int, place: Ints) -> Verdict:
    """The witness: the first message of that past that p lacked when it delivered m."""
    o = int(np.searchsorted(history.start[:-1] + np.arange(len(history.names)), past, side="right")) - 1
    before = np.arange(history.start[o], past - o)
    mine = history.addressed_to(p)
    lacked = (place[before] >= place[m]) & (True if mine is None else mine[before])
    first, second = history.message(int(before[np.argmax(lacked)])), history.message(m)
    says = f"{history.names[p]} delivers {say(second)} without {say(first)} before it, which precedes it"
    return Verdict("violated", says, (first, second), (history.names[p],))


def _direct_past(history: History) -> Ints:
    """Per message and origin, how many messages of that origin precede it without a third message in between."""
    size = len(history.names)
    local = (np.arange(len(history.to)) - history.start[history.origins]).astype(np.int32)
    past = np.zeros((len(history.to), size), dtype=np.int32)
    past[np.arange(len(history.to)), history.origins] = local
    for log in history.logs:
        if not len(log.broadcasts):
            continue
        origins = history.origins[log.first]
        for o in range(size):
            of_o = np.flatnonzero(origins == o)
            if not len(of_o):
                continue
            counts = np.maximum.accumulate(local[log.first[of_o]] + 1)
            known = np.searchsorted(log.first_at[of_o], log.broadcast_at)
            before = np.where(known > 0, counts[known - 1], 0)
            past[log.broadcasts, o] = np.maximum(past[log.broadcasts, o], before)
    return past


def _close(history: History, past: Ints) -> None:
    """Add the past of the past, until nothing is added.  An origin's last message in a past has all of its others'."""
    table = np.concatenate((past, np.zeros((1, past.shape[1]), dtype=past.dtype)))
    nothing = len(past)  # the row of a message that has no past
    active = np.arange(len(past))
    grown = np.ones(len(table), dtype=np.bool_)
    while len(active):
        before = table[active]
        rows = before.copy()
        for o, start in enumerate(history.start[:-1]):
            known = rows[:, o]
            np.maximum(rows, table[np.where(known, known + (start - 1), nothing)], out=rows)
        table[active] = rows
        grown[:] = False
        grown[active[(rows != before).any(axis=1)]] = True
        if not grown.any():
            break
        needs = np.zeros(len(past), dtype=np.bool_)
        for o, start in enumerate(history.start[:-1]):
            known = table[:-1, o]
            needs |= grown[np.where(known, known + (start - 1), nothing)]
        active = np.flatnonzero(needs)
    past[:] = table[:-1]
