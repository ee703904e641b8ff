"""The search: worlds in the order of their distance; the first that breaks a promise is the finding.

Deliveries commute in what they leave behind, so a world is entered once, however it was reached: worlds are compared by
the structure of their processes.  And a world is not entered at all when one was that differs only in having more: more
frames under way, more of the budget.  What it can come to, the other can, for a frame may stay away and a budget need
not be spent; so a frame that changes nothing where it arrives, and a time-out in vain, lead nowhere new.
"""

from collections import deque
from collections.abc import Callable, Collection, Hashable, Mapping
from operator import le
from typing import Any, NamedTuple

from ordercast.core import Contract, Process, parameters_of
from ordercast.explore.cells import Cells, Entry
from ordercast.explore.judge import Broken, Judge
from ordercast.explore.worlds import CRASHES, DUPLICATES, LOSSES, Budget, Channel, Left, Step, World, Worlds

_SILENCE = 100  # worlds; a group at rest has one


class Finding(NamedTuple):
    """A broken promise, and the schedule that leads to it."""

    broken: str  # the property, or "process" for an error raised in one
    witness: str
    steps: tuple[Step, ...]


class Explored(NamedTuple):
    """What a search came to.  `complete`: every world within the budget was visited, and none broke a promise."""

    worlds: int
    events: int  # from world to world
    cells: int  # distinct states of single members
    complete: bool
    finding: Finding | None
    space: Worlds
    judge: Judge
    reached: Collection[World]

    def logs(self) -> set[tuple[tuple[Entry, ...], ...]]:
        """What the members' applications saw, in some world."""
        cells = self.space.cells.cells
        return {tuple(cells[number].face.log for number in world.cells) for world in self.reached}


def explore(
    kind: type[Process],
    members: int = 2,
    budget: Budget | None = None,
    parameters: Mapping[str, Any] | None = None,
    channel: Channel | None = None,
    most_worlds: int | None = None,
    progress: Callable[[int], None] = lambda worlds: None,
) -> Explored:
    """Visit every world of a small group within the budget, or stop at the first that breaks a promise.

    Promised is what the contract says must hold at any moment (order, integrity, what *stable* means) and, where
    nothing can happen any more, that all is delivered.
    """
    budget = budget or Budget()
    channel = channel or channel_of(kind.contract)
    _refuse(kind, members, budget)
    group = tuple(range(members))
    made = parameters_of(kind, parameters or {})
    cells = Cells(lambda me, port: kind(me, group, port, made), group, own_by_channel=channel == "one")
    search = _Search(Worlds(cells, channel, budget), Judge(kind, channel))
    search.run(most_worlds, progress)
    complete = not search.ahead and not search.finding
    return Explored(
        worlds=len(search.came),
        events=search.events,
        cells=len(cells.cells),
        complete=complete,
        finding=search.finding,
        space=search.space,
        judge=search.judge,
        reached=search.came.keys(),
    )


def rests(kind: type[Process], members: int = 2, parameters: Mapping[str, Any] | None = None) -> bool:
    """Whether a group falls silent that nobody asks anything: one that does not has endless worlds without a budget of
    `arrivals`."""
    idle = explore(kind, members, Budget(broadcasts=0), parameters, most_worlds=_SILENCE)
    return idle.complete or idle.finding is not None


class _Search:
    """Breadth first, so that the way to a finding is short."""

    def __init__(self, space: Worlds, judge: Judge) -> None:
        self.space, self.judge = space, judge
        self.came: dict[World, tuple[World | None, list[Step]]] = {}
        self.best: dict[Hashable, list[tuple[int, Left]]] = {}  # worlds that none other can do more than
        self.ahead: deque[World] = deque()
        self.events = 0
        self.finding: Finding | None = None
        self._judged: dict[tuple[Hashable, ...], Broken | None] = {}

    def run(self, most_worlds: int | None, progress: Callable[[int], None]) -> None:
        for world, steps, error in self.space.first():
            self.reach(None, world, steps, error)
        while self.ahead and not self.finding and (most_worlds is None or len(self.came) < most_worlds):
            world = self.ahead.popleft()
            key, frames = self.space.rank(world)
            if (frames, world.left) in self.best[key]:
                for there, step, error in self.space.after(world):
                    self.reach(world, there, [step], error)
            progress(len(self.came))

    def reach(self, before: World | None, world: World, steps: list[Step], error: str | None) -> None:
        """Judge a world, and keep it to go on from, unless one that can do as much is kept already."""
        self.events += 1
        if self.finding:
            return
        broken = ("process", error) if error else self.broken(world)
        if broken:
            self.finding = Finding(*broken, (*self.way(before), *steps))
            return
        if world in self.came:
            return
        key, frames = self.space.rank(world)
        best = self.best.setdefault(key, [])
        for more_frames, more_left in best:
            if not frames & ~more_frames and all(map(le, world.left, more_left)):
                return
        best[:] = [
            (less_frames, less_left)
            for less_frames, less_left in best
            if less_frames & ~frames or not all(map(le, less_left, world.left))
        ]
        best.append((frames, world.left))
        self.came[world] = (before, steps)
        self.ahead.append(world)

    def broken(self, world: World) -> Broken | None:
        """What a world breaks.  Groups of faces recur in many worlds, and are judged once."""
        cells = self.space.cells
        faces = tuple(cells.faces[number] for number in world.cells)
        if faces not in self._judged:
            self._judged[faces] = self.judge.always_broken([cells.cells[number].face for number in world.cells])
        found = self._judged[faces]
        if found is None and self.space.still(world):
            spent = [had - left for had, left in zip(self.space.budget.left(), world.left, strict=True)]
            used = Budget(
                losses=spent[LOSSES] + len(world.flight), duplicates=spent[DUPLICATES], crashes=spent[CRASHES]
            )
            if (faces, used) not in self._judged:
                shown = [cells.cells[number].face for number in world.cells]
                self._judged[faces, used] = self.judge.broken_at_the_end(shown, used)
            found = self._judged[faces, used]
        return found

    def way(self, world: World | None) -> list[Step]:
        """How a world was reached."""
        steps: list[Step] = []
        while world is not None:
            world, last = self.came[world]
            steps = last + steps
        return steps


def channel_of(contract: Contract) -> Channel:
    """The weakest channel that a protocol is made for."""
    channels: tuple[Channel, ...] = ("one", "multi")
    for channel in channels:
        if contract.needs.get("channel") == channel:
            return channel
    return "any" if "reordering" in contract.safe_under else "multi"


def _refuse(kind: type[Process], members: int, budget: Budget) -> None:
    if members < 1:
        raise ValueError("a group has at least one member")
    if min(budget.left()) < 0 or budget.copies < 1:
        raise ValueError("a budget is not negative, and a channel holds a copy")
    for fault, spent in (("loss", budget.losses), ("duplication", budget.duplicates), ("crash", budget.crashes)):
        if spent and fault not in kind.contract.safe_under:
            raise ValueError(f"{kind.name} promises nothing under {fault}, so there is nothing to explore")
