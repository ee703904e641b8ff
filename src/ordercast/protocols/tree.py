"""Reliable broadcast over an unreliable multicast, by priority lists and coordinator trees (GK).

A source numbers its messages and multicasts each once; while it has nothing to say it sends null messages.  A host
that misses something probes its priority list for a coordinator; coordinators gather their hosts into a tree, deliver
inside it what any of them holds, and one alone looks for whoever has the rest.  Several sources are as many copies of
this, side by side.  Messages are delivered as they come, or in the source's order (`fifo`).  Appendix I's events stand
at their handlers.

What GK leaves open is decided here; `docs/protocols/tree.md` tells the run that breaks without each decision.
 1. A null message carries the last number.  A message from the source without gaps returns a host to NIL.
 2. The source, and a host at NIL that has everything, answer, fill and forget.
 3. A host that a probe made coordinator (event 2) begins to probe when a DESC arrives that it cannot fill.
 4. A gap or silence inside a tree starts nothing.  Redelivered messages say that they are: they show that it lives.
 5. A coordinator that is told of a higher one hands over its DESC, and goes on acting for its hosts until that one
    announces itself to it: a healthy host fills and never will.  It takes them back if nothing is filled either.
 6. What a coordinator receives later fills its DESC again, but for descendants it has delegated.
 7. Announcements say what the group holds; who differs sends its DESC again.  They call the roll now and then: who does
    not answer two calls is dropped.
 8. "I am coordinator" from a host lower than oneself, or lower than one's coordinator, is ignored.
 9. A coordinator that hears the source again begins its list anew, at once.
10. DESCs that arrive together are filled together.
11. Hosts report to the source how far they are whole; it announces a floor, below which nobody keeps anything.  When a
    host stays away, the history fills up, and then the source waits, or drops the oldest (`when_full`).
12. A host that comes back without memory gets what lies above the floor.  A source that does begins a stream of another
    life, and in the old one is a host like any other.
"""

from collections.abc import Iterable, Mapping, Sequence

from ordercast.core import LINK_FAULTS, Contract, Pid, Process
from ordercast.parts import runs
from ordercast.parts.fill import ask, fill, filled
from ordercast.parts.priority_lists import assigned, reorder
from ordercast.parts.runs import Runs
from ordercast.parts.stream import Key, Stream
from ordercast.parts.tree_words import (
    Ask,
    Coordinator,
    Data,
    Desc,
    IAmCoordinator,
    Null,
    Probe,
    Status,
    TreeParameters,
    Worded,
)

_CALL_EVERY, _CALLS_MISSED = 8, 2  # every eighth announcement calls the roll; who misses two calls is dropped


