"""The logs of one entity, APL | PPL | RPL, and the conditions that move a PDU through them.

Source: NT, sections 2, 3 and 5.  The paper numbers entities; here vectors and matrices go by the place of a member in
the group.  Guarantees: a PDU that is pre-acknowledged here has been received by each of its destinations; one that is
acknowledged here has been pre-acknowledged at each (for a part of the cluster: each has received all it needs for it).

How it reads the paper:

- AL_jh is what E_h expects next from E_j.  The receipt, PACK, flow and initial conditions all need that; only the
  printed definition has it the other way round.
- Four readings of who is known to hold what.  `literal`: `A` vectors alone, and a PDU waits for first
  pre-acknowledgers on all n entities (3n PDUs, 4 rounds).  `sender`: the sender of an accepted PDU is known to hold
  it, and its own pre-acknowledgment is not waited for (2n PDUs, 3 rounds: the paper's counts).  `implicit`: besides,
  one's own receipt is known at once.  `implicit_ackall`: that, waiting for all n.
- What is known beyond `A` vectors counts for PACK alone.  The receipt condition compares with accepted `A` vectors,
  and a first pre-acknowledger is a PDU that every entity can see.
- A PDU for a part of the cluster (p.DST) is numbered and received like any other; PACK and ACK ask its destinations
  only.  For such a PDU they also wait for what its sender had received before it: else q, sent to {1, 2} after p to
  all, overtakes p at 1 and 2 while 3 is slow, and causality breaks.  For PDUs to all, that follows by itself.  In one
  log (TO) they ask the whole cluster: else two members could pack different PDUs after the same prefix.
"""
# ruff: noqa: SIM300 - the paper's names are in capitals, and no constants

from collections.abc import Sequence
from operator import ge, le
from typing import Literal, NamedTuple, Self, TypeAlias

from ordercast.core import Message, Pid

Reading: TypeAlias = Literal["literal", "sender", "implicit", "implicit_ackall"]
Verdict: TypeAlias = Literal["accept", "duplicate", "gap", "A_low", "A_ahead"]


class Pdu(Message, frozen=True):
    """What every PDU carries (NT section 5)."""

    SRC: Pid
    SEQ: int
    A: tuple[int, ...]  # what SRC expects next from each entity
    BUF: int  # buffers available in SRC
    DST: tuple[Pid, ...]  # empty: the whole cluster


class Moved(NamedTuple):
    """The PDUs that one step moved from RPL to PPL, and from PPL to APL, each in the order of their receipt."""

    packed: list[Pdu]
    acked: list[Pdu]


