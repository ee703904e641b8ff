"""The closed forms of CH's sections 4.1 and 4.3, as printed; and the delay that the printed D is not.

exp(A, N) is read as the mean of one node's exponential inter-arrival time, 1/A seconds; N is only a label.  It is the
reading under which every claim about the formulas holds.  P is the propagation delay, in the simulation of 4.2 uniform
on (0, PP), so that its mean stands here.
"""

from collections.abc import Callable, Mapping

import msgspec


class Setting(msgspec.Struct, frozen=True):
    """A homogeneous system: N nodes that each broadcast A messages a second, token-owner time T, mean delay P."""

    N: int
    A: float = 10.0
    T: float = 1.0
    P: float = 0.05
    E: float = 0.0


def gap(s: Setting) -> float:
    """exp(A, N): seconds between two broadcasts of a node."""
    return 1 / s.A


def tokens(s: Setting) -> float:
    """Tokens per broadcast message in a broadcast network, no error: one batch-acknowledges N (T + P) / exp."""
    return gap(s) / (s.N * (s.T + s.P))


def requests(s: Setting) -> float:
    """(N - 1)(E + E^2 + ...): each of the others asks for its copy until it has it.  The text's E < 0 means E < 1."""
    return (s.N - 1) * s.E / (1 - s.E)


def control_broadcast(s: Setting) -> float:
    """C in a broadcast network."""
    return tokens(s) / (1 - s.E) + requests(s)


def control_point_to_point(s: Setting) -> float:
    """C in a point-to-point network: a token is N - 1 frames."""
    return (s.N - 1) * tokens(s) / (1 - s.E) + requests(s)


def printed_delay(s: Setting) -> float:
    """The paper's D, two cycles over the messages of one: twice the time per message, not the delay of any."""
    return 2 * gap(s) / s.N


def delay(s: Setting) -> float:
    """The mean from sending to commit at all nodes, no error.

    A message waits half a cycle for its node's turn on average, is attached a token-owner time later, and its cycle
    is complete when the last node's has been round: 2 N - 1/2 token periods in all.
    """
    return (2 * s.N - 0.5) * (s.T + s.P)


PROTOCOLS: Mapping[str, str] = {
    "centralized": "centralized",
    "two-phase": "two-phase",
    "optimistic": "optimistic",
    "fast": "fast message",
    "counter": "counter-based",
}

# Num, one broadcast message and its control messages, and D: Tables 1 and 2.
Form = Callable[[Setting], float]
NUM_BROADCAST: Mapping[str, Form] = {
    "centralized": lambda s: 2,
    "two-phase": lambda s: s.N + 1,
    "optimistic": lambda s: 1 + 1 / s.N,
    "fast": lambda s: 2,
    "counter": lambda s: 1 + tokens(s),
}
NUM_POINT_TO_POINT: Mapping[str, Form] = {
    "centralized": lambda s: s.N,
    "two-phase": lambda s: 3 * (s.N - 1),
    "optimistic": lambda s: s.N - 1 + (s.N - 1) / s.N,
    "fast": lambda s: 2 * (s.N - 1),
    "counter": lambda s: s.N - 1 + (s.N - 1) * tokens(s),
}
DELAY: Mapping[str, Form] = {
    "centralized": lambda s: 2 * s.P,
    "two-phase": lambda s: 3 * s.P,
    "optimistic": lambda s: (s.T + s.P) / s.N,
    "fast": lambda s: s.T + s.P,
    "counter": printed_delay,
}
