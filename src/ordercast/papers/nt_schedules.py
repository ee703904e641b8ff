"""NT section 4 by hand: who broadcasts when, until a PDU p is acknowledged everywhere.  No clock, no loss, no timer.

The logs are those that PO and TO run on.  p is entity 0's.  In a round all PDUs composed in it are heard by everybody,
in the one channel's order; serially, every PDU is a round of its own.
"""

from collections.abc import Iterable, Sequence

import msgspec

from ordercast.parts.receipt_logs import Pdu, Reading, ReceiptLogs


class Count(msgspec.Struct, frozen=True):
    pdus: int  # that the schedule broadcasts, p included
    rounds: int
    needed: int | None  # PDUs heard when the last entity acknowledges p; None: it does not, by this schedule


class _Cluster:
    def __init__(self, n: int, reading: Reading) -> None:
        self.n = n
        self.logs = [ReceiptLogs(range(n), k, reading=reading, one_log=True) for k in range(n)]
        self.sent = [0] * n
        self.heard = 0
        self.needed: int | None = None

    def compose(self, k: int) -> Pdu:
        self.sent[k] += 1
        return Pdu(k, self.sent[k] - 1, tuple(self.logs[k].REQ), 0, ())

    def hear(self, p: Pdu) -> None:
        """Everybody hears the channel's next PDU."""
        self.heard += 1
        for logs in self.logs:
            assert logs.verdict(p) == "accept"
            logs.accept(p)
        if self.needed is None and all(logs.acked[0] for logs in self.logs):
            self.needed = self.heard

    def count(self, rounds: int) -> Count:
        return Count(sum(self.sent), rounds, self.needed)


def parallel(n: int, reading: Reading) -> Count:
    """The best case: p; all others at once; then all at once, round by round, until p is acknowledged."""
    cluster = _Cluster(n, reading)
    rounds, senders = 0, [0]
    while cluster.needed is None:
        for p in [cluster.compose(k) for k in senders]:
            cluster.hear(p)
        rounds += 1
        senders = list(range(1, n)) if rounds == 1 else list(range(n))
    return cluster.count(rounds)


def serial(n: int, reading: Reading, second: Sequence[int]) -> Count:
    """One after another: p, the others, and from then on everybody in the order `second`, again and again."""
    cluster = _Cluster(n, reading)
    for k in _serially(n, second):
        cluster.hear(cluster.compose(k))
        if cluster.needed is not None:
            break
    return cluster.count(cluster.heard)


def _serially(n: int, second: Sequence[int]) -> Iterable[int]:
    yield from range(n)
    while True:
        yield from second


def reply_to_all(n: int, reading: Reading) -> Count:
    """The worst case: every PDU that first pre-acknowledges p on its entity is answered by all others."""
    cluster = _Cluster(n, reading)
    due, rounds = [cluster.compose(0)], 0
    answered = [False] * n
    while due:
        rounds, answers = rounds + 1, list[Pdu]()
        for p in due:
            cluster.hear(p)
            first = p.A[0] > 0 and not answered[p.SRC] and (p.SRC > 0 or reading == "literal")
            answered[p.SRC] |= first
            if first or cluster.heard == 1:
                answers += [cluster.compose(k) for k in range(n) if k != p.SRC]
        due = answers
    return cluster.count(rounds)
