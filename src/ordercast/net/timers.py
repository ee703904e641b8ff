"""A member's timers: one heap, so that the clock of the event loop is asked for one wake-up at a time.

Protocols set far more timers than ever run out: a later time for a name that already stands in the heap costs a dict's
entry, and the heap learns of it when the earlier time comes.
"""

from collections.abc import Hashable
from heapq import heappop, heappush

from ordercast.core import Time


class Timers:
    """Named times, and the names that are due."""

    def __init__(self) -> None:
        self.times: dict[Hashable, Time] = {}  # when each timer that is set runs out
        self.heap: list[tuple[Time, int, Hashable]] = []
        self.entries: dict[Hashable, Time] = {}  # the earliest time under which a name stands in the heap
        self.count = 0  # breaks ties, in the order of setting

    def set(self, name: Hashable, time: Time) -> None:
        """Set a timer, or replace the one of that name."""
        self.times[name] = time
        if self.entries.get(name, time + 1.0) > time:
            self._push(name, time)

    def cancel(self, name: Hashable) -> None:
        """Cancel a timer, set or not."""
        self.times.pop(name, None)

    def next(self) -> Time | None:
        """When to ask again: not after the next timer runs out, and perhaps before; None: no timer is set."""
        if not self.times:
            self.heap.clear()
            self.entries.clear()
        return self.heap[0][0] if self.heap else None

    def due(self, now: Time) -> Hashable | None:
        """The next timer that has run out, no longer set; None: there is none (no timer is called None)."""
        while self.heap and self.heap[0][0] <= now:
            time, _, name = heappop(self.heap)
            if self.entries.get(name) != time:
                continue  # an entry under an earlier time stood in for this one
            del self.entries[name]
            until = self.times.get(name)
            if until is None:
                continue
            if until > now:
                self._push(name, until)
                continue
            del self.times[name]
            return name
        return None

    def _push(self, name: Hashable, time: Time) -> None:
        self.count += 1
        self.entries[name] = time
        heappush(self.heap, (time, self.count, name))
