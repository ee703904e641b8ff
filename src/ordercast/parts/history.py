"""One source's stream as a host holds it (GK): what was received, what is kept to send again, what is due.

Below the *floor* nothing is sent again, by anybody: every host has it, or it was given up (see `tree`).  A host that
lacks something there takes it for received.
"""

from ordercast.parts import runs
from ordercast.parts.runs import Runs


class History:
    """Numbers count from 0.  `take` and `raise_floor` return the numbers that are now due at the application."""

    def __init__(self, fifo: bool = False) -> None:
        self.fifo = fifo
        self.received: Runs = runs.NOTHING
        self.kept: dict[int, bytes] = {}  # number -> payload, from the floor on
        self.floor = 0
        self.end = 0  # numbers known to exist lie below it
        self.due = 0  # in fifo order: everything below has been handed over

    def copy(self) -> "History":
        twin = History(self.fifo)
        twin.received, twin.kept = self.received, dict(self.kept)
        twin.floor, twin.end, twin.due = self.floor, self.end, self.due
        return twin

    def lacks(self) -> bool:
        """Does something exist that is not here?"""
        return runs.prefix(self.received) < self.end

    def held(self) -> Runs:
        """What can be sent again."""
        return runs.minus(self.received, ((0, self.floor),)) if self.floor else self.received

    def take(self, n: int, payload: bytes) -> list[tuple[int, bytes]]:
        """Message `n` arrived.  Out of order it is due at once, as GK wants; in fifo order when all before it are."""
        self.end = max(self.end, n + 1)
        if runs.has(self.received, n):
            return []
        self.received = runs.add(self.received, n)
        self.kept[n] = payload
        return self._in_order() if self.fifo else [(n, payload)]

    def raise_floor(self, floor: int) -> list[tuple[int, bytes]]:
        """Nothing below `floor` will be sent again."""
        if floor <= self.floor:
            return []
        past = sorted(n for n in self.kept if n < floor)
        out = [(n, self.kept[n]) for n in past if self.fifo and n >= self.due]
        for n in past:
            del self.kept[n]
        self.floor, self.end, self.due = floor, max(self.end, floor), max(self.due, floor)
        self.received = runs.union(self.received, ((0, floor),))
        return out + self._in_order() if self.fifo else []

    def _in_order(self) -> list[tuple[int, bytes]]:
        out = []
        while self.due in self.kept:
            out.append((self.due, self.kept[self.due]))
            self.due += 1
        return out