class ReceiptLogs:
    """REQ, AL and the logs of `me`: one log per source for PO, a single one for TO (`one_log`)."""

    def __init__(
        self,
        members: Sequence[Pid],
        me: Pid,
        iss: Sequence[int] = (),
        reading: Reading = "sender",
        one_log: bool = False,
    ) -> None:
        n = len(members)
        first = tuple(iss) or (0,) * n
        self.members = tuple(members)
        self.rank = {member: place for place, member in enumerate(members)}
        self.me, self.reading, self.one_log = self.rank[me], reading, one_log
        self.REQ = list(first)  # what I expect next from each entity
        self.said: list[tuple[int, ...]] = [first] * n  # the last accepted A of each: said[j][h] is AL_hj
        self.known = [[start] * n for start in first]  # known[j][h]: AL_jh, and what else I know
        self.least = list(first)  # minAL_j, the minimum of known[j]
        self.packed, self.acked = list(first), list(first)  # below these, each source's PDUs are in PPL, in APL
        # firsts[i][h]: (A_i, SEQ) of the PDUs of E_h that raised its A_i, for finding first pre-acknowledgers.
        self.firsts: list[list[list[tuple[int, int]]]] = [[[] for _ in range(n)] for _ in range(n)]
        lanes = 1 if one_log else n
        self.RPL: list[list[tuple[int, Pdu]]] = [[] for _ in range(lanes)]  # (how many were received before it, p)
        self.PPL: list[list[tuple[int, Pdu]]] = [[] for _ in range(lanes)]
        self.blocker = [(-1, 0)] * n  # (SEQ of each source's first in PPL, on whom it waited at the last look)
        self.received = 0
        self.parts = False  # has there been a PDU for a part of the cluster?
        # What has changed since the last look, so that a look need not ask for n logs on n entities.
        self.risen: set[int] = set()  # sources of whose PDUs more is known, or has come
        self.lowest = [n] * n  # how many in each row of `known` have its minimum
        # After a reset: what is below `base` all hold, from there to `tail` was appended, and who has not yet shown
        # that it has begun from there, too.
        self.base, self.tail, self.unaware = first, first, [False] * n

    def verdict(self, p: Pdu) -> Verdict:
        """The receipt condition, with the reason of a refusal."""
        j = self.rank[p.SRC]
        if p.SEQ != self.REQ[j]:
            return "duplicate" if p.SEQ < self.REQ[j] else "gap"
        if not all(map(ge, p.A, self.said[j])):
            return "A_low"
        if not all(map(le, p.A, self.REQ)):
            return "A_ahead"
        return "accept"

    def accept(self, p: Pdu) -> Moved:
        """Receive a PDU that satisfies the receipt condition (the receipt action)."""
        j = self.rank[p.SRC]
        self.parts |= bool(p.DST) and not self.one_log
        before, self.said[j] = self.said[j], p.A
        for i, (a, told) in enumerate(zip(p.A, before, strict=True)):
            if a > told:
                self.firsts[i][j].append((a, p.SEQ))
                if a > self.known[i][j]:
                    self._learn(i, j, a)
        self.risen.add(j)
        self.REQ[j] += 1
        if self.reading != "literal":
            self._learn(j, j, self.REQ[j])
        if self.reading in ("implicit", "implicit_ackall"):
            self._learn(j, self.me, self.REQ[j])
        self.RPL[0 if self.one_log else j].append((self.received, p))
        self.received += 1
        return self._advance()

    def tell(self, member: Pid, req: Sequence[int]) -> Moved:
        """What a member expects next from each entity, learned outside its PDUs: it counts for PACK alone."""
        h = self.rank[member]
        for i, a in enumerate(req):
            self._learn(i, h, a)
        return self._advance()

    def reset(self, f: Sequence[int], tail: Sequence[Pdu]) -> Moved:
        """Go on from one sequence with all others: what every entity holds, below `f`, and after it `tail`."""
        assert all(below <= at for below, at in zip(self.packed, f, strict=True)), "what is packed keeps its place"
        assert all(at <= req for at, req in zip(f, self.REQ, strict=True)), "f is a minimum over all"
        n = len(f)
        self.RPL = [[(at, p) for at, p in log if p.SEQ < f[self.rank[p.SRC]]] for log in self.RPL]
        self.REQ, self.base = list(f), tuple(f)
        for p in tail:
            j = self.rank[p.SRC]
            assert p.SEQ == self.REQ[j], "each source's PDUs come in its order, without a gap"
            self.REQ[j] += 1
            self.RPL[0 if self.one_log else j].append((self.received, p))
            self.received += 1
        self.tail = tuple(self.REQ)
        self.known, self.lowest, self.blocker = [[held] * n for held in f], [n] * n, [(-1, 0)] * n
        self.least = list(f)
        self.said = [tuple(self.acked)] * n  # so that the next A of each counts as a pre-acknowledgment of what waits
        self.firsts = [[[] for _ in range(n)] for _ in range(n)]
        self.unaware = [True] * n
        return self.aware(self.members[self.me], self.REQ)

    def aware(self, member: Pid, holds: Sequence[int]) -> Moved:
        """A member has begun from the last reset, too: it holds all of that, and knows that all hold what is below."""
        self.unaware[self.rank[member]] = False
        self.risen.update(self.rank.values())
        return self.tell(member, holds)

    def copy(self) -> Self:
        twin = object.__new__(type(self))
        twin.__dict__.update({name: _copy(value) for name, value in self.__dict__.items()})
        return twin

    # ------------------------------------------------------------------ the conditions

    def _learn(self, j: int, h: int, expects: int) -> None:
        row = self.known[j]
        old = row[h]
        if expects > old:
            row[h] = expects
            if self.parts:
                self.risen.add(j)
            if old == self.least[j]:
                self.lowest[j] -= 1
                if not self.lowest[j]:
                    self.least[j] = least = min(row)
                    self.lowest[j] = row.count(least)
                    self.risen.add(j)

    def _held(self, j: int, seq: int, dst: tuple[Pid, ...]) -> bool:
        """Is it known that every entity in `dst` has received the PDU `seq` of E_j?"""
        if not dst:
            return seq < self.least[j]
        row = self.known[j]
        return all(seq < row[self.rank[member]] for member in dst)

    def _packs(self, p: Pdu) -> bool:
        """The PACK condition: p.SEQ < minAL_j, over p.DST."""
        j = self.rank[p.SRC]
        if not self.parts:
            return p.SEQ < self.least[j]
        return self._held(j, p.SEQ, p.DST) and (not p.DST or self._after(p, self.packed))

    def _acks(self, p: Pdu) -> bool:
        """The ACK condition: on every E_h of p.DST, the first pre-acknowledger of p is pre-acknowledged."""
        j = self.rank[p.SRC]
        if p.SEQ < self.base[j]:
            return not any(self.unaware)
        # What a reset appended waits for a word of its source, too: one that does not know whether the source has begun
        # from there cannot pack what another source's PDU holds up before it in the log.
        everyone = self.reading in ("literal", "implicit_ackall") or p.SEQ < self.tail[j]
        dst = () if self.one_log else p.DST
        seq, blocker = self.blocker[j]
        if seq == p.SEQ and blocker not in self.risen:
            return False
        first = blocker if seq == p.SEQ and not dst else 0  # those before it have been packed since
        self.blocker[j] = (-1, 0)
        for h in [self.rank[member] for member in dst] or range(first, len(self.REQ)):
            if self._unpacked(p, j, h, dst) and (h != j or everyone):
                self.blocker[j] = (p.SEQ, h)
                return False
        return not dst or self._after(p, self.acked)

    def _unpacked(self, p: Pdu, j: int, h: int, dst: tuple[Pid, ...]) -> bool:
        """Is the first pre-acknowledger of `p`, of E_j, on E_h still to come, or to be packed?"""
        firsts = self.firsts[j][h]
        while firsts and firsts[0][0] <= p.SEQ:
            del firsts[0]  # it pre-acknowledges only what went before p in the same log
        return not firsts or not self._held(h, firsts[0][1], dst)

    def _after(self, p: Pdu, done: list[int]) -> bool:
        """Has everything that the sender of `p` had received come as far as `done`?"""
        j = self.rank[p.SRC]
        return all(h == j or a <= done[h] for h, a in enumerate(p.A))

    def _advance(self) -> Moved:
        """The receipt action (2): PACK to its end, then ACK to its end."""
        packed: list[tuple[int, Pdu]] = []
        acked: list[tuple[int, Pdu]] = []
        more = bool(self.risen)
        while more:
            more = False
            for rpl, ppl in zip(self.RPL, self.PPL, strict=True):
                while rpl and self._packs(rpl[0][1]):
                    entry = rpl.pop(0)
                    ppl.append(entry)
                    packed.append(entry)
                    self.packed[self.rank[entry[1].SRC]] = entry[1].SEQ + 1
                    more = True
        more = bool(self.risen)
        while more:
            more = False
            for ppl in self.PPL:
                while ppl and self._acks(ppl[0][1]):
                    entry = ppl.pop(0)
                    acked.append(entry)
                    self.acked[self.rank[entry[1].SRC]] = entry[1].SEQ + 1
                    more = True
        self.risen.clear()
        return Moved([p for _, p in sorted(packed, key=_arrival)], [p for _, p in sorted(acked, key=_arrival)])


def _arrival(entry: tuple[int, Pdu]) -> int:
    return entry[0]


def _copy(value: object) -> object:
    if isinstance(value, list):
        return [_copy(item) for item in value]
    return set(value) if isinstance(value, set) else value


def may_send(seq: int, least: int, window: int, free: int, c: int, n: int) -> bool:
    """The flow condition: minAL <= SEQ < minAL + min(W, minF / (C n^2)), exactly, without rounding.

    >>> may_send(seq=38, least=35, window=10, free=28, c=2, n=2)  # 28/8 is 3.5, and a fourth PDU fits
    True
    """
    return 0 <= seq - least < window and (seq - least) * c * n * n < free
