"""The wire: one datagram is one frame, a header and many messages of one sender.

    magic, version, kind, protocol, group, sender, incarnation, counter, check | messages

`protocol` is a number made from the protocol's name.  `group` is, for messages, the session that the members agreed on
when they met (see `presence`), and for notices of presence the group's settings: a member of another group, or of an
earlier life of this one, is told apart before anything is decoded.  `check` guards the whole frame; sealing will put
its tag in its place, and its nonce is sender, incarnation and counter.  The messages are one msgpack array.

Whatever is not such a frame is garbage: `open` answers with the reason, and never raises.
"""

import struct
import zlib
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any, Literal, TypeAlias

import msgspec

from ordercast.core import Message, Pid, Process, codec

MAGIC = b"Oc"
VERSION = 1
MESSAGES, PRESENCE = 0, 1  # kinds of frame
LARGEST_BYTES = 65_507  # of a UDP datagram over IPv4

_HEADER = struct.Struct("<2sBBIQIQQI")
_CHECK = struct.Struct("<I")
HEADER_BYTES = _HEADER.size + 3  # with the head of the array
_CHECKED_FROM = _HEADER.size
_CHECK_AT = _HEADER.size - _CHECK.size

Reason: TypeAlias = Literal["garbled", "version", "protocol", "group", "stranger"]


def number(*parts: object, size_bytes: int = 8) -> int:
    """A number that stands for some settings: the same on every machine."""
    text = "\0".join(str(part) for part in parts).encode()
    return int.from_bytes(blake2b(text, digest_size=size_bytes).digest(), "little")


class Opened(msgspec.Struct, gc=False):
    """A frame that passed: who sent it, in which life, and its body, still encoded."""

    kind: int
    group: int
    sender: Pid
    incarnation: int
    body: memoryview


class Frames:
    """Seals and opens the frames of one member; the numbers of its own frames only grow."""

    def __init__(self, process: type[Process], me: Pid, members: Sequence[Pid], incarnation: int) -> None:
        self.me, self.members, self.incarnation = me, frozenset(members), incarnation
        self.protocol = number(process.name, size_bytes=4)
        self.counter = 0
        self.encode, _ = codec(process)
        self.decode = _batch_decoder(process)

    def seal(self, kind: int, group: int, body: bytes) -> bytes:
        """One frame around an encoded body."""
        self.counter += 1
        head = _HEADER.pack(MAGIC, VERSION, kind, self.protocol, group, self.me, self.incarnation, self.counter, 0)[
            :_CHECK_AT
        ]
        return b"".join((head, _CHECK.pack(zlib.crc32(body, zlib.crc32(head))), body))

    def open(self, datagram: memoryview) -> Opened | Reason:
        """The frame in a datagram, or why there is none."""
        if len(datagram) < _CHECKED_FROM or datagram[:2] != MAGIC:
            return "garbled"
        if datagram[2] != VERSION:
            return "version"
        _, _, kind, protocol, group, sender, incarnation, _, check = _HEADER.unpack_from(datagram)
        body = datagram[_CHECKED_FROM:]
        if zlib.crc32(body, zlib.crc32(datagram[:_CHECK_AT])) != check or kind > PRESENCE:
            return "garbled"
        if protocol != self.protocol:
            return "protocol"
        if sender not in self.members:
            return "stranger"
        return Opened(kind, group, sender, incarnation, body)


def body(encoded: Sequence[bytes]) -> bytes:
    """Encoded messages as one msgpack array (its long form of head, so that the length is the sum of the parts)."""
    return b"".join((b"\xdc", len(encoded).to_bytes(2, "big"), *encoded))


def _batch_decoder(process: type[Process]) -> Callable[[memoryview], list[Message]]:
    union: Any = None
    for kind in process.handlers:
        union = kind if union is None else union | kind
    return msgspec.msgpack.Decoder(list[union]).decode