class Tree(Process):
    name = "tree"
    contract = Contract(
        paper="GK",
        title="Reliable broadcast over unreliable multicast: priority lists and coordinator trees",
        order="none",
        levels=("reliable", "fifo"),
        safe_under=(*LINK_FAULTS, "pause", "outage", "partition", "crash"),
        live_under=(*LINK_FAULTS, "pause", "outage", "partition", "crash"),
        bounds={"history": "`history` messages of each source"},
    )
    Parameters = TreeParameters
    parameters: TreeParameters
    joins = "as_same"

    def start(self, joining: bool = False) -> None:
        p, members = self.parameters, self.members
        sources = p.sources or members
        if p.lists and len(p.lists) != len(sources):
            raise ValueError(f"{len(sources)} sources want as many assignments of priority lists, not {len(p.lists)}")
        self.lists: dict[Pid, Mapping[Pid, Sequence[Pid]]] = {}  # source -> everybody's priority list
        for k, source in enumerate(sources):
            self.lists[source] = assigned(members, source, p.lists[k] if p.lists else None)
        self.streams: dict[Key, Stream] = {}
        self.whole = {other: 0 for other in members if other != self.me}  # host -> what it reported to me, the source
        self.own: Key | None = None  # the stream in which I broadcast
        for source in sources:
            self.open(source, 0, own=source == self.me and not joining)
        if joining and self.me in sources:
            self.open(self.me, max(1, round(self.port.now() * 1e6)), own=True)

    def open(self, source: Pid, life: int, own: bool) -> Stream:
        stream = Stream(source, life, self.me, self.lists[source], self.parameters.fifo, own)
        self.streams[stream.key] = stream
        for other in self.streams.values():
            if other.source == source and other.life < life:
                other.over, other.hears = True, False
            elif other.source == source and other.life > life:
                stream.over, stream.hears = True, False
        if own:
            self.own = stream.key
            self.port.set_timer("null", self.parameters.delta)
        else:
            self.port.set_timer(("silence", stream.key), self.parameters.m * self.parameters.delta)
            self.port.set_timer(("status", stream.key), self.parameters.status_every)
        return stream

    def stream(self, message: Worded) -> Stream:
        """What a message is about; a life of its source that was not known begins with the first word of it."""
        known = self.streams.get((message.source, message.life) if message.life else message.source)
        return known or self.open(message.source, message.life, own=False)

    # ------------------------------------------------------------------ the source

    def ready(self) -> bool:
        if self.own is None:
            return True
        history = self.streams[self.own].history
        return history.end - history.floor < self.parameters.history or self.parameters.when_full == "drop"

    def broadcast(self, payload: bytes, to: Sequence[Pid] | None = None) -> None:
        if self.own is None:
            raise ValueError(f"{self.me} is not one of the sources ({', '.join(map(str, self.lists))})")
        if to is not None:
            raise ValueError(f"{self.name} delivers to the whole group, not to a part of it")
        stream = self.streams[self.own]
        history = stream.history
        n = history.end
        if n - history.floor >= self.parameters.history:
            history.raise_floor(n + 1 - self.parameters.history)
        self.hand_over(stream, history.take(n, payload))
        self.port.multicast(Data(self.me, n, history.floor, payload, stream.life))
        self.port.set_timer("null", self.parameters.delta)

    def on_null_due(self) -> None:
        assert self.own is not None
        stream = self.streams[self.own]
        self.port.multicast(Null(self.me, stream.history.end, stream.history.floor, stream.life))
        self.port.set_timer("null", self.parameters.delta)

    def on_status(self, src: Pid, message: Status) -> None:
        stream = self.stream(message)
        if stream.own:
            self.whole[src] = max(self.whole[src], message.below)
            stream.history.raise_floor(min(self.whole.values()))

    # ------------------------------------------------------------------ the stream

    def on_data(self, src: Pid, message: Data) -> None:
        stream = self.stream(message)
        if stream.own:
            return
        history = stream.history
        due = history.take(message.n, message.payload)
        self.hand_over(stream, due + history.raise_floor(message.floor))
        if message.again:
            stream.progress = True
            if stream.leads():
                self.gather(stream)
            if stream.coord not in (None, self.me):
                self.await_coordinator(stream)
        elif stream.leads():
            stream.all_got(message.n)
        self.heard(stream, src)

    def on_null(self, src: Pid, message: Null) -> None:
        stream = self.stream(message)
        if stream.own:
            return
        stream.history.end = max(stream.history.end, message.end)
        self.hand_over(stream, stream.history.raise_floor(message.floor))
        self.heard(stream, src)

    def hand_over(self, stream: Stream, due: Iterable[tuple[int, bytes]]) -> None:
        for n, payload in due:
            self.port.deliver(stream.source, n, payload)

    def heard(self, stream: Stream, src: Pid) -> None:
        """Something of the stream came; was it from the source itself, and does that change what I am?"""
        if src == stream.source and not stream.over:
            self.port.set_timer(("silence", stream.key), self.parameters.m * self.parameters.delta)
            if not stream.hears:
                stream.hears = True
                if stream.probes is not None:
                    stream.probes = 0
                    self.on_probe_due(stream.key)
        self.judge(stream)

    def judge(self, stream: Stream) -> None:
        if stream.history.lacks():
            if stream.coord in (None, self.me):
                self.seek(stream)
        elif stream.hears and stream.coord is not None and not (stream.coord == self.me and stream.unknown()):
            stream.rest()
            for timer in ("probe", "announce", "coordinator"):
                self.port.cancel_timer((timer, stream.key))

    def on_silence(self, key: Key) -> None:
        stream = self.streams[key]
        stream.hears = False
        if stream.coord in (None, self.me):
            self.seek(stream)

    def on_status_due(self, key: Key) -> None:
        stream = self.streams[key]
        below = runs.prefix(stream.history.received)
        if stream.hears and below > stream.history.floor:
            self.port.send(stream.source, Status(stream.source, below, stream.life))
        self.port.set_timer(("status", key), self.parameters.status_every)

    # ------------------------------------------------------------------ looking for a coordinator

    def seek(self, stream: Stream) -> None:
        """Event 1: a failure is detected, or the coordinator timed out."""
        if stream.coord != self.me:
            self.lead(stream)
        if stream.probes is None and stream.mine:
            stream.probes = 0
            self.on_probe_due(stream.key)

    def lead(self, stream: Stream) -> None:
        stream.coord, stream.acting, stream.announcements = self.me, False, 0
        self.port.cancel_timer(("coordinator", stream.key))
        self.port.set_timer(("announce", stream.key), self.parameters.announce_every)

    def on_probe_due(self, key: Key) -> None:
        stream, p = self.streams[key], self.parameters
        assert stream.probes is not None
        if stream.unknown():  # first what we have ourselves, then what others have
            self.port.set_timer(("probe", key), p.respond_within)
            return
        lap, place = divmod(stream.probes, len(stream.mine))
        if place == 0 and p.dynamic:
            stream.mine = reorder(stream.mine, {other: self.port.cost(other) for other in stream.mine})
        self.port.send(stream.mine[place], Probe(stream.source, stream.life))
        stream.probes += 1
        self.port.set_timer(("probe", key), p.respond_within if lap == 0 else p.probe_every)

    def on_probe(self, src: Pid, message: Probe) -> None:
        """Event 2."""
        stream = self.stream(message)
        if stream.own:
            self.port.send(src, Coordinator(self.me, self.me, stream.life))
            return
        if stream.coord is None:
            self.lead(stream)
        assert stream.coord is not None
        self.port.send(src, Coordinator(stream.source, self.me if stream.acting else stream.coord, stream.life))

    def on_coordinator(self, src: Pid, message: Coordinator) -> None:
        """Event 3."""
        stream = self.stream(message)
        if stream.coord == self.me and stream.above(message.coord, self.me):
            self.attach(stream, message.coord)

    def attach(self, stream: Stream, coord: Pid) -> None:
        described = {self.me: stream.history.received, **stream.desc, **stream.waiting}
        stream.delegate(coord)
        self.port.cancel_timer(("probe", stream.key))
        if not stream.acting:
            self.port.cancel_timer(("announce", stream.key))
        self.port.send(coord, Desc(stream.source, tuple(described.items()), stream.life))
        self.await_coordinator(stream)

    def await_coordinator(self, stream: Stream) -> None:
        self.port.set_timer(("coordinator", stream.key), self.parameters.coordinator_timeout)

    def on_coordinator_lost(self, key: Key) -> None:
        stream = self.streams[key]
        self.seek(stream)
        if stream.unknown():
            self.on_announce(key)

    # ------------------------------------------------------------------ serving those who lack something

    def on_desc(self, src: Pid, message: Desc) -> None:
        """Event 4, first half: note it; what comes within `gather` is served together."""
        stream = self.stream(message)
        for host, received in message.hosts:
            if host != self.me:
                stream.describe(host, received)
        self.gather(stream)

    def gather(self, stream: Stream) -> None:
        if not self.parameters.gather:
            self.serve(stream)
        elif not stream.gathering:
            stream.gathering = True
            self.port.set_timer(("gather", stream.key), self.parameters.gather)

    def on_gathered(self, key: Key) -> None:
        self.serve(self.streams[key])

    def serve(self, stream: Stream) -> None:
        """Event 4, second half: fill; who cannot fill everything coordinates or passes it on."""
        stream.gathering = False
        if stream.own:
            self.fill(stream, stream.take_waiting())
        elif stream.coord is None or stream.leads():
            delegated = stream.admit()
            stream.desc = {**self.fill(stream, stream.desc), **delegated}
            if stream.coord is None and not stream.history.lacks() and not stream.unknown():
                stream.desc = {}  # all have everything
                return
            if stream.coord is None:
                self.lead(stream)
            self.ask(stream)
            self.judge(stream)
            if stream.coord == self.me:
                self.seek(stream)
        elif stream.waiting:
            described = self.fill(stream, stream.take_waiting())
            self.port.send(stream.coord, Desc(stream.source, tuple(described.items()), stream.life))

    def fill(self, stream: Stream, desc: Mapping[Pid, Runs | None]) -> dict[Pid, Runs | None]:
        """Appendix I's fill; returns the description as it is once all has arrived."""
        history = stream.history
        known = {host: received for host, received in desc.items() if received is not None}
        behind = tuple(host for host, received in known.items() if runs.prefix(received) < history.floor)
        if behind:  # they wait for what nobody keeps
            self.port.multicast(Null(stream.source, history.end, history.floor, stream.life), behind)
        for start, end, to in fill(history.held(), known):
            for n in range(start, end):
                message = Data(stream.source, n, history.floor, history.kept[n], stream.life, True)
                self.port.multicast(message, to)
        return {**desc, **filled(history.received, known)}

    def ask(self, stream: Stream) -> None:
        """Some of my hosts have what I lack: one of them shall send it to all who lack it."""
        have = runs.union(stream.history.received, stream.asked)
        known = {host: received for host, received in stream.desc.items() if received is not None}
        for holder, there in ask(have, {self.me: have, **known}, self.port.cost).items():
            self.port.send(holder, Ask(stream.source, tuple(there.items()), stream.life))
            for host, claimed in there.items():
                sends = runs.minus(known[holder], claimed)
                if host == self.me:
                    stream.asked = runs.union(stream.asked, sends)
                else:
                    stream.desc[host] = runs.union(known[host], sends)

    def on_ask(self, src: Pid, message: Ask) -> None:
        self.fill(self.stream(message), dict(message.hosts))

    # ------------------------------------------------------------------ a coordinator and its hosts

    def on_announce(self, key: Key) -> None:
        """Event 5."""
        stream = self.streams[key]
        call = stream.announce(_CALL_EVERY, _CALLS_MISSED)
        if stream.desc:
            message = IAmCoordinator(stream.source, stream.holds(), stream.history.floor, call, stream.life)
            self.port.multicast(message, tuple(stream.desc))
        if not stream.progress:
            stream.asked = runs.NOTHING
            self.ask(stream)
        stream.progress = False
        self.port.set_timer(("announce", key), self.parameters.announce_every)

    def on_i_am_coordinator(self, src: Pid, message: IAmCoordinator) -> None:
        """Event 6."""
        stream = self.stream(message)
        if stream.own:
            return
        if stream.coord is None or not stream.above(src, self.me):
            return
        if stream.coord == self.me:
            self.attach(stream, src)
        elif stream.coord == src or stream.above(src, stream.coord):
            history = stream.history
            if stream.acting:
                self.port.send(src, Desc(stream.source, tuple(stream.desc.items()), stream.life))
                self.port.cancel_timer(("announce", stream.key))
            stream.follow(src)
            history.end = max(history.end, runs.below(message.holds))
            self.hand_over(stream, history.raise_floor(message.floor))
            stalled = runs.minus(message.holds, history.received) and not stream.progress
            if message.call or stalled or runs.minus(history.received, message.holds):
                received = None if stream.progress else history.received  # more may be on its way
                self.port.send(src, Desc(stream.source, ((self.me, received),), stream.life))
            stream.progress = False
            self.await_coordinator(stream)
            self.judge(stream)

    def buffers(self) -> Mapping[str, tuple[int, int]]:
        fullest = max(len(stream.history.kept) for stream in self.streams.values())
        return {"history": (fullest, self.parameters.history)}

    handlers = {
        Data: on_data,
        Null: on_null,
        Probe: on_probe,
        Coordinator: on_coordinator,
        Desc: on_desc,
        IAmCoordinator: on_i_am_coordinator,
        Ask: on_ask,
        Status: on_status,
    }
    timers = {
        "null": on_null_due,
        "silence": on_silence,
        "status": on_status_due,
        "probe": on_probe_due,
        "coordinator": on_coordinator_lost,
        "gather": on_gathered,
        "announce": on_announce,
    }
