"""What a message costs on its way through a live member, in nanoseconds, stage by stage and without any socket.

    python benchmarks/live_message.py [--size BYTES] [--frame BYTES]

The stages are those of `ordercast.net`: the application's broadcast and its packing; a frame's encoding; a frame's
opening and decoding; unpacking, and making what the application reads.  The protocol between them costs per frame, and
is not measured here: `ordercast bench live` measures the whole.
"""

import argparse
import time
from collections import deque
from itertools import count, repeat

from ordercast.core import Message
from ordercast.group import packed
from ordercast.net.frames import MESSAGES, Frames, body
from ordercast.net.group import Delivery
from ordercast.protocols.catalog import protocol

ROUNDS, MEMBERS = 200, 3


class Nowhere:
    """A port that keeps what a member multicasts and delivers."""

    def __init__(self) -> None:
        self.sent: list[Message] = []
        self.inbox: deque[Delivery] = deque()

    def multicast(self, message: Message, to: object = None) -> None:
        self.sent.append(message)

    def deliver_many(self, origin: int, first: int, payloads: list[bytes]) -> None:
        self.inbox.extend(map(Delivery, repeat(origin), count(first), payloads))

    def now(self) -> float:
        return 0.0

    random = cost = now

    def room(self) -> int:
        return 1 << 20

    def ignore(self, *arguments: object) -> None:
        pass

    send = deliver = set_timer = cancel_timer = reach = view = suspect = withdraw = ignore


def measure(size: int, frame_bytes: int) -> dict[str, float]:
    """Nanoseconds per message of each stage; the best of the rounds."""
    kind = protocol("dtp")
    members = range(MEMBERS)
    codec = Frames(kind, 1, members, 1)
    best: dict[str, float] = {}
    payload = bytes(size)

    def took(stage: str, since: int, messages: int) -> int:
        now = time.perf_counter_ns()
        best[stage] = min(best.get(stage, 1e12), (now - since) / messages)
        return time.perf_counter_ns()

    for _ in range(ROUNDS):
        port = Nowhere()
        sender = packed(kind, frame_bytes, MEMBERS)(1, members, port)
        sender.start()
        fits = max(1, sender.capacity // (size + 5))
        begin = time.perf_counter_ns()
        for _ in range(fits):
            sender.put(payload)
        sender.pump()
        begin = took("broadcast and pack", begin, fits)
        frame = codec.seal(MESSAGES, 7, body([codec.encode(message) for message in port.sent]))
        begin = took("encode and seal", begin, fits)
        opened = codec.open(memoryview(frame))
        (message,) = codec.decode(opened.body)
        begin = took("open and decode", begin, fits)
        sender.delivered(1, 0, message.payload)
        took("unpack and hand over", begin, fits)
        assert len(port.inbox) == fits
    return best


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=1_000)
    parser.add_argument("--frame", type=int, default=60_000)
    given = parser.parse_args()
    stages = measure(given.size, given.frame)
    for stage, ns in stages.items():
        print(f"{stage:24}{ns:8.0f} ns per message")
    print(f"{'together':24}{sum(stages.values()):8.0f} ns per message of {given.size} bytes, frames of {given.frame}")
