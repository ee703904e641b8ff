"""What a host of GK's tree knows of one source: its place on the lists, what it has, and what it is in the tree."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ordercast.core import Pid
from ordercast.parts import runs
from ordercast.parts.history import History
from ordercast.parts.runs import Runs

Key: TypeAlias = Pid | tuple[Pid, int]  # a source; in a later life than its first, with the number of that life


class Stream:
    """One host's part in the redelivery of one source's messages.  It decides nothing: `tree` does."""

    def __init__(
        self, source: Pid, life: int, me: Pid, lists: Mapping[Pid, Sequence[Pid]], fifo: bool, own: bool
    ) -> None:
        self.source, self.life, self.me = source, life, me
        self.key: Key = (source, life) if life else source
        self.own = own  # it is I who broadcast here
        self.over = False  # a later life of its source is known: nothing new will come
        self.mine = tuple(lists[me])  # PL(me)
        self.rank = {host: len(mine) for host, mine in lists.items()}  # a total order; the source has 0
        self.history = History(fifo)
        self.hears = True  # the source itself was heard within m deltas
        self.coord: Pid | None = None  # COORD(me)
        self.acting = False  # I gave my hosts to COORD, and act for them until it announces itself
        self.probes: int | None = None  # probes sent since the search began; none: I do not search
        # A coordinator's: DESC, without itself (none: a descendant of unknown state).
        self.desc: dict[Pid, Runs | None] = {}
        self.waiting: dict[Pid, Runs | None] = {}  # came in, and will be served when `gathering` ends
        self.gathering = False
        self.asked: Runs = runs.NOTHING  # what some descendant was asked to send me
        self.announcements = 0
        self.unanswered: dict[Pid, int] = {}  # descendant -> calls of the roll that it left unanswered
        self.progress = False  # something was redelivered since the last announcement, sent or heard

    def copy(self) -> "Stream":
        twin = object.__new__(Stream)
        twin.__dict__.update(self.__dict__)
        twin.history = self.history.copy()
        twin.desc, twin.waiting, twin.unanswered = dict(self.desc), dict(self.waiting), dict(self.unanswered)
        return twin

    def above(self, a: Pid, b: Pid) -> bool:
        """May `a` coordinate `b`?"""
        return self.rank[a] < self.rank[b]

    def leads(self) -> bool:
        """Do I coordinate, for good or until another takes over?"""
        return self.acting or (self.coord is not None and self.coord == self.me)

    def rest(self) -> None:
        """COORD returns to NIL."""
        self._follow(None)

    def follow(self, coord: Pid) -> None:
        """`coord` has announced itself: it coordinates me and mine."""
        self._follow(coord)

    def delegate(self, coord: Pid) -> None:
        """`coord` is asked to take over me and mine, and to fill what they lack; I keep the names."""
        names = [*self.desc, *(host for host in self.waiting if host not in self.desc)]
        self._follow(coord)
        self.desc, self.waiting, self.acting = dict.fromkeys(names), {}, bool(names)

    def _follow(self, coord: Pid | None) -> None:
        self.coord, self.probes, self.acting = coord, None, False
        self.desc, self.unanswered, self.asked = {}, {}, runs.NOTHING

    def take_waiting(self) -> dict[Pid, Runs | None]:
        waiting, self.waiting = self.waiting, {}
        return waiting

    def admit(self) -> dict[Pid, None]:
        """What waits joins DESC; returns those whom I have delegated: what they get now is all that I do for them."""
        delegated: dict[Pid, None] = {}
        for host, received in self.take_waiting().items():
            if self.acting and self.desc.get(host, ()) is None:
                delegated[host] = None
            if received is not None or host not in self.desc:
                self.desc[host] = received
        return delegated

    def describe(self, host: Pid, received: Runs | None) -> None:
        """A DESC says this of a host; saying that it is not known does not unsay what came just before."""
        if received is not None or host not in self.waiting:
            self.waiting[host] = received
        if received is not None:
            self.history.end = max(self.history.end, runs.below(received))
        self.unanswered.pop(host, None)

    def unknown(self) -> bool:
        """Do I coordinate somebody of whom I do not know what he has?"""
        return None in self.desc.values()

    def all_got(self, n: int) -> None:
        """A new message came from the source itself: so it did, most likely, to my descendants."""
        for host, received in self.desc.items():
            if received is not None:
                self.desc[host] = runs.add(received, n)

    def holds(self) -> Runs:
        """The union of what my group has."""
        out = self.history.received
        for received in self.desc.values():
            if received is not None:
                out = runs.union(out, received)
        return out

    def announce(self, call_every: int, calls_missed: int) -> bool:
        """Is the next announcement a call of the roll?  Descendants that missed too many calls are dropped."""
        for host, calls in list(self.unanswered.items()):
            if calls >= calls_missed:
                self.desc.pop(host, None)
                del self.unanswered[host]
        call = self.announcements % call_every == call_every - 1 or (self.unknown() and not self.acting)
        self.announcements += 1
        if call:
            for host in self.desc:
                self.unanswered[host] = self.unanswered.get(host, 0) + 1
        return call
