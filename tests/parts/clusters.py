"""A cluster of receipt logs without a network: every entity takes any source's next PDU at any time, or not yet."""

from itertools import product

from ordercast.parts.receipt_logs import Pdu, ReceiptLogs


class Cluster:
    """Steps are numbers, so that Hypothesis and a seeded random choose among them alike."""

    def __init__(self, n, reading="sender", logs=ReceiptLogs):
        self.n = n
        self.logs = [logs(range(n), k, reading=reading) for k in range(n)]
        self.sent = [[] for _ in range(n)]
        self.packed = [set() for _ in range(n)]
        self.acked = [set() for _ in range(n)]
        self.statuses = []  # (who, its REQ when it said so)

    def send(self, k, dst=()):
        p = Pdu(k, len(self.sent[k]), tuple(self.logs[k].REQ), 0, dst)
        self.sent[k].append(p)
        self.note(k, self.logs[k].accept(p))

    def take(self, k, source):
        """Entity k hears the next PDU of a source, if there is one and the receipt condition takes it."""
        logs = self.logs[k]
        if logs.REQ[source] < len(self.sent[source]):
            p = self.sent[source][logs.REQ[source]]
            if logs.verdict(p) == "accept":
                self.note(k, logs.accept(p))

    def status(self, k):
        self.statuses.append((k, tuple(self.logs[k].REQ)))

    def tell(self, k, which):
        if self.statuses:
            who, req = self.statuses[which % len(self.statuses)]
            self.note(k, self.logs[k].tell(who, req))

    def note(self, k, moved):
        for p in moved.packed:
            self.packed[k].add((p.SRC, p.SEQ))
        for p in moved.acked:
            self.acked[k].add((p.SRC, p.SEQ))
        self.check(k, moved)

    def check(self, k, moved):
        """PACK and ACK mean what they say, at the moment at which they are given."""
        for p in moved.packed:
            for g in p.DST or range(self.n):
                assert self.logs[g].REQ[p.SRC] > p.SEQ, f"{k} packed {p}, which {g} has not received"
        for p in moved.acked:
            assert (p.SRC, p.SEQ) in self.packed[k], f"{k} acknowledged {p} before it packed it"
            for g in p.DST or range(self.n):
                known = self.logs[g].known[p.SRC]
                has = all(known[h] > p.SEQ for h in p.DST or range(self.n))
                assert has, f"{k} acknowledged {p}, and {g} does not know that all hold it"
                assert p.DST or (p.SRC, p.SEQ) in self.packed[g], f"{k} acknowledged {p}, {g} did not pack it"
        # What was sent after p had been received comes to no level before p does.
        for level, ps in ((self.packed[k], moved.packed), (self.acked[k], moved.acked)):
            for p in ps:
                before = [(h, seq) for h, a in enumerate(p.A) for seq in range(a)]
                assert level.issuperset(before), f"{k} moved {p} before what its sender had received"

    def play(self, steps):
        for kind, k, other in steps:
            k, other = k % self.n, other
            if kind == "send":
                self.send(k)
            elif kind == "part":  # to a part of the cluster, named by the bits of a number
                dst = tuple(h for h in range(self.n) if other >> h & 1)
                self.send(k, () if len(dst) == self.n else dst)
            elif kind == "take":
                self.take(k, other % self.n)
            elif kind == "status":
                self.status(k)
            else:
                self.tell(k, other)

    def finish(self):
        """Everything is heard, and everybody says so often enough."""
        for _ in range(6):
            for k in range(self.n):
                self.send(k)
            for _, k, source in product(range(2 * self.n), range(self.n), range(self.n)):
                while self.logs[k].REQ[source] < len(self.sent[source]):
                    before = self.logs[k].REQ[source]
                    self.take(k, source)
                    if before == self.logs[k].REQ[source]:
                        break


def some_steps(random, length):
    """Steps for a mutant to fail in: mostly receipts."""
    kinds = ["send", "part", "status", "tell"] + ["take"] * 8
    return [(random.choice(kinds), random.randrange(60), random.randrange(60)) for _ in range(length)]
