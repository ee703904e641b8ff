"""What is delivered at all: integrity, and the properties of a run's end (validity and the two agreements)."""

import numpy as np

from ordercast.spec.history import Bools, History, Log, say
from ordercast.spec.verdict import HOLDS, Verdict, not_measured


def integrity(history: History) -> Verdict:
    """No member delivers a message twice, or one not addressed to it, or one that its origin never broadcast."""
    unrecorded = ~history.recorded
    not_cut = np.array([word != "cut" for word in history.status])
    unproven: Verdict | None = None
    for p, log in enumerate(history.logs):
        if len(log.repeated):
            return _one(history, p, int(log.repeated[0]), "delivers {m} twice")
        mine = history.addressed_to(p)
        if mine is not None and not mine[log.first].all():
            return _one(history, p, int(log.first[np.argmin(mine[log.first])]), "delivers {m}, not addressed to it")
        lacking = log.first[unrecorded[log.first]]
        if len(lacking):
            forged = lacking[not_cut[history.origins[lacking]]]
            if len(forged):
                return _one(history, p, int(forged[0]), "delivers {m}, which its origin never broadcast")
            name = history.message(int(lacking[0]))
            unproven = unproven or not_measured(f"the log of {name[0]} is cut and lacks the broadcast of {say(name)}")
    return unproven or HOLDS


def _one(history: History, p: int, m: int, what: str) -> Verdict:
    message, member = history.message(m), history.names[p]
    return Verdict("violated", f"{member} {what.format(m=say(message))}", (message,), (member,))


def validity(history: History) -> Verdict:
    """A correct member delivers every message that it broadcast and is itself a destination of."""
    if not history.finished:
        return _unfinished()
    for p in history.correct:
        log, mine = history.logs[p], history.addressed_to(p)
        got = _delivered(history, log)
        lacks = log.broadcasts[~got[log.broadcasts] & (mine is None or mine[log.broadcasts])]
        if len(lacks):
            return _one(history, p, int(lacks[0]), "never delivers its own {m}")
    return _end(history)


def agreement(history: History) -> Verdict:
    """A message delivered by a correct member is delivered by every correct destination."""
    return _agree(history, history.correct)


def uniform_agreement(history: History) -> Verdict:
    """A message delivered by any member is delivered by every correct destination."""
    return _agree(history, range(len(history.names)))


def _agree(history: History, tellers: "list[int] | range") -> Verdict:
    if not history.finished:
        return _unfinished()
    required = np.zeros(len(history.to), dtype=np.bool_)
    for p in tellers:
        required[history.logs[p].first] = True
    for q in history.correct:
        mine = history.addressed_to(q)
        due = required if mine is None else required & mine
        lacks = np.flatnonzero(due & ~_delivered(history, history.logs[q]))
        if len(lacks):
            return _lacks(history, q, int(lacks[0]), tellers)
    return _end(history)


def _lacks(history: History, q: int, m: int, tellers: "list[int] | range") -> Verdict:
    p = next(p for p in tellers if (history.logs[p].first == m).any())
    message, member, other = history.message(m), history.names[q], history.names[p]
    return Verdict("violated", f"{other} delivers {say(message)}, {member} never does", (message,), (other, member))


def _delivered(history: History, log: Log) -> Bools:
    out = np.zeros(len(history.to), dtype=np.bool_)
    out[log.first] = True
    return out


def _end(history: History) -> Verdict:
    """No violation was found: does that mean there is none?"""
    if history.cut:
        return not_measured(f"the log of {history.names[history.cut[0]]} is cut")
    return HOLDS


def _unfinished() -> Verdict:
    return not_measured("the run was not left to finish")
