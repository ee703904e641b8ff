"""Changing the token-passing-list (CH 3.3): agreement of a majority on the token that begins the next configuration.

CH lets one node decide: whoever misses its successor deletes it and passes the token on; a newcomer is added, a leaver
taken out, by the token alone.  Under its assumptions (a failure is detected rightly) that is enough.  With a wrong
suspicion it makes two tokens that each have a list of their own.  Here every change is one vote (single-decree Paxos)
among the nodes of the list: what is voted on is the first token of the next configuration, so that list, system state
and start node change in one step.  A node that has promised to a caller follows no token of the configuration any more.
As nothing is committed that not *every* node of the list has counted, the newest token known to any majority holds
every entry that anybody has committed, or ever will.
"""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

import msgspec

from ordercast.core import Message, Pid
from ordercast.parts.counter_state import Entry, Ring, T, counts, no_flow

Ballot: TypeAlias = tuple[int, Pid]
NEVER: Ballot = (0, -1)


class Call(Message, frozen=True):
    """Caller -> nodes of the list: follow no more tokens of this configuration, and tell me what you know."""

    ballot: Ballot
    token: T  # the newest the caller knows: a node that is behind catches up by it


class Answer(Message, frozen=True):
    """Node -> caller: I follow no more.  With a ballot that is not the caller's: I follow another caller."""

    ballot: Ballot
    token: T
    accepted: tuple[Ballot, T] | None
    committed: int  # cycles below are committed here, so every node holds their messages
    held: tuple[tuple[Pid, int, int], ...]  # (origin, first, below) of the others' messages in my store
    absent: tuple[tuple[Pid, int], ...]  # who was deleted, by which configuration


class Propose(Message, frozen=True):
    """Caller -> nodes of the list: let this be the next token."""

    ballot: Ballot
    token: T


class Agree(Message, frozen=True):
    """Node -> caller: so be it."""

    ballot: Ballot
    number: int  # the configuration that votes


class Join(Message, frozen=True):
    """Newcomer -> a node of the list: take me in (CH 3.3, case one)."""

    number: int  # the last configuration that I was in; -1: none
    settled: int  # the `Past` that I have dealt with; -1: none


class Past(Message, frozen=True):
    """Node -> one that was deleted and is back: how your configuration ended without you."""

    number: int  # of the configuration that deleted it
    base: int
    after: tuple[int, int]
    since: int  # it took part from this cycle on
    S: tuple[Entry, ...]


class Agreement:
    """One node's part in the vote on the configuration after the present one."""

    def __init__(self) -> None:
        self.promised = NEVER
        self.accepted: tuple[Ballot, T] | None = None
        self.highest = 0  # round of any ballot seen
        # The caller's side; `ballot` is None when I am not calling.
        self.ballot: Ballot | None = None
        self.answers: dict[Pid, Answer] = {}
        self.value: T | None = None
        self.agreed: list[Pid] = []

    def fenced(self) -> bool:
        """Have I promised to follow no more tokens?"""
        return self.promised != NEVER

    def call(self, me: Pid) -> Ballot:
        """Begin a ballot of my own above all that I know."""
        ballot = self.ballot = (max(self.highest, self.promised[0]) + 1, me)
        self.highest = ballot[0]
        self.answers, self.value, self.agreed = {}, None, []
        return ballot

    def promise(self, ballot: Ballot) -> bool:
        """A call came: do I follow it?  Whoever called with less gives up."""
        self.highest = max(self.highest, ballot[0])
        if ballot < self.promised:
            return False
        self.promised = ballot
        if self.ballot is not None and self.ballot < ballot:
            self.ballot = None
        return True

    def accept(self, ballot: Ballot, token: T) -> bool:
        if not self.promise(ballot):
            return False
        self.accepted = (ballot, token)
        return True

    def hear(self, src: Pid, answer: Answer) -> bool:
        """An answer came: is it one to my ballot?"""
        self.highest = max(self.highest, answer.ballot[0])
        if self.ballot is None or answer.ballot != self.ballot:
            return False
        self.answers[src] = answer
        return True

    def agree(self, src: Pid, ballot: Ballot) -> bool:
        """A vote for my proposal came."""
        if self.ballot is None or ballot != self.ballot or self.value is None or src in self.agreed:
            return False
        self.agreed.append(src)
        return True

    def bound(self) -> T | None:
        """The proposal that may already have been decided, if any: I must propose it and no other."""
        found = [answer.accepted for answer in self.answers.values() if answer.accepted is not None]
        return max(found, key=lambda item: item[0])[1] if found else None

    def copy(self) -> "Agreement":
        twin = Agreement()
        twin.__dict__.update(self.__dict__)
        twin.answers, twin.agreed = dict(self.answers), list(self.agreed)
        return twin


