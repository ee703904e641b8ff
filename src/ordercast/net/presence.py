"""How the members of a fixed group meet, and how they part.

Meeting: everybody says its incarnation, a number that no earlier life of it had, and which ones it has heard.  Who has
heard everybody knows the session, a number made from all incarnations, and begins; it goes on answering those who have
not.  Frames carry the session, so what an earlier life of the group or of a member has left on the way is no part of
it; and a member that comes back finds itself locked out, because a protocol with a fixed membership cannot take it in.

Parting: a member that wants to go says how many messages it broadcast to each member.  Whoever has every other's
number, and has delivered that many of each, is settled, and stays until all are: so nobody goes while another may need
it.  Nobody is obliged to wait: the group sets a bound (see `Group.leave`).

A newcomer, to a group whose protocol knows joining, is none of the founders: it learns the session from one that knows
it, and the protocol does the rest.

A pure state machine; its clock and its datagrams are the group's.
"""

from collections.abc import Mapping, Sequence

import msgspec

from ordercast.core import Pid
from ordercast.net.errors import LockedOut
from ordercast.net.frames import number


class Notice(msgspec.Struct, frozen=True, array_like=True):
    """What a member says about itself.  `seen` are incarnations in the order of the members; 0: not heard."""

    seen: list[int]
    met: bool  # it knows the session
    totals: list[int] = []  # it wants to go, having broadcast so many to each member; empty: it does not want to
    settled: bool = False
    gone: bool = False  # its last notice: it knows that all are settled


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Notice).decode


class Presence:
    """Who is there, as one member knows it."""

    def __init__(self, me: Pid, members: Sequence[Pid], incarnation: int, settings: int) -> None:
        self.me, self.members, self.settings, self.incarnation = me, tuple(members), settings, incarnation
        self.newcomer = me not in self.members
        self.seen: dict[Pid, int] = {} if self.newcomer else {me: incarnation}
        self.session: int | None = None
        self.met: set[Pid] = set()  # who knows the session
        self.foreign: set[Pid] = set()  # heard with other settings
        self.totals: dict[Pid, list[int]] = {}  # of those that want to go
        self.settled: set[Pid] = set()
        self._meet()

    @property
    def missing(self) -> list[Pid]:
        """Whom this member has not heard."""
        return [member for member in self.members if member not in self.seen]

    @property
    def all_met(self) -> bool:
        """Does every member know the session?"""
        return len(self.met) == len(self.members)

    @property
    def all_settled(self) -> bool:
        """Has every member all messages of all?"""
        return len(self.settled) == len(self.members)

    def notice(self, gone: bool = False) -> bytes:
        """What to say now."""
        seen = [self.seen.get(member, 0) for member in self.members]
        totals = self.totals.get(self.me, [])
        return _encode(Notice(seen, self.session is not None, totals, self.me in self.settled, gone))

    def hear(self, src: Pid, incarnation: int, body: bytes) -> bool:
        """Take a notice; is an answer due?  `LockedOut`: there is no way in.  Other bytes are nothing."""
        try:
            notice = _decode(body)
        except msgspec.DecodeError:
            self.foreign.add(src)
            return False
        if len(notice.seen) != len(self.members):
            return False
        self.foreign.discard(src)
        if src not in self.members:
            return self.session is not None
        if self.newcomer:
            self._learn(src, incarnation, notice)
            return False
        mine = notice.seen[self.members.index(self.me)]
        if self.session is None:
            if notice.met and mine not in (0, self.seen[self.me]):
                raise LockedOut(
                    f"the group began without this life of member {self.me}: "
                    "a fixed group does not take a member back; start all members again"
                )
            self.seen[src] = max(incarnation, self.seen.get(src, 0))
            self._meet()
            if notice.met:
                self.met.add(src)
            return mine != self.seen[self.me] or (self.session is not None and not notice.met)
        if incarnation == self.seen[src] and mine == self.seen[self.me]:
            if notice.met:
                self.met.add(src)
            self._part(src, notice)
        return not notice.met

    @property
    def others_go(self) -> bool:
        """Does another member want to go?"""
        return any(member != self.me for member in self.totals)

    def want_to_go(self, totals: Mapping[Pid, int]) -> None:
        """This member broadcast so many messages to each member, and will broadcast no more."""
        self.totals[self.me] = [totals[member] for member in self.members]

    def settle(self, delivered: Mapping[Pid, int]) -> bool:
        """How many messages of each member were delivered here.  Is this member settled by that?"""
        if self.newcomer:
            return False
        place = self.members.index(self.me)
        due = {member: totals[place] for member, totals in self.totals.items()}
        if len(due) < len(self.members) or any(delivered[member] < due[member] for member in due):
            return False
        news = self.me not in self.settled
        self.settled.add(self.me)
        return news

    def _learn(self, src: Pid, incarnation: int, notice: Notice) -> None:
        """What a founder says to a newcomer."""
        if self.session is None and notice.met and all(notice.seen):
            self.seen = dict(zip(self.members, notice.seen, strict=True))
            self._meet()
            self.met = set(self.members)
        if incarnation == self.seen.get(src):
            self._part(src, notice)

    def _part(self, src: Pid, notice: Notice) -> None:
        if len(notice.totals) == len(self.members):
            self.totals[src] = notice.totals
        if notice.settled:
            self.settled.add(src)
        if notice.gone:
            self.settled.update(self.members)

    def _meet(self) -> None:
        if self.session is None and not self.missing:
            self.session = number(self.settings, *(self.seen[member] for member in self.members))
            self.met.add(self.me)
