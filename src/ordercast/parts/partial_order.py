"""The partial order of messages that acknowledge one another, and the Observable Predicate for Delivery.

Source: MMA II.C.  A message names messages that it acknowledges and messages that it lacks (negative
acknowledgments).  `OPD(A, C)`: from `C`, by acknowledgments and to any earlier message of the same source, one comes
to `A` without touching what `C` itself lacks.  `C` follows `B` when `OPD(B, C)` and everything that `B` reaches `C`
reaches too.  A message enters the order here once everything that it reaches has been received here; what it lacks
is not waited for.

What a message reaches is kept as one bound for each source, and its own negative acknowledgments are the holes below
the bounds.  It is found from what its source's message before it reached, so a message is looked at once by each of
the n sources: O(n) steps and O(n) memory for each message, whatever the history.  What every member is known to hold
is let go, so the memory is that of the messages in between.

A source never lacks what an earlier message of its own reached (it had received all of that).  Logs in which one does
are handled, by a search from the start, as long as nothing of them has been let go.
"""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from ordercast.core import Pid

Id: TypeAlias = tuple[Pid, int]  # (source, its own number from 0)


class Entry:
    """A message in the partial order, with what it reaches, itself included."""

    __slots__ = ("below", "holes", "id")

    def __init__(self, id: Id, below: list[int], holes: frozenset[Id]) -> None:
        self.id = id
        self.below = below  # for each source: one above the highest number reached
        self.holes = holes  # its negative acknowledgments that its search comes upon: it reaches none of them

    def reaches(self, id: Id) -> bool:
        """OPD(id, this message); a message reaches itself."""
        return id[1] < self.below[id[0]] and id not in self.holes

    def follows(self, other: "Entry") -> bool:
        """Does this message follow the other in the partial order?  A message follows itself (III.A)."""
        id = other.id
        if id[1] >= self.below[id[0]] or id in self.holes:
            return False
        for mine, its in zip(self.below, other.below, strict=True):
            if its > mine:
                return False
        return not any(map(other.reaches, self.holes))

    def size(self) -> int:
        """How many messages it reaches.  Whatever follows it reaches more: sizes sort the partial order."""
        return sum(self.below) - sum(1 for source, number in self.holes if number < self.below[source])


