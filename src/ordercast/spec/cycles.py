"""One order for all members together: is there a sequence that extends every log?  If not, a shortest cycle.

A guess that usually proves it comes first: push every message behind its predecessor in each log, in a few rounds
over all members.  When those do not settle, Kahn's algorithm decides, and what it leaves holds the cycles.
"""

from collections.abc import Sequence

import numpy as np

from ordercast.spec.history import NEVER, Bools, History, Ints, say
from ordercast.spec.order import uniform_total_order
from ordercast.spec.verdict import HOLDS, Verdict

_ROUNDS = 6
_BLOCK = 1 << 20  # starts of cycles tried at once, times the members


def single_order(history: History) -> Verdict:
    """The orders of all members together have no cycle."""
    pairs = uniform_total_order(history)
    if pairs.result == "violated":  # two members that disagree are a cycle of two, and none is shorter
        return pairs
    logs = [log.first for log in history.logs]
    if history.one_sequence or _settles(logs, len(history.to)):
        return HOLDS
    left = _left(logs, len(history.to))
    left &= _left([log[left[log]][::-1] for log in logs], len(history.to))
    if not left.any():
        return HOLDS
    ids = np.flatnonzero(left)
    dense = np.cumsum(left) - 1
    cycle = _shortest([dense[log[left[log]]] for log in logs], len(ids))
    messages = tuple(history.message(int(ids[m])) for m, _ in cycle)
    members = tuple(history.names[p] for _, p in cycle)
    steps = zip(members, messages, (*messages[1:], messages[0]), strict=True)
    says = ", ".join(f"{member} delivers {say(a)} before {say(b)}" for member, a, b in steps)
    return Verdict("violated", says, messages, members)


def _settles(logs: Sequence[Ints], size: int) -> bool:
    rank = np.zeros(size, dtype=np.int64)
    for _ in range(_ROUNDS):
        moved = False
        for log in logs:
            steps = np.arange(len(log))
            now = rank[log]
            after = np.maximum.accumulate(now - steps) + steps
            if not np.array_equal(now, after):
                moved = True
                rank[log] = after
        if not moved:
            return True
    return False


def _left(logs: Sequence[Ints], size: int) -> Bools:
    """What Kahn's algorithm cannot reach: the messages on cycles, and those behind one."""
    heads = np.concatenate([log[:-1] for log in logs])
    tails = np.concatenate([log[1:] for log in logs])
    waits = np.bincount(tails, minlength=size)
    waiting = waits.tolist()
    follow = tails[np.argsort(heads, kind="stable")].tolist()
    start = np.concatenate(([0], np.cumsum(np.bincount(heads, minlength=size)))).tolist()
    free = np.flatnonzero(waits == 0).tolist()
    while free:
        m = free.pop()
        for after in follow[start[m] : start[m + 1]]:
            waiting[after] -= 1
            if not waiting[after]:
                free.append(after)
    return np.array(waiting) > 0


def _shortest(logs: Sequence[Ints], size: int) -> list[tuple[int, int]]:
    """A cycle of as few messages as possible: (message, the member that delivers it before the next one)."""
    place = np.full((len(logs), size), NEVER, dtype=np.int32)
    for p, log in enumerate(logs):
        place[p, log] = np.arange(len(log))
    block = max(1, _BLOCK // len(logs))
    best: list[tuple[int, int]] = []
    for low in range(0, size, block):
        starts = np.arange(low, min(size, low + block))
        found = _search(logs, place, starts, len(best) - 1 if best else len(logs) + 1)
        best = found or best
        if len(best) == 3:  # all pairs agree, so none is shorter
            break
    assert best, "what two passes of Kahn's algorithm leave has a cycle"
    return best


def _search(logs: Sequence[Ints], place: Ints, starts: Ints, limit: int) -> list[tuple[int, int]]:
    """A shortest cycle through one of `starts`, of at most `limit` messages; empty if there is none.

    reach[k][q, i] is the earliest place in q's log that k steps or fewer lead to from starts[i], a step being to any
    later message of one log: nothing but the earliest matters for where one can go from there.
    """
    reach = [place[:, starts]]
    while len(reach) < limit:
        reach.append(_step(logs, place, reach[-1]))
        home = np.argwhere((reach[-1] < reach[0]) & (reach[0] != NEVER))
        if len(home):
            q, i = home[np.lexsort((home[:, 0], home[:, 1]))[0]].tolist()
            return _walk(logs, place, [step[:, i : i + 1] for step in reach], q)
    return []


def _step(logs: Sequence[Ints], place: Ints, reach: Ints) -> Ints:
    out = reach.copy()
    for p, log in enumerate(logs):
        after = np.minimum(reach[p], len(log) - 1) + 1
        for q in range(len(logs)):
            if q != p:
                np.minimum(out[q], _earliest(place[q][log])[after], out=out[q])
    return out


def _earliest(places: Ints) -> Ints:
    """Per position, the earliest place from there on (after the end: NEVER)."""
    out = np.full(len(places) + 1, NEVER, dtype=np.int32)
    out[:-1] = np.minimum.accumulate(places[::-1])[::-1]
    return out


def _walk(logs: Sequence[Ints], place: Ints, reach: Sequence[Ints], q: int) -> list[tuple[int, int]]:
    """Back from the message that closes the cycle (it is before the start in q's log) to the start."""
    k = len(reach) - 1
    cycle = [(int(logs[q][reach[k][q, 0]]), q)]
    while k:
        at = reach[k][q, 0]
        k -= 1
        for p, log in enumerate(logs):
            came = reach[k][p, 0]
            if p != q and came < len(log) and _earliest(place[q][log])[came + 1] == at:
                cycle.append((int(log[came]), p))
                q = p
                break
        else:
            continue  # it was reached in fewer steps
    return cycle[::-1]
