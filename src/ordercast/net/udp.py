"""The port of a live member: UDP sockets and the clock of the event loop.

A wake-up reads a batch of datagrams, runs the timers that are due, and then sends: what the process said meanwhile
leaves in as few frames as it fits.  Nothing that arrives can raise: what is not a frame of this session is counted in
`rejected` by its reason, and dropped.
"""

import asyncio
import random
import socket
from collections import Counter, deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import msgspec

from ordercast.core import DecodeError, Message, Pid, Process, Reached, Time
from ordercast.net.frames import HEADER_BYTES, LARGEST_BYTES, MESSAGES, PRESENCE, Frames, body
from ordercast.net.recording import Recording
from ordercast.net.sockets import Address, is_loopback, open_multicast, open_unicast
from ordercast.net.timers import Timers
from ordercast.trace.columns import DROP as DROPPED
from ordercast.trace.columns import DROPS, REACHES, RECEIVE, SEND, SUSPECT, VIEW, WITHDRAW
from ordercast.trace.columns import REACH as REACHED

DATAGRAMS_AT_ONCE = 64  # read in one wake-up; then timers and the application have their turn
MOST_MESSAGES = 1_000  # in one frame


class Above(msgspec.Struct, frozen=True):
    """What a port tells the group above it.  `deliver` gets messages of one origin with consecutive numbers."""

    deliver: Callable[[Pid, int, Sequence[bytes]], None]
    notice: Callable[[Pid, int, bytes], None]  # sender, its life, an encoded notice of presence
    turned: Callable[[], None]  # a turn is over
    reached: Callable[[Reached, Pid, int], None]
    failed: Callable[[BaseException], None]  # the process broke: a fault of ours
    room: Callable[[], int] = lambda: 1 << 30


