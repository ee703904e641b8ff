"""Total's voting: which candidate sets extend the total order, deduced from the partial order alone.

Source: MMA III.A, the criteria for fewer than n/3 faults.  A message enters with the messages it follows; every
message's vote on every candidate set follows from that, so votes are never sent and all processors find the same.

- `N_d` and `N_v` are rounded up.  Decisions are allowed in stage 0 ("where i > 0" in the decision criteria is a
  misprint: Figs 3 and 4 decide in stage 0).
- A message that follows only a part of a candidate set abstains in stage 0.  Counted as a vote against, it would let
  processors decide against the set of all candidates, which III.C rules out.
- Abstaining does not use up a source's vote in a stage.

Only sets that are exactly what some message follows can be voted for, so only these are polled in stages.  For any
other set nothing but votes against exist, and those of stage 0 decide: whoever votes in a later stage follows one who
did in the stage before, so its source has voted in all stages below.  A decision for a set therefore looks at the
polled subsets, and at the largest subsets that are not polled (their subsets have at least as many votes against).

Cost: sets of messages are the bits of integers.  A message costs one comparison for each message that awaits its place
and that it does not follow through another one; an extension votes again on the first of what awaits, as far as it
takes to decide.  It depends on the messages that await their place, not on history.

With N_v = 1 (a group of two) a message could vote in every stage by its own vote alone; there it votes in at most two.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ordercast.core import Pid
from ordercast.parts.partial_order import Entry, Id


class Extension(NamedTuple):
    """One decision: these messages come next, in this order."""

    ids: tuple[Id, ...]
    stage: int  # the lowest stage with enough votes


class Vote(NamedTuple):
    id: Id
    chosen: frozenset[Id]  # the candidate set
    stage: int
    favour: bool


class Ballot:
    """A message that awaits its place."""

    __slots__ = ("before", "bit", "entry", "source")

    def __init__(self, entry: Entry, bit: int, before: int) -> None:
        self.entry = entry
        self.source = entry.id[0]
        self.bit = bit
        self.before = before  # those that it follows, itself included, and that await their place


class Poll:
    """The votes on one candidate set."""

    __slots__ = ("against", "chosen", "closed", "favour", "stages_of")

    def __init__(self, chosen: int) -> None:
        self.chosen = chosen
        self.favour: list[int] = []  # by stage: who voted for it
        self.against: list[int] = []
        self.stages_of: dict[Pid, int] = {}  # a source has voted in the stages below
        self.closed: int | None = None  # the lowest stage with enough votes: those of later stages change nothing


class Voting:
    def __init__(self, n: int, resilience: int) -> None:
        if not 0 <= 3 * resilience < n:
            raise ValueError(f"Total tolerates fewer than n/3 faults: {n} processors cannot tolerate {resilience}")
        self.decide_at = (n + resilience + 2) // 2  # N_d = ceil((n + k + 1) / 2)
        self.vote_at = (n - resilience + 1) // 2  # N_v = ceil((n - k) / 2)
        self.some = n  # voters at a time: most decisions need few
        self.awaiting: list[Ballot] = []  # in the order of their entering: a topological order
        self.all = 0  # their bits
        self.speakers: dict[Pid, int] = {}  # their sources, and how many of each
        self.next_bit = 1
        self.candidates = 0
        self.cast = 0  # how many of those that await have voted
        self.polls: dict[int, Poll] = {}
        self.touched: dict[Pid, int] = {}  # the candidates that a source's messages follow

    def enter(self, entries: Iterable[Entry]) -> list[Extension]:
        """Messages have entered the partial order; return how the total order is extended by them."""
        for entry in entries:
            self._ballot(entry)
        extensions = []
        while (won := self._count()) is not None:
            extensions.append(self.extend(*won))
        return extensions

    def _count(self) -> tuple[Poll, int] | None:
        """Let those vote that have not, some at a time, until a set is decided for."""
        if self.candidates and not self.candidates & (self.candidates - 1):
            # A single candidate: all follow it and nothing else, and every source votes for it in stage 0.
            return (Poll(self.candidates), 0) if len(self.speakers) >= self.decide_at else None
        while True:
            won = self._decided()
            if won is not None or self.cast == len(self.awaiting):
                return won
            self._cast_some(self.some)

    def _cast_some(self, count: int) -> None:
        for ballot in self.awaiting[self.cast : self.cast + count]:
            self._cast(ballot)

    # ------------------------------------------------------------------ votes

    def _ballot(self, entry: Entry) -> None:
        bit, self.next_bit = self.next_bit, self.next_bit << 1
        before = 0
        for other in reversed(self.awaiting):
            if before == self.all:
                break
            if not other.bit & before and entry.follows(other.entry):
                before |= other.before
        ballot = Ballot(entry, bit, before | bit)
        self.awaiting.append(ballot)
        self.all |= bit
        self.speakers[ballot.source] = self.speakers.get(ballot.source, 0) + 1
        if not before:
            self.candidates |= bit

    def _cast(self, ballot: Ballot) -> None:
        follows = ballot.before & self.candidates
        self.touched[ballot.source] = self.touched.get(ballot.source, 0) | follows
        if follows not in self.polls:
            poll = self.polls[follows] = Poll(follows)
            for earlier in self.awaiting[: self.cast]:
                self._vote(earlier, poll)
        for poll in self.polls.values():
            if poll.closed != 0:
                self._vote(ballot, poll)
        self.cast += 1

    def _vote(self, ballot: Ballot, poll: Poll) -> None:
        first = stage = poll.stages_of.get(ballot.source, 0)
        if poll.closed is not None and stage >= poll.closed:
            return
        while (favour := self._votes_for(ballot, poll, stage)) is not None:
            if stage == len(poll.favour):
                poll.favour.append(0)
                poll.against.append(0)
            votes = poll.favour if favour else poll.against
            votes[stage] |= ballot.bit
            if votes[stage].bit_count() >= self.decide_at:
                poll.closed = stage
                break
            stage += 1
            if self.vote_at == 1 and stage == first + 2:
                break
        poll.stages_of[ballot.source] = stage

    def _votes_for(self, ballot: Ballot, poll: Poll, stage: int) -> bool | None:
        """The voting criteria: for the set (True), against it (False), or no vote in this stage."""
        if stage == 0:
            follows = ballot.before & self.candidates
            if follows == poll.chosen:
                return True
            return False if follows & ~poll.chosen else None
        favour = (ballot.before & poll.favour[stage - 1]).bit_count()
        against = (ballot.before & poll.against[stage - 1]).bit_count()
        if favour >= self.vote_at and against < favour:
            return True
        return False if against >= self.vote_at else None

    # ------------------------------------------------------------------ decisions

    def _decided(self) -> tuple[Poll, int] | None:
        for poll in self.polls.values():
            if poll.closed is not None and self._won(poll) and self._subsets_rejected(poll.chosen):
                for ballot in self.awaiting[self.cast :]:
                    self._vote(ballot, poll)  # perhaps enough votes in a lower stage
                return poll, poll.closed
        return None

    def _won(self, poll: Poll) -> bool:
        """Has a closed poll been decided for its set?  Both for and against it cannot be."""
        return poll.closed is not None and poll.favour[poll.closed].bit_count() >= self.decide_at

    def _subsets_rejected(self, chosen: int) -> bool:
        """Has every proper subset been decided against?"""
        for poll in self.polls.values():
            inside = poll.chosen != chosen and not poll.chosen & ~chosen
            if inside and (poll.closed is None or self._won(poll)):
                return False
        below, seen = [chosen], {chosen}
        while below:
            chosen = below.pop()
            for one in _bits(chosen):
                subset = chosen & ~one
                if subset and subset not in seen:
                    seen.add(subset)
                    if subset in self.polls:
                        below.append(subset)
                    elif sum(1 for follows in self.touched.values() if follows & ~subset) < self.decide_at:
                        return False
        return True

    def extend(self, poll: Poll, stage: int) -> Extension:
        """Take the chosen messages out, find the new candidates; what still awaits its place votes again."""
        chosen = poll.chosen
        ids = tuple(sorted(ballot.entry.id for ballot in self.awaiting if ballot.bit & chosen))
        for source, _ in ids:
            self.speakers[source] -= 1
            if not self.speakers[source]:
                del self.speakers[source]
        self.awaiting = [ballot for ballot in self.awaiting if not ballot.bit & chosen]
        self.all &= ~chosen
        self.candidates, self.cast, self.polls, self.touched = 0, 0, {}, {}
        # The bits of messages that have their place are used again, by moving all down, before numbers grow long.
        spare = (self.all & -self.all).bit_length() - 1 if self.all else 0
        down = spare if spare > 256 else 0
        self.all >>= down
        self.next_bit = self.next_bit >> down if self.all else 1
        for ballot in self.awaiting:
            ballot.before = (ballot.before & ~chosen) >> down
            ballot.bit >>= down
            if ballot.before == ballot.bit:
                self.candidates |= ballot.bit
        return Extension(ids, stage)

    # ------------------------------------------------------------------ for readers

    def awaits(self, id: Id) -> bool:
        """Is this message in the partial order and without its place?"""
        return any(ballot.entry.id == id for ballot in reversed(self.awaiting))

    def stages(self) -> int:
        """How many stages the votes on some set have come to."""
        return max((len(poll.favour) for poll in self.polls.values()), default=0)

    def candidate_ids(self) -> list[Id]:
        return sorted(ballot.entry.id for ballot in self.awaiting if ballot.bit & self.candidates)

    def votes(self) -> Iterator[Vote]:
        """Every vote on every polled set, in the order of sets and stages."""
        self._cast_some(len(self.awaiting))
        ids = {ballot.bit: ballot.entry.id for ballot in self.awaiting}
        for poll in self.polls.values():
            chosen = frozenset(ids[bit] for bit in _bits(poll.chosen))
            for stage, (favour, against) in enumerate(zip(poll.favour, poll.against, strict=True)):
                for bit in _bits(favour | against):
                    yield Vote(ids[bit], chosen, stage, bool(bit & favour))

    def copy(self) -> "Voting":
        """A twin with its own state."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.awaiting = [Ballot(ballot.entry, ballot.bit, ballot.before) for ballot in self.awaiting]
        twin.touched, twin.speakers = dict(self.touched), dict(self.speakers)
        twin.polls = {}
        for chosen, poll in self.polls.items():
            copied = twin.polls[chosen] = Poll(chosen)
            copied.favour, copied.against = list(poll.favour), list(poll.against)
            copied.stages_of, copied.closed = dict(poll.stages_of), poll.closed
        return twin


def _bits(mask: int) -> Iterator[int]:
    while mask:
        bit = mask & -mask
        yield bit
        mask ^= bit