def quorum(ring: Ring, nodes: Iterable[Pid]) -> bool:
    """Do these nodes decide for the list?  A majority; of two halves, the one that has the start node."""
    present = [node for node in ring.nodes if node in set(nodes)]
    return 2 * len(present) > len(ring.nodes) or (2 * len(present) == len(ring.nodes) and ring.nodes[0] in present)


def rebuilt(caller: Pid, answers: Mapping[Pid, Answer], joining: Mapping[Pid, int], leaving: bool) -> T:
    """The token of the next configuration: those who answered, the caller first, then who asked to be taken in.

    But for one that was deleted and has not dealt with that yet, which those who deleted it know.
    Counters start again from nothing: what was counted among other nodes says nothing about these, and an older S,
    passed on again, would never complete because nobody counts twice.
    """
    newest = max((answer.token for answer in answers.values()), key=T.stamp)
    old = newest.ring
    base = newest.t + 1  # above every cycle in S: the order of what was attached so far is closed
    stay = [node for node in old.nodes if node in answers and not (leaving and node == caller)]
    if caller in stay:
        at = stay.index(caller)
        stay = stay[at:] + stay[:at]
    unsettled = [
        node for answer in answers.values() for node, number in answer.absent if number > joining.get(node, number)
    ]
    new = [node for node in joining if node not in old.nodes and node not in unsettled]
    since = tuple([old.since[old.place(node)] for node in stay] + [base] * len(new))
    after = (newest.t, old.place(newest.c))
    ring = Ring((*stay, *new), since, old.number + 1, base, after)
    state = cut(ring, newest.S, {node: answers[node] for node in stay})
    return T(caller, ring.nodes[0], base, state, ring, no_flow(ring))


def ending(token: T, since: int) -> Past:
    """For a node that this configuration has left out, and that had taken part since a cycle.

    Any token that a node of the list first sees has all the old entries: they wait for that node to count them.
    """
    ring = token.ring
    old = tuple(entry for entry in token.S if entry.cycle < ring.base)
    return Past(ring.number, ring.base, ring.after, since, old)


def cut(ring: Ring, state: Iterable[Entry], answers: Mapping[Pid, Answer]) -> tuple[Entry, ...]:
    """S without what nobody has any more: of a node that is gone, the messages from the first that cannot be had.

    Nobody can have committed those: a commit needs every destination to hold them.
    """
    out, lost = [], set()
    for entry in sorted(state, key=lambda entry: (entry.sender, entry.first)):
        below = entry.below
        if entry.sender in lost:
            below = entry.first
        elif entry.sender not in ring.nodes:
            below = reachable(ring, entry, answers)
            if below < entry.below:
                lost.add(entry.sender)
        out.append(msgspec.structs.replace(entry, below=below, counter=0))
    return tuple(sorted(out, key=lambda entry: (entry.cycle, entry.place, entry.first)))


def reachable(ring: Ring, entry: Entry, answers: Mapping[Pid, Answer]) -> int:
    """Up to which number the messages of an entry can still be had by those who wait for them."""
    waiting = [node for node in ring.nodes if counts(ring, entry, node)]
    if not waiting or any(answer.committed > entry.cycle for answer in answers.values()):
        return entry.below
    runs = [run for node in answers for run in answers[node].held if run[0] == entry.sender]
    below = entry.first
    while below < entry.below and any(first <= below < end for _, first, end in runs):
        below = min(entry.below, max(end for _, first, end in runs if first <= below < end))
    return below


def runs(keys: Iterable[tuple[Pid, int]]) -> tuple[tuple[Pid, int, int], ...]:
    """Message numbers as runs (origin, first, below)."""
    out: list[tuple[Pid, int, int]] = []
    for origin, k in sorted(keys):
        if out and out[-1][0] == origin and out[-1][2] == k:
            out[-1] = (origin, out[-1][1], k + 1)
        else:
            out.append((origin, k, k + 1))
    return tuple(out)
