"""Trans's lists of one processor: what it acknowledges, what it may have to broadcast again, and what it is asked for.

Source: MMA II.A, Data Structures, Sending and Receiving a Message.  Choices that the paper leaves open:

- Negative acknowledgments always travel, all of them: left out, a message would seem to have received what it had
  not, and nobody who lacks that could ever place it.  Only positive ones wait for a later message (`compose`).
- A message `window` or more numbers beyond the first that is missing here, or one that acknowledges such a message, is
  not taken, as if it were lost (II.A leaves large discontinuities to others).  What is lacked is then at most
  `window` messages of each source; after a long absence a processor catches up window by window.
- Numbers below a known one are known to exist: all that are missing are lacked at once, not one after another.
"""

from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from ordercast.core import Pid
from ordercast.parts.partial_order import Id

Frame = TypeVar("Frame")


class Acknowledgments(Generic[Frame]):
    def __init__(self, width: int, window: int) -> None:
        self.window = window
        self.positive: dict[Id, None] = {}  # the acknowledgment list: received, and to be told
        self.negative: dict[Id, None] = {}  # and lacked, told until it comes
        self.received: dict[Id, Frame] = {}  # may have to be broadcast again
        self.pending: dict[Id, None] = {}  # retransmissions: asked for, and not seen on the channel since
        self.below = [0] * width  # by source: everything below was received
        self.known = [0] * width  # by source: one above the highest number that is known to exist

    def has(self, id: Id) -> bool:
        return id in self.received or id[1] < self.below[id[0]]

    def takes(self, id: Id, acks: Sequence[Id]) -> bool:
        """Is this message, with what it acknowledges, close enough to what was received?"""
        below, window = self.below, self.window
        return all(number < below[source] + window for source, number in (id, *acks))

    def take(self, id: Id, frame: Frame, acks: Sequence[Id], lacks: Sequence[Id]) -> list[Id]:
        """Receiving a Message, one that was not received before; return what it asks to be broadcast again."""
        self.positive[id] = None
        self.negative.pop(id, None)
        self.keep(id, frame)
        for ack in acks:
            self.positive.pop(ack, None)
            self.learn(*ack)
        for lack in lacks:
            self.learn(*lack)
        return [lack for lack in lacks if lack in self.received]

    def keep(self, id: Id, frame: Frame) -> None:
        """It is received, or it is one's own."""
        source, number = id
        self.learn(source, number - 1)
        self.received[id] = frame
        self.known[source] = max(self.known[source], number + 1)
        if number == self.below[source]:
            number += 1
            while (source, number) in self.received:
                number += 1
            self.below[source] = number

    def learn(self, source: Pid, number: int) -> None:
        """A message exists, and so do those before it: what of them is missing is lacked."""
        number = min(number, self.below[source] + self.window - 1)
        for missing in range(self.known[source], number + 1):
            self.negative[source, missing] = None
        self.known[source] = max(self.known[source], number + 1)

    def compose(self, limit: int) -> tuple[tuple[Id, ...], tuple[Id, ...]]:
        """Sending a Message: the acknowledgments that it carries; at most `limit` positive ones, the oldest."""
        acks = tuple(self.positive)[:limit]
        for ack in acks:
            del self.positive[ack]
        return acks, tuple(self.negative)

    def compose_but(self, limit: int, last: Id, before: Sequence[Id]) -> tuple[tuple[Id, ...], tuple[Id, ...]]:
        """The same as if the last message had not come yet: what it acknowledges is acknowledged instead of it."""
        del self.positive[last]
        late = [ack for ack in before if self.has(ack) and ack not in self.positive]
        acks, lacks = self.compose(limit)
        self.positive[last] = None
        return (*acks, *late), lacks

    def asked_beyond(self, known: Sequence[int]) -> Iterable[Id]:
        """What is held here of the messages that one who knows of these has not heard of; a window's worth."""
        for source, below in enumerate(known):
            for number in range(below, min(self.known[source], below + self.window)):
                if (source, number) in self.received:
                    yield source, number

    def prune(self, id: Id) -> Frame:
        """Everybody holds this message: it will not be asked for again."""
        self.positive.pop(id, None)
        self.pending.pop(id, None)
        return self.received.pop(id)

    def copy(self) -> "Acknowledgments[Frame]":
        twin: Acknowledgments[Frame] = object.__new__(type(self))
        for name, value in self.__dict__.items():
            twin.__dict__[name] = value if isinstance(value, int) else value.copy()
        return twin
