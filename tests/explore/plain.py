"""Exploring a second time, plainly: whole worlds, pickled; every interleaving; nothing remembered, nothing left out."""

import io
import pickle


class Port:
    """Collects what one verb asks for."""

    def __init__(self, me, members):
        self.me, self.others = me, [p for p in members if p != me]
        self.clear_all()

    def clear_all(self):
        self.own, self.sent, self.delivered, self.armed, self.cancelled = [], [], [], [], []

    def __reduce__(self):
        return Port, (self.me, [self.me, *self.others])

    def send(self, to, message):
        self.multicast(message, (to,))

    def multicast(self, message, to=None):
        for p in self.others if to is None else to:
            if p == self.me:
                self.own.append(message)
            else:
                self.sent.append((self.me, p, message))

    def deliver(self, origin, n, payload):
        self.delivered.append(("deliver", str(origin), n))

    def set_timer(self, name, after):
        self.armed.append(name)

    def cancel_timer(self, name):
        if name in self.armed:
            self.armed.remove(name)
        self.cancelled.append(name)

    def reach(self, *_):
        pass


def logs_reached(kind, size, broadcasts, timeouts):
    """Every tuple of logs that some interleaving leads to; each member's log has its broadcasts and deliveries."""
    members = tuple(range(size))
    processes = [kind(me, members, Port(me, members)) for me in members]
    start = {"p": processes, "f": [], "t": [set() for _ in members], "w": [[] for _ in members]}
    start |= {"logs": [[] for _ in members], "b": broadcasts, "e": timeouts}
    for me in members:
        _verb(start, me, processes[me].start)
    seen, ahead, reached = set(), [_frozen(start)], set()
    while ahead:
        frozen = ahead.pop()
        if frozen in seen:
            continue
        seen.add(frozen)
        world = _thawed(frozen)
        reached.add(tuple(tuple(log) for log in world["logs"]))
        steps = [("take", i) for i in range(len(world["f"]))]
        steps += [("ask", me) for me in members] if world["b"] else []
        steps += [("expire", me, name) for me in members for name in world["t"][me]] if world["e"] else []
        ahead.extend(_frozen(_stepped(_thawed(frozen), step)) for step in steps)
    return reached, len(seen)


def _stepped(world, step):
    if step[0] == "take":
        src, me, message = world["f"].pop(step[1])
        _verb(world, me, lambda: world["p"][me].receive(src, message))
    elif step[0] == "ask":
        me = step[1]
        world["b"] -= 1
        n = sum(entry[0] == "broadcast" for entry in world["logs"][me])
        world["logs"][me].append(("broadcast", str(me), n))
        world["w"][me].append(b"%d.%d" % (me, n))
        _verb(world, me, lambda: None)
    else:
        _, me, name = step
        world["e"] -= 1
        world["t"][me].discard(name)
        _verb(world, me, lambda: world["p"][me].expire(name))
    return world


def _verb(world, me, verb):
    """A verb, the application's pump, and the member's own copies, until all is quiet."""
    process = world["p"][me]
    port, own = process.port, []
    verbs = [verb]
    while verbs:
        verbs.pop()()
        while world["w"][me] and process.ready():
            process.broadcast(world["w"][me].pop(0))
        own += port.own
        world["t"][me] -= set(port.cancelled)
        world["t"][me] |= set(port.armed)
        world["logs"][me] += port.delivered
        for frame in port.sent:
            if frame not in world["f"]:
                world["f"].append(frame)
        port.clear_all()
        if own:
            message = own.pop(0)
            verbs.append(lambda message=message: process.receive(me, message))


def _frozen(world):
    world["f"].sort(key=repr)
    world["t"] = [sorted(names) for names in world["t"]]
    out = io.BytesIO()
    pickler = pickle.Pickler(out, protocol=5)
    pickler.fast = True
    pickler.dump(world)
    return out.getvalue()


def _thawed(frozen):
    world = pickle.loads(frozen)
    world["t"] = [set(names) for names in world["t"]]
    return world
