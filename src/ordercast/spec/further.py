"""Properties that need more of a trace than who broadcast and delivered what; `docs/properties.md` states them.

`bounded` and `live` read the run's facts: `facts["bounds"]` has, per buffer, its `limit` and the `most` it ever held;
`facts["faults_end"]` is the time at which the last fault ceased, `facts["live_within"]` the time allowed after it.
"""

import numpy as np

from ordercast.spec.history import NEVER, History, say
from ordercast.spec.verdict import HOLDS, Verdict, not_measured


def measurable(history: History) -> tuple[str, ...]:
    """Which of these the trace has anything to say about."""
    facts = history.info.facts
    has = {"safe": history.stable, "bounded": "bounds" in facts, "live": "live_within" in facts}
    return tuple(name for name, there in has.items() if there)


def safe(history: History) -> Verdict:
    """A message that any member reported stable is delivered by every destination of it that does not crash."""
    if not history.stable:
        return not_measured("nothing was reported stable")
    if not history.finished:
        return not_measured("the run was not left to finish")
    promised = np.zeros(len(history.to), dtype=np.bool_)
    for o, below in history.stable:
        ids = np.arange(history.start[o], history.start[o + 1])
        promised[ids[history.numbers[ids] < below]] = True
    for q in history.correct:
        mine = history.addressed_to(q)
        lacks = promised & (history.logs[q].positions() == NEVER) & (True if mine is None else mine)
        if lacks.any():
            message, member = history.message(int(np.argmax(lacks))), history.names[q]
            says = f"{say(message)} was reported stable, {member} never delivers it"
            return Verdict("violated", says, (message,), (member,))
    if history.cut:
        return not_measured(f"the log of {history.names[history.cut[0]]} is cut")
    return HOLDS


def bounded(history: History) -> Verdict:
    """No buffer ever held more than its stated limit."""
    bounds = history.info.facts.get("bounds")
    if not bounds:
        return not_measured("the trace does not say how full its buffers were")
    for name, bound in sorted(bounds.items()):
        if bound["most"] > bound["limit"]:
            return Verdict("violated", f"{name} held {bound['most']}, over its limit of {bound['limit']}")
    return HOLDS


def live(history: History) -> Verdict:
    """Every broadcast of a correct member reaches each correct destination within the stated time after it was asked
    for, or after the faults ceased, if that is later."""
    facts, times = history.info.facts, history.times
    if "live_within" not in facts or times is None:
        return not_measured("the trace states no time within which a broadcast is to be delivered")
    if not history.info.common_clock:
        return not_measured("the members' clocks cannot be compared")
    within, ceased = float(facts["live_within"]), float(facts.get("faults_end", 0.0))
    due = np.full(len(history.to), np.inf)
    for p in history.correct:
        log = history.logs[p]
        due[log.broadcasts] = np.maximum(times[log.broadcast_at], ceased) + within
    for q in history.correct:
        log, mine = history.logs[q], history.addressed_to(q)
        got = np.full(len(history.to), np.inf)
        got[log.first] = times[log.first_at]
        late = np.isfinite(due) & (got > due) & (True if mine is None else mine)
        if late.any():
            m = int(np.argmax(late))
            message, member = history.message(m), history.names[q]
            when = f"at {got[m]:.6f} s" if np.isfinite(got[m]) else "never"
            says = f"{member} delivers {say(message)} {when}, due by {due[m]:.6f} s"
            return Verdict("violated", says, (message,), (member,))
    return HOLDS