class UdpPort:
    """One member's process, its port, and the sockets below it."""

    def __init__(
        self,
        process: type[Process],
        me: Pid,
        addresses: Mapping[Pid, Address],
        above: Above,
        *,
        founders: Sequence[Pid] | None = None,
        incarnation: int,
        settings: int,
        parameters: Any = None,
        multicast: Address | None = None,
        frame_bytes: int = 1_400,
        drop: float = 0.0,
        recording: Recording | None = None,
    ) -> None:
        self.me, self.members = me, tuple(sorted(addresses))
        self.others = tuple(member for member in self.members if member != me)
        self.addresses, self.above, self.settings = dict(addresses), above, settings
        self.frame_bytes, self.drop, self.recording = frame_bytes - HEADER_BYTES, drop, recording
        if recording is not None:
            recording.payload_kinds = [kind.__name__ for kind in process.handlers if kind.carries == "payload"]
        self.frames = Frames(process, me, self.members, incarnation)
        self.session: int | None = None  # until the members have met, frames with messages are not for this member
        self.rejected: Counter[str] = Counter()
        self.unsent = 0  # datagrams that the socket refused
        self.lost = 0  # frames dropped on purpose
        self._outbox: dict[tuple[Pid, ...] | None, list[bytes]] = {}  # None: the other members
        self._outbox_bytes: dict[tuple[Pid, ...] | None, int] = {}
        self._copies: deque[Message] = deque()  # for this member itself
        self._timers = Timers()
        self._alarm: asyncio.TimerHandle | None = None
        self._soon = False
        self._paused = False
        self._clear_due = False  # the socket has taken what a process that composes late had sent
        self._random = random.Random()
        self._buffer = bytearray(1 << 16)
        self._view = memoryview(self._buffer)
        self._loop = asyncio.get_running_loop()
        self._zero = self._loop.time()
        self.process = process(me, self.members if founders is None else founders, self, parameters)
        self._socket = open_unicast(self.addresses[me])
        self._sockets = [self._socket]
        self._multicast = multicast
        if multicast is not None:
            try:
                self._sockets.append(open_multicast(multicast, self.addresses[me], self._socket))
            except BaseException:
                self._socket.close()
                raise
        self.resume()

    def begin(self, session: int, joining: bool = False) -> None:
        """The members have met: start the process."""
        self.session, self._zero = session, self._loop.time()
        self.verb(self.process.start, joining)
        self._turn()

    def close(self) -> None:
        """Let go of the sockets and the clock."""
        self.pause()
        for sock in self._sockets:
            sock.close()
        self._sockets = []
        self._outbox.clear()

    def pause(self) -> None:
        """Read nothing and let no timer run out: the application has no room."""
        self._paused = True
        for sock in self._sockets:
            self._loop.remove_reader(sock.fileno())
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def resume(self) -> None:
        """Take part (again)."""
        self._paused = False
        for sock in self._sockets:
            self._loop.add_reader(sock.fileno(), self._readable, sock)
        self.turn_soon()

    # ------------------------------------------------------------------ turns

    def turn_soon(self) -> None:
        """Run a turn when the application has said what it says now."""
        if not self._soon:
            self._soon = True
            self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        self._soon = False
        if not self._sockets:
            return
        if self.session is not None and not self._paused:
            self.verb(self._run_timers)
            if self._clear_due:
                self._clear_due = False
                self.verb(self.process.clear)
            self.above.turned()
        if self._outbox and self.process.composes_late:
            self._clear_due = True  # in another turn: what has arrived meanwhile is acknowledged in what comes next
            self.turn_soon()
        for to in list(self._outbox):
            self._emit(to)
        if not self._paused:
            self._arm()

    def _run_timers(self) -> None:
        now = self._loop.time()
        while (name := self._timers.due(now)) is not None:
            if self.recording is not None:
                self.recording.timer(name)
            self.process.expire(name)
            self._take_copies()

    def _arm(self) -> None:
        time = self._timers.next()
        alarm = self._alarm
        if alarm is not None and (time is None or alarm.when() > time):
            alarm.cancel()
            alarm = self._alarm = None
        if time is not None and alarm is None:
            self._alarm = self._loop.call_at(time, self._rung)

    def _rung(self) -> None:
        self._alarm = None
        self._turn()

    def _take_copies(self) -> None:
        while self._copies:
            self.process.receive(self.me, self._copies.popleft())

    def verb(self, verb: Callable[..., None], *arguments: Any) -> None:
        """Tell the process something, within a turn (see `turn_soon`)."""
        try:
            verb(*arguments)
            self._take_copies()
        except Exception as fault:
            self.close()  # which pauses
            self.above.failed(fault)

    # ------------------------------------------------------------------ in

    def _readable(self, sock: socket.socket) -> None:
        buffer, view, read = self._buffer, self._view, sock.recvfrom_into
        for _ in range(DATAGRAMS_AT_ONCE):
            try:
                size, address = read(buffer)
            except BlockingIOError:
                break
            except OSError:  # an error of an earlier sending, reported here
                self.unsent += 1
                continue
            self._datagram(view[:size], address)
            if self._paused:
                break
        self._turn()

    def _datagram(self, datagram: memoryview, address: Any) -> None:
        opened = self.frames.open(datagram)
        if isinstance(opened, str):
            self.rejected[opened] += 1
            return
        src = opened.sender
        if address != self.addresses[src]:
            self.rejected["stranger"] += 1
        elif src == self.me:
            pass  # an IP multicast comes back
        elif opened.kind == PRESENCE:
            if opened.group != self.settings:
                self.rejected["group"] += 1
            if not (self.drop and self._random.random() < self.drop):
                self.above.notice(src, opened.incarnation, bytes(opened.body) if opened.group == self.settings else b"")
        elif opened.kind == MESSAGES and opened.group == self.session:
            try:
                messages = self.frames.decode(opened.body)
            except DecodeError:
                self.rejected["garbled"] += 1
                return
            self._messages(src, messages, len(datagram))
        else:
            self.rejected["group"] += 1

    def _messages(self, src: Pid, messages: list[Message], size_bytes: int) -> None:
        lost = bool(self.drop) and self._random.random() < self.drop
        self.lost += lost
        if self.recording is not None and messages:
            size_bytes //= len(messages)
            for message in messages:
                if lost:
                    self.recording.lost = True
                    self.recording.wire(DROPPED, message, size_bytes, None, DROPS.index("loss"))
                else:
                    self.recording.wire(RECEIVE, message, size_bytes, None)
        if not lost:
            for message in messages:
                self.verb(self.process.receive, src, message)

    # ------------------------------------------------------------------ out

    def notify(self, to: Sequence[Pid], notice: bytes) -> None:
        """Send a notice of presence."""
        self._transmit(self.frames.seal(PRESENCE, self.settings, notice), to)

    def _post(self, to: tuple[Pid, ...] | None, message: Message) -> None:
        encoded = self.frames.encode(message)
        if self.recording is not None:
            self.recording.wire(SEND, message, len(encoded), to)
        waiting = self._outbox_bytes.get(to, 0) + len(encoded)
        if to in self._outbox and (waiting > self.frame_bytes or len(self._outbox[to]) >= MOST_MESSAGES):
            self._emit(to)
            waiting = len(encoded)
        self._outbox.setdefault(to, []).append(encoded)
        self._outbox_bytes[to] = waiting

    def _emit(self, to: tuple[Pid, ...] | None) -> None:
        assert self.session is not None
        encoded = self._outbox.pop(to)
        del self._outbox_bytes[to]
        frame = self.frames.seal(MESSAGES, self.session, body(encoded))
        if to is None and self._multicast is not None:
            self._sendto(frame, self._multicast)
        else:
            self._transmit(frame, self.others if to is None else to)

    def _transmit(self, frame: bytes, to: Sequence[Pid]) -> None:
        for member in to:
            self._sendto(frame, self.addresses[member])

    def _sendto(self, frame: bytes, address: Address) -> None:
        try:
            self._socket.sendto(frame, address)
        except OSError:  # no room in the socket, no way to the host: a lost datagram, as far as a protocol can see
            self.unsent += 1

    # ------------------------------------------------------------------ Port

    def send(self, to: Pid, message: Message, /) -> None:
        if to == self.me:
            self._copies.append(message)
        else:
            self._post((to,), message)

    def multicast(self, message: Message, to: Sequence[Pid] | None = None, /) -> None:
        if to is None:
            self._post(None, message)
            return
        others = tuple(member for member in to if member != self.me)
        if len(others) < len(to):
            self._copies.append(message)
        if others:
            self._post(None if len(others) == len(self.others) else others, message)

    def deliver(self, origin: Pid, n: int, payload: bytes, /) -> None:
        self.deliver_many(origin, n, (payload,))

    def deliver_many(self, origin: Pid, first: int, payloads: Sequence[bytes], /) -> None:
        if self.recording is not None:
            self.recording.deliveries(origin, first, payloads)
        self.above.deliver(origin, first, payloads)

    def set_timer(self, name: Hashable, after: Time, /) -> None:
        self._timers.set(name, self._loop.time() + after)

    def cancel_timer(self, name: Hashable, /) -> None:
        self._timers.cancel(name)

    def reach(self, level: Reached, origin: Pid, below: int, /) -> None:
        if self.recording is not None:
            self.recording.event(REACHED, origin, below, level=REACHES.index(level))
        self.above.reached(level, origin, below)

    def view(self, members: Sequence[Pid], /) -> None:
        if self.recording is not None:
            self.recording.event(VIEW, to=members)

    def suspect(self, member: Pid, /) -> None:
        if self.recording is not None:
            self.recording.event(SUSPECT, member)

    def withdraw(self, count: int, /) -> None:
        if self.recording is not None:
            self.recording.event(WITHDRAW, n=count)

    def room(self) -> int:
        return self.above.room()

    def cost(self, to: Pid, /) -> float:
        return 1.0

    def random(self) -> float:
        return self._random.random()

    def now(self) -> Time:
        return self._loop.time() - self._zero


def default_frame_bytes(addresses: Mapping[Pid, Address]) -> int:
    """As large as it gets on one host; what an Ethernet carries whole, elsewhere."""
    return 60_000 if all(is_loopback(address) for address in addresses.values()) else 1_400


assert LARGEST_BYTES > 60_000
