"""Figs 1 to 4 of MMA as logs of messages (II.C, III.B).

Fig. 1 is printed as a sequence.  Figs 3 and 4 are missing from our copy; these logs satisfy every sentence about them.
"""

import msgspec

from ordercast.papers.message_log import Acknowledgments, Log


def _log(processors: str, k: int, lines: str) -> Log:
    """From lines such as `D2 -a1 c1` in the paper's notation."""
    messages = {}
    for line in lines.strip().splitlines():
        name, *marks = line.split()
        acks = [mark.upper() for mark in marks if not mark.startswith("-")]
        nacks = [mark[1:].upper() for mark in marks if mark.startswith("-")]
        messages[name] = Acknowledgments(acks, nacks)
    return Log(processors=list(processors), messages=messages, k=k)


FIG_1 = _log(
    "ABCD",
    1,
    """
    B1
    D1
    A1 d1
    C1 -d1 b1 a1
    D2 -a1 c1
    C2 d2 d1
    B2 -a1 c2
    """,
)

FIG_3 = _log(
    "ABCDEF",
    1,
    """
    A1
    B1 a1
    C1 b1
    D1 c1
    E1 d1
    F1 e1
    """,
)

# A and B hear one another, E and F nobody at first; C hears of A and B late, and of E2 not before C2.
FIG_4 = _log(
    "ABCDEF",
    1,
    """
    A1
    E1
    F1
    B1 a1
    D1 e1 f1
    C1 d1
    E2 c1
    F2 e2
    C2 b1
    D2 c2 e2
    A2 d2
    B2 a2
    """,
)


def without(log: Log, lost: str) -> Log:
    """The log without a message that nobody received."""
    return msgspec.structs.replace(
        log, messages={name: carried for name, carried in log.messages.items() if name != lost}
    )
