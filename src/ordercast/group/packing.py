"""Packing: few full frames in place of many small ones, and large payloads in pieces.

What the application broadcasts queues up; whenever the inner protocol is ready, as much as fits goes out as one of its
broadcasts.  So a protocol with one outstanding message per member (KK's) carries a frame's worth in each of its turns,
and a lone message leaves at once.  A payload beyond a frame goes in pieces, and is delivered with its last one: as the
protocol delivers the pieces in an order, that is the same place at every member.

Numbers are mapped: outside they count the application's messages, inside packs.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import msgspec

from ordercast.core import Message, Pid, Port, Process, Reached
from ordercast.group.layer import Layer, around


class Pack(msgspec.Struct, frozen=True, gc=False, array_like=True, tag=0):
    """Whole messages, numbered from `first`."""

    first: int
    payloads: list[bytes]


class Piece(msgspec.Struct, frozen=True, gc=False, array_like=True, tag=1):
    """Part `index` of the `count` parts of message `n`."""

    n: int
    index: int
    count: int
    payload: bytes


_HEAD_BYTES = 32  # at most, of a pack or a piece
_EACH_BYTES = 5  # at most, of a payload in a pack

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Pack | Piece).decode


class Packing(Layer):
    """A process that packs; `packed` makes the class for a protocol and a size of frame."""

    capacity: ClassVar[int] = 1_000  # bytes of payload in one broadcast of the inner protocol
    window: ClassVar[int] = 8  # own packs on their way that are not delivered here yet
    queue_bytes: ClassVar[int] = 1_000_000  # of waiting messages, beyond which `ready` is false
    queue_messages: ClassVar[int] = 2_000

    def __init__(self, me: Pid, members: Sequence[Pid], port: Port, parameters: Any = None) -> None:
        # Sender: what waits, how much that is, and where the first of it stands.
        self.queue: deque[tuple[bytes, tuple[Pid, ...] | None]] = deque()
        self.queued_bytes = 0
        self.accepted = 0  # messages taken from the application
        self.packed = 0  # messages that left in whole
        self.index = 0  # pieces of the next message that left
        self.in_flight = 0
        # Receiver: incomplete messages, by (origin, n); a message in pieces arrives by one origin at a time.
        self.pieces: dict[tuple[Pid, int], dict[int, bytes]] = {}
        # Reports: by origin, where each delivered pack ends, as long as some level has not reached it.
        self.reports = self.inner_class.contract.reports
        self.ends: dict[Pid, dict[int, int]] = {member: {} for member in members}
        self.below: dict[tuple[Reached, Pid], list[int]] = {}  # inside, outside
        super().__init__(me, members, port, parameters)

    # ------------------------------------------------------------------ sender

    def ready(self) -> bool:
        return self.queued_bytes < self.queue_bytes and len(self.queue) < self.queue_messages

    def broadcast(self, payload: bytes, to: Sequence[Pid] | None = None) -> None:
        self.put(payload, to)
        self.pump()

    def put(self, payload: bytes, to: Sequence[Pid] | None = None) -> int:
        """Queue a message, and leave the packing to the next verb or `pump`; its number."""
        self.queue.append((payload, None if to is None else tuple(to)))
        self.queued_bytes += len(payload)
        self.accepted += 1
        return self.accepted - 1

    def pump(self) -> None:
        """Send what the inner protocol takes now."""
        while self.queue and self.in_flight < self.window and self.inner.ready():
            to = self.queue[0][1]
            pack = self._pack() if len(self.queue[0][0]) <= self.capacity else self._piece()
            if to is None or self.me in to:
                self.in_flight += 1
            self.inner.broadcast(_encode(pack), to)

    def _pack(self) -> Pack:
        queue, room = self.queue, self.capacity
        to = queue[0][1]
        payloads = []
        while queue and queue[0][1] == to and len(queue[0][0]) <= room:
            payload = queue.popleft()[0]
            payloads.append(payload)
            self.queued_bytes -= len(payload)
            room -= len(payload) + _EACH_BYTES
        first = self.packed
        self.packed += len(payloads)
        return Pack(first, payloads)

    def _piece(self) -> Piece:
        payload, size, index = self.queue[0][0], self.capacity, self.index
        count = -(-len(payload) // size)
        piece = Piece(self.packed, index, count, payload[index * size : (index + 1) * size])
        self.index += 1
        if self.index == count:
            self.queue.popleft()
            self.queued_bytes -= len(payload)
            self.packed += 1
            self.index = 0
        return piece

    def start(self, joining: bool = False) -> None:
        self.inner.start(joining)
        self.pump()

    def receive(self, src: Pid, message: Message) -> None:
        self.inner.receive(src, message)
        if self.queue:
            self.pump()

    def expire(self, timer: Any) -> None:
        self.inner.expire(timer)
        if self.queue:
            self.pump()

    def clear(self) -> None:
        self.inner.clear()
        self.pump()

    # ------------------------------------------------------------------ receiver

    def delivered(self, origin: Pid, n: int, payload: bytes) -> None:
        if origin == self.me:
            self.in_flight -= 1
        pack = _decode(payload)
        if type(pack) is Pack:
            many: Callable[[Pid, int, list[bytes]], None] | None = getattr(self.port, "deliver_many", None)
            if many is not None:
                many(origin, pack.first, pack.payloads)
            else:
                for number, item in enumerate(pack.payloads, pack.first):
                    self.port.deliver(origin, number, item)
            end = pack.first + len(pack.payloads)
        else:
            end = self._join(origin, pack)
        if self.reports:
            self.ends.setdefault(origin, {})[n] = end
            for level in self.reports:
                if n < self.below.setdefault((level, origin), [0, 0])[0]:  # the report came before the delivery
                    self.reached(level, origin, 0)

    def _join(self, origin: Pid, piece: Piece) -> int:
        parts = self.pieces.setdefault((origin, piece.n), {})
        parts[piece.index] = piece.payload
        if len(parts) == piece.count:
            del self.pieces[origin, piece.n]
            self.port.deliver(origin, piece.n, b"".join(parts[index] for index in range(piece.count)))
        return piece.n + (piece.index == piece.count - 1)

    def reached(self, level: Reached, origin: Pid, below: int) -> None:
        known = self.below.setdefault((level, origin), [0, 0])
        known[0] = max(known[0], below)
        ends = self.ends.get(origin, {})
        outside = max((end for n, end in ends.items() if n < known[0]), default=0)
        if outside > known[1]:
            known[1] = outside
            self.port.reach(level, origin, outside)
        everywhere = min(self.below.get((each, origin), (0, 0))[0] for each in self.reports)
        for n in [n for n in ends if n < everywhere]:
            del ends[n]


def packed(inner: type[Process], frame_bytes: int, members: int, **settings: object) -> type[Packing]:
    """The packing class for a protocol whose messages should fit a frame.

    A protocol's own fields beside a payload are a few numbers, and at most a few for each member.
    """
    if inner.withdraws:
        raise ValueError(f"{inner.name} takes deliveries back, which cannot be packed: ask for the level 'safe'")
    capacity = max(frame_bytes - 160 - 24 * members - _HEAD_BYTES, 64)
    return around(Packing, inner, capacity=capacity, **settings)
