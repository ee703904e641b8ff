"""The performance model of MMA III.D: closed forms, and the same by Total's own partial order and voting.

The model: every processor is equally likely to broadcast next, every message is received by all, and each acknowledges
the one immediately before it.  A message then has its place as soon as N_d - 1 other processors have spoken after it.
Its own sender may speak again, which helps nothing.
"""

from heapq import heappop, heappush
from typing import NamedTuple

import msgspec

from ordercast.parts.partial_order import Id, PartialOrder
from ordercast.parts.voting import Voting
from ordercast.sim.streams import exponential, stream


class Group(NamedTuple):
    """`voters` of the `n` processors on the bus agree among themselves, `k` of them perhaps faulty."""

    voters: int
    k: int
    n: int

    def label(self) -> str:
        inside = f" of {self.n}" if self.voters < self.n else ""
        return f"{self.voters}{inside}, k = {self.k}"

    def others(self) -> int:
        """How many other processors must speak: N_d without the sender."""
        return Voting(self.voters, self.k).decide_at - 1


def undecided(group: Group, messages: int) -> list[float]:
    """The probability that a message has no place yet after 0, 1, ... further messages."""
    needed = group.others()
    heard = [1.0] + [0.0] * needed  # probability that so many others have spoken; the last is absorbing
    out = [1.0 - heard[needed]]
    for _ in range(messages):
        for already in range(needed, 0, -1):
            new = (group.voters - already) / group.n  # one of those that had not spoken among `already - 1`
            stay = 1.0 if already == needed else 1.0 - (group.voters - 1 - already) / group.n
            heard[already] = heard[already] * stay + heard[already - 1] * new
        heard[0] *= 1.0 - (group.voters - 1) / group.n
        out.append(sum(heard[:needed]))
    return out


def mean_delay(group: Group) -> float:
    """The expected number of further messages."""
    return sum(group.n / (group.voters - 1 - already) for already in range(group.others()))


class Talk(msgspec.Struct, frozen=True, kw_only=True):
    """A point of Figs 5 and 6: so many messages on the bus."""

    voters: int
    k: int
    n: int
    messages: int
    seed: int

    def group(self) -> Group:
        return Group(self.voters, self.k, self.n)


class Receiver:
    """A processor that receives every message: its partial order and its votes."""

    def __init__(self, voters: int, k: int) -> None:
        self.order, self.voting = PartialOrder(range(voters)), Voting(voters, k)
        self.numbers = [0] * voters
        self.before: tuple[Id, ...] = ()

    def hear(self, source: int) -> tuple[Id, list[Id]]:
        """A message that acknowledges the one before it; its name, and those that have their place by it."""
        id = (source, self.numbers[source])
        self.numbers[source] += 1
        entered = self.order.receive(id, self.before, ())
        self.before = (id,)
        return id, [placed for extension in self.voting.enter(entered) for placed in extension.ids]


def delays(talk: Talk) -> list[int]:
    """How many messages had their place after 0, 1, ... further ones, by the voting."""
    random = stream(talk.seed, f"talk {talk.voters} {talk.k} {talk.n}").random
    receiver = Receiver(talk.voters, talk.k)
    spoken: dict[Id, int] = {}
    counts: list[int] = []
    for now in range(talk.messages):
        source = int(random() * talk.n)
        if source >= talk.voters:
            continue  # not of the group: ignored
        id, placed = receiver.hear(source)
        spoken[id] = now
        for each in placed:
            late = now - spoken.pop(each)
            counts.extend([0] * (late + 1 - len(counts)))
            counts[late] += 1
    return counts


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """A point of Fig. 7: requests per second of the whole group, over a bus that takes `slot` seconds for a message.

    `null_every`: a processor that was silent for so long broadcasts a null message; 0: it never does.
    """

    n: int
    k: int
    rate: float
    null_every: float
    messages: int
    seed: int
    slot: float = 0.001


def agreement_s(n: int, k: int, rate: float, slot: float = 0.001) -> float:
    """The mean time from a request to its place, without null messages: waiting for the bus (M/D/1), its own slot, and
    the further messages at the rate at which they come."""
    busy = rate * slot
    return busy * slot / (2 * (1 - busy)) + slot + mean_delay(Group(n, k, n)) / rate


def agreements(load: Load) -> dict[str, float]:
    """The mean time to agreement, and how many messages the bus carried for each, by the voting."""
    random = stream(load.seed, f"load {load.rate} {load.null_every}").random
    receiver = Receiver(load.n, load.k)
    # (time, processor, whether it is a request); a null message is due unless the processor has spoken meanwhile.
    due = [(exponential(random(), load.n / load.rate), p, True) for p in range(load.n)]
    if load.null_every:
        due += [(load.null_every * (p + 1) / load.n, p, False) for p in range(load.n)]
    due.sort()
    last = [0.0] * load.n  # when each spoke last
    asked: dict[Id, float] = {}
    times: list[float] = []
    free = 0.0
    frames = 0
    while len(times) < load.messages:
        now, source, request = heappop(due)
        if request:
            heappush(due, (now + exponential(random(), load.n / load.rate), source, True))
        elif now < last[source] + load.null_every:
            heappush(due, (last[source] + load.null_every, source, False))
            continue
        else:
            heappush(due, (now + load.null_every, source, False))
        free = last[source] = max(free, now) + load.slot
        frames += 1
        id, placed = receiver.hear(source)
        if request:
            asked[id] = now
        times += [free - asked.pop(each) for each in placed if each in asked]
    steady = times[len(times) // 10 :]
    return {"delay_s": sum(steady) / len(steady), "messages_per_agreement": frames / len(times)}
