"""A log of messages that acknowledge one another: its partial order, the votes, and the extensions of the total order.

What `ordercast order LOG.json` prints (MMA II.C, III.A).  A log is JSON: `n`, `k`, `processors`, `messages` with the
acknowledgments `acks` and `nacks` that each carries, and `views`, what each processor received in which order.  A
message is called by its processor and its number from 1: `A3`.  Other fields are ignored.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ordercast.parts.partial_order import Entry, Id, PartialOrder
from ordercast.parts.voting import Extension, Poll, Vote, Voting

EVERYTHING = "*"  # the observer that receives all messages, in the order of the log


class Acknowledgments(msgspec.Struct):
    acks: list[str] = []
    nacks: list[str] = []


class Log(msgspec.Struct):
    """The file.  Without `k` it is the largest below n/3; without views only the observer of everything is there."""

    processors: list[str]
    messages: dict[str, Acknowledgments]
    k: int | None = None
    views: dict[str, list[str]] = {}

    def resilience(self) -> int:
        return (len(self.processors) - 1) // 3 if self.k is None else self.k

    def view(self, processor: str) -> list[str]:
        if processor == EVERYTHING:
            return list(self.messages)
        if processor not in self.views:
            raise ValueError(f"the log has no processor {processor!r}; it has: {', '.join([*self.views, EVERYTHING])}")
        return self.views[processor]


class Extended(msgspec.Struct):
    """One extension: the set, the stage that decided, how many messages had been received, and the votes on the set."""

    rx: int
    set: list[str]
    stage: int
    votes: list[tuple[str, int, bool]]  # (message, stage, for the set)


class Replay(msgspec.Struct):
    """What one processor makes of a log."""

    processor: str
    included: list[str]  # in an order that respects the partial order
    received_not_included: list[str]
    follows: dict[str, list[str]]  # by message: those included that it follows
    extensions: list[Extended]
    total_order: list[str]
    candidates_left: list[str]
    votes_left: list[tuple[str, list[str], int, bool]]  # (message, candidate set, stage, for it), undecided as yet


def read_log(text: bytes | str) -> Log:
    """A log from its JSON; `ValueError` says what is wrong."""
    try:
        log = msgspec.json.decode(text, type=Log)
    except msgspec.DecodeError as error:
        raise ValueError(f"not a message log: {error}") from None
    names = _Names(log.processors)
    for name, carried in log.messages.items():
        for each in (name, *carried.acks, *carried.nacks):
            names.id(each)
    for processor, view in log.views.items():
        for name in view:
            if name not in log.messages:
                raise ValueError(f"{processor} received {name}, which is not among the messages")
    Voting(len(log.processors), log.resilience())
    return log


def replay(log: Log, processor: str = EVERYTHING) -> Replay:
    """Receive one view, message by message; after each, extend the total order until nothing changes."""
    names, view = _Names(log.processors), log.view(processor)
    order = PartialOrder(range(len(log.processors)), lets_go=False)
    voting = _Told(len(log.processors), log.resilience())
    entries: dict[str, Entry] = {}
    extensions = []
    for received, name in enumerate(view, 1):
        carried = log.messages[name]
        entered = order.receive(names.id(name), names.ids(carried.acks), names.ids(carried.nacks))
        entries.update((names.name(entry.id), entry) for entry in entered)
        for extension, votes in zip(voting.enter(entered), voting.told(), strict=True):
            told = [(names.name(vote.id), vote.stage, vote.favour) for vote in votes]
            extensions.append(Extended(received, names.of(extension.ids), extension.stage, told))
    return Replay(
        processor=processor,
        included=list(entries),
        received_not_included=sorted({*view} - {*entries}),
        follows={c: sorted(b for b in entries if b != c and entries[c].follows(entries[b])) for c in entries},
        extensions=extensions,
        total_order=[name for extension in extensions for name in extension.set],
        candidates_left=names.of(voting.candidate_ids()),
        votes_left=[(names.name(v.id), names.of(sorted(v.chosen)), v.stage, v.favour) for v in voting.votes()],
    )


class _Told(Voting):
    """A voting that remembers the votes by which each extension was decided."""

    def __init__(self, n: int, resilience: int) -> None:
        super().__init__(n, resilience)
        self._votes: list[list[Vote]] = []

    def extend(self, poll: Poll, stage: int) -> Extension:
        votes = list(self.votes())
        extension = super().extend(poll, stage)
        self._votes.append([vote for vote in votes if vote.chosen == frozenset(extension.ids)])
        return extension

    def told(self) -> list[list[Vote]]:
        votes, self._votes = self._votes, []
        return votes


class _Names:
    """`A3` is the third message of the processor `A`."""

    def __init__(self, processors: Sequence[str]) -> None:
        self.processors = processors
        self.index: Mapping[str, int] = {name: k for k, name in enumerate(processors)}

    def id(self, name: str) -> Id:
        match = re.fullmatch(r"(.*\D)([1-9]\d*)", name)
        if match is None or match[1] not in self.index:
            there = ", ".join(self.processors)
            raise ValueError(f"{name!r} is not a processor and a number from 1; processors: {there}")
        return self.index[match[1]], int(match[2]) - 1

    def ids(self, names: Iterable[str]) -> list[Id]:
        return [self.id(name) for name in names]

    def name(self, id: Id) -> str:
        return f"{self.processors[id[0]]}{id[1] + 1}"

    def of(self, ids: Iterable[Id]) -> list[str]:
        return [self.name(id) for id in ids]


def text(replayed: Replay) -> str:
    """A replay for a reader: the partial order, the extensions with their votes, and what is open."""
    everything = replayed.processor == EVERYTHING
    lines = ["Everything received" if everything else f"Processor {replayed.processor}", "  partial order"]
    nearest = covers(replayed)
    lines += [f"    {c} follows {', '.join(nearest[c]) or 'nothing'}" for c in replayed.included]
    if replayed.received_not_included:
        lines.append(f"    received, antecedents missing: {', '.join(replayed.received_not_included)}")
    lines.append("  extensions of the total order")
    for number, each in enumerate(replayed.extensions, 1):
        lines.append(f"    {number}. {{{', '.join(each.set)}}} in stage {each.stage}, after {each.rx} received")
        lines += [f"         {line}" for line in _votes([(m, stage, favour) for m, stage, favour in each.votes])]
    lines.append(f"  total order: {' '.join(replayed.total_order) or 'nothing yet'}")
    lines.append(f"  candidates left: {', '.join(replayed.candidates_left) or 'none'}")
    for chosen in dict.fromkeys(tuple(vote[1]) for vote in replayed.votes_left):
        lines.append(f"    {{{', '.join(chosen)}}}")
        votes = [(m, stage, favour) for m, of, stage, favour in replayed.votes_left if tuple(of) == chosen]
        lines += [f"         {line}" for line in _votes(votes)]
    return "\n".join(lines)


def _votes(votes: Sequence[tuple[str, int, bool]]) -> list[str]:
    lines = []
    for stage in dict.fromkeys(stage for _, stage, _ in votes):
        favour = " ".join(m for m, at, is_for in votes if at == stage and is_for) or "-"
        against = " ".join(m for m, at, is_for in votes if at == stage and not is_for) or "-"
        lines.append(f"stage {stage}: for {favour}; against {against}")
    return lines


def covers(replayed: Replay) -> dict[str, list[str]]:
    """The partial order without what follows from it by transitivity: what Figs 2-4 draw."""
    out = {}
    for c, before in replayed.follows.items():
        further = {a for b in before for a in replayed.follows[b]}
        out[c] = [b for b in before if b not in further]
    return out


def dot(log: Log, replayed: Replay) -> str:
    """The partial order as a drawing for Graphviz, in the manner of Figs 1-4.

    One row for each processor; arrows to what a message follows next; crossed lines to what it lacked; a message that
    has its place in the total order is filled, and says at which extension it got it.
    """
    nearest, names = covers(replayed), _Names(log.processors)
    place = {m: number for number, each in enumerate(replayed.extensions, 1) for m in each.set}
    lines = ["digraph order {", "  rankdir=RL; node [shape=circle]; edge [arrowsize=0.6];"]
    for processor, name in enumerate(log.processors):
        mine = [m for m in replayed.included if names.id(m)[0] == processor]
        lines.append(f"  subgraph processor_{processor} {{ // {name}")
        for m in mine:
            ordered = f'label="{m}\\n{place[m]}", style=filled' if m in place else f'label="{m}"'
            lines.append(f'    "{m}" [group="{name}", {ordered}];')
        lines.append("  }")
    for c in replayed.included:
        lines += [f'  "{c}" -> "{b}";' for b in nearest[c]]
        lacked = [b for b in log.messages[c].nacks if b in replayed.follows]
        lines += [f'  "{c}" -> "{b}" [style=dashed, label="X", arrowhead=none, constraint=false];' for b in lacked]
    return "\n".join([*lines, "}"])