class PartialOrder:
    """What one processor knows of the partial order.  Sources are small numbers: vectors are indexed by them.

    `lets_go=False` is for readers of whole logs: nothing is let go.
    """

    def __init__(self, members: Iterable[Pid], lets_go: bool = True) -> None:
        self.members = sorted(members)
        self.width = self.members[-1] + 1
        self.acks: dict[Id, Sequence[Id]] = {}  # of every message received and not let go
        self.lacks: dict[Id, frozenset[Id]] = {}  # likewise
        self.entries: dict[Id, Entry] = {}  # of those in the order
        self.latest: dict[Pid, Entry] = {}  # the highest entry of each source
        self.waiting: dict[Id, list[Id]] = {}  # a missing message -> those that wait for it to enter
        # Pruning: for each member, what its messages show that it holds without a gap; the least of these, by source,
        # and how many members hold no more than that.
        self.held = {member: [0] * self.width for member in self.members} if lets_go else {}
        self.floor, self.lagging = [0] * self.width, [len(self.members)] * self.width
        self.stable = [0] * self.width  # every member holds each source's messages below; they are let go here
        self.let_go: list[Entry] = []  # in that order, for the caller to take

    def holds(self, id: Id) -> bool:
        return id in self.acks or id[1] < self.stable[id[0]]

    def receive(self, id: Id, acks: Sequence[Id], lacks: Iterable[Id]) -> list[Entry]:
        """Take a message, its own included; return those that enter the order, each after all that it follows."""
        if self.holds(id):
            return []
        self.acks[id], self.lacks[id] = acks, frozenset(lacks)
        # By source and number: a message is found from the one before it.
        entered = [entry for ready in sorted([id, *self.waiting.pop(id, ())]) if (entry := self._enter(ready))]
        if len(entered) > 1:
            entered.sort(key=lambda entry: (entry.size(), entry.id))
        for entry in entered:
            self._observe(entry)
            source, number = entry.id
            if number == self.stable[source] < self.floor[source]:
                self._let_go(source)
        return entered

    def _enter(self, id: Id) -> Entry | None:
        lacks = self.lacks[id]
        before = self.latest.get(id[0])
        if before is None or before.id > id or any(map(before.reaches, lacks)):
            below, holes, visit = [0] * self.width, set[Id](), [id]
        else:  # it reaches what its source's message before it reached, and begins at what that one lacked
            below, holes = before.below[:], {hole for hole in before.holes if hole in lacks}
            visit = [id, *(hole for hole in before.holes if hole not in lacks)]
        while visit:
            source, number = visit.pop()
            bound = below[source]
            if number >= bound:
                below[source] = number + 1
            for reached in range(min(bound, number), number + 1):
                at = (source, reached)
                if at in lacks:
                    holes.add(at)
                    continue
                acks = self.acks.get(at)
                if acks is None:
                    assert reached >= self.stable[source], "what was let go is reached by every later message"
                    self.waiting.setdefault(at, []).append(id)
                    return None
                for ack in acks:
                    if ack in lacks:
                        holes.add(ack)
                    elif ack[1] >= below[ack[0]]:
                        known = self.entries.get(ack)
                        if known is not None and known.holes <= lacks and not any(map(known.reaches, lacks)):
                            below = list(map(max, below, known.below))  # under these holes it reaches the same
                            holes |= known.holes
                        else:
                            visit.append(ack)
        entry = self.entries[id] = Entry(id, below, frozenset(holes))
        latest = self.latest.get(id[0])
        if latest is None or latest.id < id:
            self.latest[id[0]] = entry
        return entry

    def _observe(self, entry: Entry) -> None:
        """OPD by enumeration (II.C): what its source holds for certain, and so what all members hold."""
        held = self.held.get(entry.id[0])
        if held is None:
            return  # no member, or none any more
        now = entry.below
        if entry.holes:
            now = now[:]
            for source, number in entry.holes:
                now[source] = min(now[source], number)
        floor, lagging = self.floor, self.lagging
        for source, was in enumerate(held):
            if now[source] > was:
                held[source] = now[source]
                if was == floor[source]:
                    lagging[source] -= 1
                    if not lagging[source]:  # so it takes n steps only when the floor rises
                        self._raise(source)

    def _raise(self, source: Pid) -> None:
        """All members hold more of this source than they did."""
        held = [held[source] for held in self.held.values()]
        self.floor[source] = min(held)
        self.lagging[source] = held.count(self.floor[source])
        self._let_go(source)

    def _let_go(self, source: Pid) -> None:
        """Forget what every member holds.  Their later messages all reach it, so nobody will look at it again."""
        number, below = self.stable[source], self.floor[source]
        # What is not in the order here is kept: when its source has left, others may have spoken for it alone.
        while number < below and (entry := self.entries.pop((source, number), None)) is not None:
            del self.acks[entry.id], self.lacks[entry.id]
            self.let_go.append(entry)
            number += 1
        self.stable[source] = number

    def held_with_all_it_reaches(self, entry: Entry) -> bool:
        """Does every member hold this message and all that it waits for?  Then it will enter everywhere."""
        for source, below in enumerate(entry.below):
            for number in range(self.stable[source], below):
                if (source, number) not in entry.holes:
                    return False
        return True

    def install(self, members: Iterable[Pid]) -> None:
        """A new membership, a part of the old: nobody waits for the others' acknowledgments any more."""
        self.members = sorted(members)
        self.held = {member: self.held[member] for member in self.members}
        for source in range(self.width):
            self._raise(source)

    def copy(self) -> "PartialOrder":
        """A twin with its own state; entries never change and are shared."""
        twin = object.__new__(type(self))
        twin.members, twin.width = self.members, self.width
        twin.acks, twin.lacks, twin.entries = dict(self.acks), dict(self.lacks), dict(self.entries)
        twin.latest = dict(self.latest)
        twin.waiting = {missing: list(ids) for missing, ids in self.waiting.items()}
        twin.held = {member: list(held) for member, held in self.held.items()}
        twin.floor, twin.lagging = list(self.floor), list(self.lagging)
        twin.stable, twin.let_go = list(self.stable), list(self.let_go)
        return twin
