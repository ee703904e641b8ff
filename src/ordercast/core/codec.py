"""The wire format of a protocol's messages: msgpack of the message structs, tagged with their names."""

from collections.abc import Callable
from typing import Any

import msgspec

from ordercast.core.process import Message, Process

DecodeError = msgspec.DecodeError


def codec(process: type[Process]) -> tuple[Callable[[Message], bytes], Callable[[bytes], Message]]:
    """(encode, decode) for the messages of a protocol.  `decode` raises `DecodeError` on anything else."""
    kinds = tuple(process.handlers)
    union: Any = kinds[0]
    for kind in kinds[1:]:
        union = union | kind
    return msgspec.msgpack.Encoder().encode, msgspec.msgpack.Decoder(union).decode
