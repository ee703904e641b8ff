"""The counter protocol's token and system state: who sent what in which cycle, and how many nodes have it (CH 2.2).

Pure functions of the token, so that a walk-through of the paper can be checked without a network.  The token of a
configuration is numbered by its cycle and its owner's place in the list; there is one line of such tokens, whatever
is lost or repeated.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

import msgspec

from ordercast.core import Message, Pid

Rule: TypeAlias = Literal["fixed", "rotating"]
Key: TypeAlias = tuple[Pid, int, int]


class Ring(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A configuration: the token-passing-list, and since which cycle each of its nodes takes part."""

    nodes: tuple[Pid, ...]
    since: tuple[int, ...]
    number: int = 0
    base: int = 0  # the first cycle that is attached in this configuration; S holds older entries for a while
    after: tuple[int, int] = (0, -1)  # the last token of the configuration before: its cycle, its owner's place

    def place(self, node: Pid) -> int:
        """Where the node stands in the list; -1: it does not."""
        return self.nodes.index(node) if node in self.nodes else -1

    def next(self, node: Pid) -> Pid:
        """The owner after this node."""
        return self.nodes[(self.place(node) + 1) % len(self.nodes)]


class Entry(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """An element of the system state (CH Fig. 1): the messages `first <= k < below` that a node sent in a cycle."""

    sender: Pid
    cycle: int
    first: int
    below: int
    counter: int = 0  # nodes other than the sender that had them all when they owned the token
    to: tuple[Pid, ...] = ()  # the IDs field of the multicast extension (CH Fig. 9); empty: all
    place: int = 0  # where they stand in the order of their cycle

    def key(self) -> Key:
        """Its name.  The cycle belongs to it: what a deleted node loses of an entry it may attach again later."""
        return (self.sender, self.cycle, self.first)


class Flow(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """The four fields of flow control (CH 3.2); the arrays are indexed by the place in the list."""

    local: tuple[bool, ...]
    local_cycle: tuple[int, ...]
    everywhere: bool = False  # the paper's `global`
    everywhere_cycle: int = 0


class T(Message, frozen=True):
    """The token: its owner `c` hands it to `n` in cycle `t` with the system state `S` (CH 3.1)."""

    c: Pid
    n: Pid
    t: int
    S: tuple[Entry, ...]
    ring: Ring
    flow: Flow

    def stamp(self) -> tuple[int, int, int]:
        """Its number in the one line of tokens."""
        return (self.ring.number, self.t, self.ring.place(self.c))


def founding(nodes: Sequence[Pid]) -> T:
    """The token that the first start node is given."""
    ring = Ring(tuple(nodes), (0,) * len(nodes))
    return T(nodes[0], nodes[0], 0, (), ring, no_flow(ring))


def no_flow(ring: Ring) -> Flow:
    return Flow((False,) * len(ring.nodes), (0,) * len(ring.nodes))


def counts(ring: Ring, entry: Entry, node: Pid) -> bool:
    """Is the node one that this entry waits for?  One that joined later is not (nor would it ever get the messages)."""
    if node == entry.sender or node not in ring.nodes or (entry.to and node not in entry.to):
        return False
    return ring.since[ring.nodes.index(node)] <= entry.cycle


def expected(ring: Ring, entry: Entry) -> int:
    """What the counter has when everybody has the messages."""
    if not entry.to and entry.cycle >= ring.base:  # the paper's N - 1
        return len(ring.nodes) - 1
    return sum(counts(ring, entry, node) for node in ring.nodes)


def complete(token: T, entry: Entry) -> bool:
    """Does every destination have the messages, and every node know of them?

    With a destination list, or after a change of the ring, the counter alone does not say that all nodes saw the
    entry: two destinations could commit, crash, and leave nobody who knows where in the order their messages stood.
    """
    ring = token.ring
    if entry.counter < expected(ring, entry):
        return False
    if not entry.to and entry.cycle >= ring.base:
        return True
    size = len(ring.nodes)
    attached = (ring.base + 1) * size
    if entry.cycle >= ring.base:
        attached = (entry.cycle + 1) * size + ring.place(entry.sender)
    return token.t * size + ring.place(token.c) >= attached + size - 1


def arrive(token: T, me: Pid) -> tuple[tuple[Entry, ...], tuple[Entry, ...]]:
    """What the new owner leaves in S and what it removes: its own entries that are complete.

    All of them: in CH the removal stands before the cycle is raised and names one cycle, so that an entry which took
    longer would stay for good.  The start node also clears away for those who have gone.
    """
    ring = token.ring
    keep: list[Entry] = []
    removed: list[Entry] = []
    heir = me == ring.nodes[0]
    for entry in token.S:
        mine = entry.sender == me or (heir and entry.sender not in ring.nodes)
        (removed if mine and complete(token, entry) else keep).append(entry)
    return tuple(keep), tuple(removed)


def count(
    ring: Ring, state: Iterable[Entry], me: Pid, holds: Callable[[Entry], bool], counted: set[Key]
) -> list[Entry]:
    """S with the counters raised for what I hold, each entry once: one that survives a cycle meets me again."""
    out = []
    for entry in state:
        if entry.key() not in counted and counts(ring, entry, me) and holds(entry):
            counted.add(entry.key())
            entry = msgspec.structs.replace(entry, counter=entry.counter + 1)
        out.append(entry)
    return out


def entries(
    ring: Ring, me: Pid, cycle: int, messages: Iterable[tuple[int, tuple[Pid, ...]]], rule: Rule
) -> list[Entry]:
    """What to attach for my messages (number, destinations) of a cycle: one entry per run with equal destinations."""
    place = ring.place(me)
    if rule == "rotating":  # the same circular order, from another node in each cycle (CH 2.3)
        place = (place - cycle) % len(ring.nodes)
    out: list[Entry] = []
    for k, to in messages:
        if out and out[-1].to == to and out[-1].below == k:
            out[-1] = msgspec.structs.replace(out[-1], below=k + 1)
        else:
            out.append(Entry(me, cycle, k, k + 1, 0, to, place))
    return out


def committable(token: T) -> int:
    """The first cycle that may not be committed on this token.

    All nodes have attached a cycle when the last of the list has passed the token on, or anybody a token of the cycle
    after.  Without that condition the paper's second situation commits before some node has spoken.
    """
    ring = token.ring
    attached = token.t - 1 if token.c == ring.nodes[-1] else token.t - 2
    bound = max(attached + 1, ring.base)
    for entry in token.S:
        if entry.cycle < bound and not complete(token, entry):
            bound = entry.cycle
    return bound


class Ledger:
    """The entries one node has seen and not yet committed, by cycle."""

    def __init__(self, next: int = 0) -> None:
        self.next = next  # the first cycle that is not committed here
        self.cycles: dict[int, dict[Key, Entry]] = {}

    def see(self, state: Iterable[Entry]) -> None:
        for entry in state:
            if entry.cycle >= self.next:
                self.cycles.setdefault(entry.cycle, {})[entry.key()] = entry

    def commit(self, bound: int) -> Iterator[tuple[int, list[Entry]]]:
        """The cycles below `bound` that are committed now, each with its entries in their order."""
        while self.next < bound:
            cycle, self.next = self.next, self.next + 1
            yield cycle, in_order(self.cycles.pop(cycle, {}).values())

    def drop(self, void: Callable[[Entry], bool]) -> None:
        """Forget entries."""
        for found in self.cycles.values():
            for entry in [entry for entry in found.values() if void(entry)]:
                del found[entry.key()]

    def all(self) -> list[Entry]:
        return [entry for cycle in sorted(self.cycles) for entry in in_order(self.cycles[cycle].values())]

    def copy(self) -> "Ledger":
        twin = Ledger(self.next)
        twin.cycles = {cycle: dict(found) for cycle, found in self.cycles.items()}
        return twin


def in_order(found: Iterable[Entry]) -> list[Entry]:
    """The entries of one cycle in the order in which their messages are delivered."""
    return sorted(found, key=lambda entry: (entry.place, entry.first))
