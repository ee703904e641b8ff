"""The door: one member of a live group, for applications.

    async with await Group.join(me=0, members={0: ("127.0.0.1", 7000), 1: ("127.0.0.1", 7001)}) as group:
        await group.broadcast(b"hello")
        async for message in group:
            print(message.origin, message.payload)

Every queue is bounded: `await broadcast` waits while the group takes no more, and a member whose application does not
read its deliveries stops taking part until it does (so read them in a task of its own, if you broadcast a lot).
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import count, islice, repeat
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from ordercast.core import Pid, Process, Reached, parameters_of
from ordercast.group import Packing, knows_parts, packed
from ordercast.net.errors import GroupClosed, GroupError, GroupFailed, LockedOut, MembersMissing, UnknownMember
from ordercast.net.presence import Presence
from ordercast.net.recording import Recording
from ordercast.net.settings import Settings, make_settings, protocol_named, served_by
from ordercast.net.sockets import Address, is_loopback, resolve
from ordercast.net.udp import Above, UdpPort, default_frame_bytes
from ordercast.trace.columns import JOIN, LEAVE

HELLO_EVERY = 0.05  # while members are missing
SLOW_MEMBER = 1.0  # how long to wait, having heard all, for the others to have heard all
FAREWELL_EVERY = 0.02
LAST_NOTICES = 3
GRACE = 0.2  # for the others to say that they go, too
FLUSH_EVERY = 1.0  # of a recording
LARGEST_MESSAGE_BYTES = 1 << 24


class Delivery(msgspec.Struct, frozen=True, gc=False):
    """A message as it is handed over: the `n`-th broadcast of `origin`."""

    origin: Pid
    n: int
    payload: bytes


class Group:
    """A member of a group; made by `join`."""

    def __init__(self, settings: Settings, kind: type[Process]) -> None:
        kind = served_by(settings, kind)
        self.settings, self.me, self.members = settings, settings.me, tuple(sorted(settings.members))
        addresses = {member: resolve(settings.members[member]) for member in self.members}
        local = all(is_loopback(address) for address in addresses.values())
        frame_bytes = settings.frame_bytes or default_frame_bytes(addresses)
        number = settings.number(kind)
        founders = self.members if settings.founders is None else tuple(sorted(settings.founders))
        self._presence = Presence(self.me, founders, time.time_ns(), number)
        self._recording: Recording | None = None
        if settings.trace is not None:
            try:
                self._recording = Recording(Path(settings.trace), settings.run, self.me, self.members, local)
            except OSError as error:
                raise GroupError(f"{settings.trace}: cannot record there ({error.strerror})") from None
            self._recording.about = {"protocol": kind.name, "parameters": dict(settings.parameters)}
        self._loop = asyncio.get_running_loop()
        self._inbox: deque[Delivery] = deque()
        self._reader: asyncio.Future[None] | None = None
        self._writers: deque[asyncio.Future[None]] = deque()
        self._changed = asyncio.Event()  # somebody was heard, or something reached a level
        self._delivered = dict.fromkeys(self.members, 0)
        self._to_all = 0  # own messages to everybody
        self._to_part = dict.fromkeys(self.members, 0)  # own messages to a part with this member
        self._stable = 0  # own messages that every member holds
        self._paused = self._leaving = self._closed = False
        self._failure: BaseException | None = None
        self._flusher: asyncio.TimerHandle | None = None
        parameters = parameters_of(kind, settings.parameters)
        self._knows_parts = knows_parts(kind, self.members, parameters)
        above = Above(self._take, self._notice, self._turned, self._reached, self._failed, self._room)
        self._port = UdpPort(
            packed(kind, frame_bytes, len(self.members), queue_messages=settings.queue_messages),
            self.me,
            addresses,
            above,
            founders=founders,
            incarnation=self._presence.incarnation,
            settings=number,
            parameters=parameters,
            multicast=settings.multicast,
            frame_bytes=frame_bytes,
            drop=settings.drop,
            recording=self._recording,
        )
        assert isinstance(self._port.process, Packing)
        self._process: Packing = self._port.process

    # ------------------------------------------------------------------ joining

    @classmethod
    async def join(
        cls, me: Pid, members: Mapping[Pid, Address], protocol: str | type[Process] = "dtp", **settings: Any
    ) -> Self:
        """Join a group, and wait until all members are there; as a newcomer, until one is that knows the group.

        For the settings see `Settings`.

        Raises a `GroupError` that says in one line what is wrong.
        """
        kind = protocol_named(protocol) if isinstance(protocol, str) else protocol
        try:
            made = make_settings({"me": me, "members": dict(members), "protocol": kind.name, **settings})
            group = cls(made, kind)
        except GroupError:
            raise
        except ValueError as error:  # of the protocol: its parameters, or what its contract gives
            raise GroupError(str(error)) from None
        try:
            await group._meet()
        except BaseException:
            await group._close(left=False)
            raise
        return group

    async def _meet(self) -> None:
        presence, port, now = self._presence, self._port, self._loop.time
        deadline, hello = now() + self.settings.timeout, now()
        while self._failure is None and not presence.all_met:
            if now() >= deadline:
                if presence.session is not None:
                    break
                raise MembersMissing(self._who_is_missing())
            if now() >= hello:
                port.notify(port.others, presence.notice())
                hello = now() + HELLO_EVERY
            met = presence.session
            await self._change(HELLO_EVERY)
            if presence.session != met:  # the others need to know, and have little time to spend on one that is slow
                hello, deadline = now(), now() + SLOW_MEMBER
        if self._failure is not None:
            raise self._failure
        assert presence.session is not None
        port.notify(port.others, presence.notice())
        if self._recording is not None:
            self._recording.begin(max(presence.seen.values()) / 1e9)
            self._recording.event(JOIN)
            self._flusher = self._loop.call_later(FLUSH_EVERY, self._flush)
        port.begin(presence.session, presence.newcomer)

    def _who_is_missing(self) -> str:
        foreign = sorted(self._presence.foreign)
        if foreign:
            who = ", ".join(str(member) for member in foreign)
            return f"member(s) {who} run with other settings (protocol, level, parameters, members or name)"
        who = ", ".join(str(member) for member in self._presence.missing)
        return f"member(s) {who} did not answer within {self.settings.timeout:g} s"

    # ------------------------------------------------------------------ broadcasting

    async def broadcast(self, payload: bytes, to: Sequence[Pid] | None = None) -> int:
        """Broadcast to the group, or to a part of it; the message's number among this member's.

        Returns when the message is queued; waits while the queue is full.
        """
        if type(payload) is not bytes:
            raise TypeError(f"a message is bytes, not {type(payload).__name__}")
        if len(payload) > LARGEST_MESSAGE_BYTES:
            raise ValueError(f"a message has at most {LARGEST_MESSAGE_BYTES} bytes, not {len(payload)}")
        if to is not None:
            to = self._part(to)
        self._check_open()
        if self._writers or not self._process.ready():
            await self._turn_to_write()
        n = self._process.put(payload, to)
        if to is None:
            self._to_all += 1
        else:
            for member in to:
                self._to_part[member] += 1
        if self._recording is not None:
            self._recording.broadcast(n, len(payload), to)
        self._port.turn_soon()
        return n

    def _part(self, to: Sequence[Pid]) -> Sequence[Pid] | None:
        for member in to:
            if member not in self._to_part:
                raise UnknownMember(f"the group does not name member {member}")
        part = tuple(member for member in self.members if member in to)
        if len(part) == len(self.members):
            return None
        if not self._knows_parts:
            raise ValueError(f"{self._process.name} orders for the whole group: leave out `to`")
        return part

    async def _turn_to_write(self) -> None:
        turn = self._loop.create_future()
        self._writers.append(turn)
        try:
            await turn
        finally:
            self._writers.remove(turn)
        self._check_open()

    def _check_open(self) -> None:
        if self._failure is not None:
            raise GroupFailed(f"the group stopped: {self._failure!r}") from self._failure
        if self._leaving:
            raise GroupClosed("the group was left")

    # ------------------------------------------------------------------ deliveries

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Delivery:
        while not self._inbox:
            if not await self._more():
                raise StopAsyncIteration
        delivery = self._inbox.popleft()
        self._make_room()
        return delivery

    async def deliveries(self, at_most: int = 1_000) -> AsyncIterator[list[Delivery]]:
        """All that is there, again and again: the fast way to read."""
        while True:
            while not self._inbox:
                if not await self._more():
                    return
            if len(self._inbox) <= at_most:
                batch = list(self._inbox)
                self._inbox.clear()
            else:
                batch = [self._inbox.popleft() for _ in range(at_most)]
            self._make_room()
            yield batch

    async def _more(self) -> bool:
        """Wait for deliveries; false: there will be none."""
        if self._failure is not None:
            raise GroupFailed(f"the group stopped: {self._failure!r}") from self._failure
        if self._closed:
            return False
        if self._reader is None:
            self._reader = self._loop.create_future()
        await asyncio.shield(self._reader)
        return True

    def _room(self) -> int:
        return max(0, self.settings.inbox_messages - len(self._inbox))

    def _make_room(self) -> None:
        if self._paused and 2 * len(self._inbox) <= self.settings.inbox_messages:
            self._paused = False
            self._port.resume()

    def counts(self) -> dict[str, Any]:
        """What this member met: frames it rejected, by reason; datagrams that the host did not take; frames lost
        on purpose."""
        port = self._port
        return {"rejected": dict(port.rejected), "unsent": port.unsent, "lost": port.lost}

    # ------------------------------------------------------------------ leaving

    async def leave(self, drain: float = 5.0, wait: bool = False) -> bool:
        """Go.  Before, for at most `drain` seconds, see to it that what was broadcast here is handed over.

        If all members want to go, each stays until every one has every message: then the answer is true.  If the
        others go on, this one leaves when its own messages are delivered (where the protocol reports stability: held
        by every member), or with `wait` stays until they want to go, too.  A fixed group may stop when a member has
        left.
        """
        if self._closed:
            return False
        if not self._leaving:
            self._leaving = True
            self._let_writers_in()
        presence, port, now = self._presence, self._port, self._loop.time
        presence.want_to_go({member: self._to_all + more for member, more in self._to_part.items()})
        deadline, notice = now() + drain, now()
        grace = min(deadline, now() + GRACE)
        while not (self._failure or self._closed or presence.all_settled) and now() < deadline:
            if presence.settle(self._delivered) or now() >= notice:
                port.notify(port.others, presence.notice())
                notice = now() + FAREWELL_EVERY
            if self._handed_over() and not (wait or presence.others_go) and now() >= grace:
                break
            if not presence.all_settled:
                await self._change(FAREWELL_EVERY)
        if self._closed:
            return False
        settled = presence.all_settled
        for _ in range(LAST_NOTICES if settled else 0):
            port.notify(port.others, presence.notice(gone=True))
        await self._close(left=not settled)
        return settled

    def _handed_over(self) -> bool:
        if self._process.reports:
            return self._stable >= self._process.accepted
        return self._delivered[self.me] >= self._to_all + self._to_part[self.me]

    async def _close(self, left: bool) -> None:
        self._leaving = self._closed = True
        self._port.close()
        self._let_writers_in()
        self._wake_reader()
        if self._flusher is not None:
            self._flusher.cancel()
        if self._recording is not None and self._presence.session is not None:
            if left:
                self._recording.event(LEAVE)
            settled = not left and self._failure is None
            await self._recording.close("correct" if settled else "crashed", finished=settled)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.leave() if error is None else await self._close(left=True)

    # ------------------------------------------------------------------ from the port

    def _take(self, origin: Pid, first: int, payloads: Sequence[bytes]) -> None:
        self._inbox.extend(map(Delivery, repeat(origin), count(first), payloads))
        self._delivered[origin] += len(payloads)
        if not self._paused and len(self._inbox) >= self.settings.inbox_messages:
            self._paused = True
            self._port.pause()
            self._wake_reader()

    def _turned(self) -> None:
        if self._process.queue:
            self._port.verb(self._process.pump)
        if self._writers:
            self._let_writers_in()
        if self._inbox:
            self._wake_reader()
        if self._leaving:
            self._changed.set()

    def _wake_reader(self) -> None:
        if self._reader is not None:
            reader, self._reader = self._reader, None
            if not reader.done():
                reader.set_result(None)

    def _reached(self, level: Reached, origin: Pid, below: int) -> None:
        if level == "stable" and origin == self.me:
            self._stable = max(self._stable, below)

    def _notice(self, src: Pid, incarnation: int, body: bytes) -> None:
        try:
            answer = self._presence.hear(src, incarnation, body)
        except LockedOut as error:
            self._failure = error
            answer = False
        if answer:
            self._port.notify((src,), self._presence.notice())
        self._changed.set()

    def _failed(self, fault: BaseException) -> None:
        self._failure = fault
        self._changed.set()
        self._let_writers_in()
        self._wake_reader()

    def _let_writers_in(self) -> None:
        if self._leaving or self._failure is not None:
            free = len(self._writers)
        else:
            free = self.settings.queue_messages - len(self._process.queue) if self._process.ready() else 0
        for turn in islice(self._writers, max(free, 0)):
            if not turn.done():
                turn.set_result(None)

    async def _change(self, wait: float) -> None:
        self._changed.clear()
        try:
            async with asyncio.timeout(wait):
                await self._changed.wait()
        except TimeoutError:
            pass

    def _flush(self) -> None:
        assert self._recording is not None
        self._recording.flush()
        self._flusher = self._loop.call_later(FLUSH_EVERY, self._flush)
