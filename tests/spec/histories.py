"""Small random runs, some right, most wrong in one or two places, as `History.from_logs` takes them."""


def draw(rng):
    """A run of a total order (or of several half-ordered ones), then damaged."""
    names = [f"m{p}" for p in range(rng.randint(1, 5))]
    count = rng.randint(0, 8)
    to, casts, logs, queue = {}, dict.fromkeys(names, 0), {p: [] for p in names}, []
    partial, style = rng.random() < 0.5, rng.choice(["total", "own", "any"])
    left = count
    while left or queue:  # a schedule: someone broadcasts, or someone delivers the next message of its order
        if left and (not queue or rng.random() < 0.4):
            origin = rng.choice(names)
            m = (origin, casts[origin])
            casts[origin] += 1
            left -= 1
            logs[origin].append(("broadcast", *m))
            if partial and rng.random() < 0.6:
                to[m] = [p for p in names if rng.random() < 0.6]
            queue.append([m, list(to.get(m, names))])
            continue
        item = queue[0] if style == "total" else rng.choice(queue)
        m, dest = item
        if dest:
            chosen = dest.pop(rng.randrange(len(dest)))
            waiting = any(chosen in other for _, other in queue[: queue.index(item)])
            if style == "own" and waiting and rng.random() < 0.7:
                dest.append(chosen)
                continue
            logs[chosen].append(("deliver", *m))
        if not dest:
            queue.remove(item)
    members = []
    for p in names:
        status = rng.choice(["correct"] * 4 + ["crashed", "cut"])
        log = logs[p]
        if status != "correct" and rng.random() < 0.7:
            log = log[: rng.randint(0, len(log))]
        members.append([p, status, log])
    for _ in range(rng.choice([0, 0, 1, 1, 2])):
        _damage(rng, rng.choice(members)[2], names)
    return [tuple(member) for member in members], to


def _damage(rng, log, names):
    gets = [i for i, event in enumerate(log) if event[0] == "deliver"]
    match rng.choice(["drop", "swap", "again", "forge", "withdraw"]):
        case "drop" if gets:
            log.pop(rng.choice(gets))
        case "swap" if len(gets) > 1:
            i = rng.randrange(len(gets) - 1)
            log[gets[i]], log[gets[i + 1]] = log[gets[i + 1]], log[gets[i]]
        case "again" if gets:
            log.insert(rng.randint(0, len(log)), log[rng.choice(gets)])
        case "forge":
            log.insert(rng.randint(0, len(log)), ("deliver", rng.choice(names), rng.randint(0, 4)))
        case "withdraw" if gets:
            log.insert(rng.randint(gets[0] + 1, len(log)), ("withdraw", rng.randint(1, 2)))


def ring(rng, members):
    """Members around a ring: each delivers two neighbouring messages, so that all pairs agree."""
    names = [f"m{p}" for p in range(members)]
    logs = {p: [("broadcast", p, 0)] for p in names}
    to = {(p, 0): [names[i - 1], p] for i, p in enumerate(names)}
    for i, p in enumerate(names):
        after = names[(i + 1) % members]
        logs[p] += [("deliver", p, 0), ("deliver", after, 0)]
    return [(p, "correct", logs[p]) for p in rng.sample(names, members)], to
