"""The properties judged a second time, from their definitions alone: sets, every pair, and no cleverness."""


class Run:
    """members: (name, status, events), events as for `History.from_logs`, without views; `to` as there."""

    def __init__(self, members, to):
        self.names = [name for name, _, _ in members]
        self.status = {name: status for name, status, _ in members}
        self.events, self.logs, self.casts = {}, {}, {}
        for name, _, events in members:
            kept = []
            for event in events:
                if event[0] == "withdraw":
                    for _ in range(event[1]):
                        last = max((i for i, e in enumerate(kept) if e[0] == "deliver"), default=None)
                        if last is not None:
                            kept.pop(last)
                else:
                    kept.append(event)
            self.events[name] = kept
            self.casts[name] = [(o, n) for kind, o, n in kept if kind == "broadcast"]
            self.logs[name] = [(o, n) for kind, o, n in kept if kind == "deliver"]
        self.first = {p: list(dict.fromkeys(log)) for p, log in self.logs.items()}
        mentioned = {m for p in self.names for m in self.casts[p] + self.logs[p]}
        self.messages = {(o, i) for o, n in mentioned for i in range(n + 1)}
        self.to = to
        self.correct = [p for p in self.names if self.status[p] == "correct"]
        self.cut = [p for p in self.names if self.status[p] == "cut"]
        self.cast = {m for casts in self.casts.values() for m in casts}

    def dest(self, m):
        return self.to.get(m, self.names)

    def before(self, p, a, b):
        """p has delivered a before b (b delivered)."""
        log = self.first[p]
        return a in log[: log.index(b)]


def end(run, violated):
    return "violated" if violated else "not_measured" if run.cut else "holds"


def integrity(run):
    unsure = False
    for p in run.names:
        if len(run.first[p]) < len(run.logs[p]) or any(p not in run.dest(m) for m in run.first[p]):
            return "violated"
        for m in run.first[p]:
            if m not in run.cast:
                if run.status[m[0]] != "cut":
                    return "violated"
                unsure = True
    return "not_measured" if unsure else "holds"


def validity(run):
    return end(run, any(p in run.dest(m) and m not in run.first[p] for p in run.correct for m in run.casts[p]))


def agreement(run, tellers=None):
    told = {m for p in (run.correct if tellers is None else tellers) for m in run.first[p]}
    return end(run, any(q in run.dest(m) and m not in run.first[q] for m in told for q in run.correct))


def uniform_agreement(run):
    return agreement(run, run.names)


def required_before(run, precedes):
    for p in run.names:
        for m in run.first[p]:
            for x in run.messages:
                if p in run.dest(x) and precedes(x, m) and not run.before(p, x, m):
                    return False
    return True


def fifo(run):
    return "holds" if required_before(run, lambda x, m: x[0] == m[0] and x[1] < m[1]) else "violated"


def causal(run):
    edges = {(x, m) for m in run.messages for x in run.messages if x[0] == m[0] and x[1] < m[1]}
    for q in run.names:
        seen = []
        for kind, o, n in run.events[q]:
            if kind == "deliver":
                seen.append((o, n))
            else:
                edges |= {(x, (o, n)) for x in seen}
    while True:
        more = {(x, z) for x, y in edges for y2, z in edges if y == y2} - edges
        if not more:
            break
        edges |= more
    if not required_before(run, lambda x, m: (x, m) in edges):
        return "violated"
    return "holds" if all(m in run.cast for p in run.names for m in run.first[p]) else "not_measured"


def total_order(run, members=None):
    members = run.correct if members is None else members
    for p in members:
        for q in members:
            common = [m for m in run.first[p] if m in run.first[q]]
            if common != [m for m in run.first[q] if m in run.first[p]]:
                return "violated"
    return "holds"


def uniform_total_order(run):
    return total_order(run, run.names)


def shortest_cycle(run):
    """The number of messages on a shortest cycle of the orders together; 0: there is none."""
    after = {m: set() for m in run.messages}
    for log in run.first.values():
        for i, a in enumerate(log):
            after[a] |= set(log[i + 1 :])
    best = 0
    for start in after:
        reached, front, steps = set(), {start}, 0
        while front:
            steps += 1
            front = {b for a in front for b in after[a]} - reached
            if start in front:
                best = steps if not best else min(best, steps)
                break
            reached |= front
    return best


def single_order(run):
    return "violated" if shortest_cycle(run) else "holds"


def gap_free(run):
    for p in run.names:
        for i, a in enumerate(run.first[p]):
            for b in run.first[p][i + 1 :]:
                for q in run.names:
                    if b in run.first[q] and q in run.dest(a) and not run.before(q, a, b):
                        return "violated"
    return "holds"


JUDGES = (
    integrity,
    validity,
    agreement,
    uniform_agreement,
    fifo,
    causal,
    total_order,
    uniform_total_order,
    single_order,
    gap_free,
)
