"""A finding made small and readable: its schedule lived through again, without what it does not need, as a trace."""

from collections.abc import Sequence
from typing import NamedTuple

from ordercast.core import Message, Pid, Reached
from ordercast.explore.cells import NOTHING, Cell, CellPort, Event, Face, Frame, run
from ordercast.explore.search import Explored
from ordercast.explore.worlds import Budget, Worlds
from ordercast.trace import Member, Recorder, Trace
from ordercast.trace.columns import (
    BROADCAST,
    CRASH,
    DELIVER,
    DROP,
    DROPS,
    REACH,
    REACHES,
    RECEIVE,
    SEND,
    TIMER,
    VIEW,
    WITHDRAW,
)


class Move(NamedTuple):
    """A step with frames in full, not as numbers of one search."""

    member: int
    event: Event
    draws: tuple[int, ...]
    lost: tuple[Frame, ...] = ()
    kept: bool = False


class Lived(NamedTuple):
    """What a schedule came to when it was lived through again."""

    moves: tuple[Move, ...]  # those that could be made
    broken: tuple[str, str] | None
    trace: Trace


def counterexample(explored: Explored) -> Lived:
    """The finding of a search, as a schedule from which no event, loss or duplicate can be left out."""
    finding = explored.finding
    if finding is None:
        raise ValueError("nothing was found")
    frames = explored.space.cells.frames
    moves = [
        Move(
            step.member,
            ("receive", frames[step.event[1]]) if step.event[0] == "receive" else step.event,
            step.draws,
            tuple(frames[number] for number in step.lost),
            step.kept,
        )
        for step in finding.steps
    ]
    best = live(explored, moves)
    assert best.broken, "a schedule lived through again comes to the same end"
    smaller = True
    while smaller:
        smaller = False
        for moves in _smaller(best.moves):
            lived = live(explored, moves)
            if lived.broken and lived.broken[0] == best.broken[0]:
                best, smaller = lived, True
                break
    return best


def _smaller(moves: Sequence[Move]) -> "list[list[Move]]":
    """The schedules with one thing less, the largest first."""
    out = [[*moves[:i], *moves[i + 1 :]] for i in reversed(range(len(moves))) if moves[i].event != ("start",)]
    for i, move in enumerate(moves):
        if move.lost or move.kept:
            out.append([*moves[:i], move._replace(lost=(), kept=False), *moves[i + 1 :]])
    return out


def live(explored: Explored, moves: Sequence[Move]) -> Lived:
    """Live through a schedule; what cannot happen (its frame was never sent, its timer not armed) is left out."""
    life = _Life(explored.space)
    made: list[Move] = []
    broken: tuple[str, str] | None = None
    for move in moves:
        if not life.can(move):
            continue
        made.append(move)
        try:
            life.make(move)
        except Exception as error:  # of the protocol under test
            broken = ("process", f"member {move.member}: {type(error).__name__}: {error}")
            break
        broken = explored.judge.always_broken(life.faces())
        if broken is None and life.still():
            lost, kept = sum(len(m.lost) for m in made) + len(life.flight), sum(m.kept for m in made)
            crashes = sum(m.event == ("crash",) for m in made)
            used = Budget(losses=lost, duplicates=kept, crashes=crashes)
            broken = explored.judge.broken_at_the_end(life.faces(), used)
            if broken:
                life.lose_the_rest()
        if broken:
            break
    return Lived(tuple(made), broken, life.trace())


class _Life:
    """One world, lived through move by move and written down; the time is the number of the move."""

    def __init__(self, space: Worlds) -> None:
        self.space, self.members = space, space.cells.members
        self.cells = [Cell(me, None, NOTHING, (), (), False) for me in self.members]
        self.born = 0
        self.flight: list[tuple[Frame, int]] = []  # with the row of its sending
        self.recorder = Recorder()
        self.time = 0

    def can(self, move: Move) -> bool:
        cell = self.cells[move.member]
        match move.event:
            case ("start",):
                return True
            case ("receive", frame):
                return cell.process is not None and self._next(frame, move.lost) is not None
            case ("expire", timer):
                return timer in cell.timers
            case ("clear",):
                return cell.untaken
        return cell.process is not None

    def _next(self, frame: Frame, lost: Sequence[Frame]) -> int | None:
        """Where in the flight that frame is, if it may arrive now that those are lost."""
        lost = list(lost)
        for i, (other, _) in enumerate(self.flight):
            if other == frame and not lost:
                return i
            same_queue = other.to == frame.to and (self.space.channel == "one" or other.src == frame.src)
            if self.space.channel != "any" and same_queue:
                if other not in lost:
                    return None
                lost.remove(other)
        return None

    def make(self, move: Move) -> None:
        p, event = move.member, move.event
        self.time += move.event != ("start",)
        cell = self.cells[p]
        port = _WritingPort(self, cell, move.draws)
        if event == ("start",):
            cell = cell._replace(process=self.space.cells.make(cell.me, port))
            self.born += 1
        elif event == ("ask",):
            n = sum(entry[0] == "broadcast" for entry in cell.face.log)
            port.write(BROADCAST, origin=p, n=n)
        elif event == ("crash",):
            port.write(CRASH)
        elif event[0] == "expire":
            port.write(TIMER, word=event[1][0] if isinstance(event[1], tuple) else event[1])
        elif event[0] == "receive":
            at = self._next(event[1], move.lost)
            assert at is not None, "it was asked before"
            frame, sent = self.flight[at]
            if not move.kept:
                del self.flight[at]
            for gone in move.lost:
                self._lose(next(item for item in self.flight if item[0] == gone))
            port.write(RECEIVE, word=type(frame.message).__name__, about=frame.message, cause=sent)
        process = run(cell, event, port)
        most = self.space.budget.copies + self.space.budget.duplicates
        for item in zip(port.frames, port.sent, strict=True):
            if [frame for frame, _ in self.flight].count(item[0]) < most:
                self.flight.append(item)
        face = Face(process is None, tuple(port.log), frozenset(port.held), frozenset(port.stable.items()))
        timers = tuple(port.timers) if process is not None else ()
        untaken = process is not None and process.composes_late and port.untaken
        self.cells[p] = Cell(cell.me, process, face, timers, port.waiting, untaken)

    def _lose(self, item: tuple[Frame, int]) -> None:
        self.flight.remove(item)
        frame, row = item
        origin, n = frame.message.about()
        word = self.recorder.message_index(type(frame.message).__name__)
        self.recorder.row(float(self.time), 0, frame.to, -1, origin, n, 0, row, word, DROP, DROPS.index("loss"))

    def lose_the_rest(self) -> None:
        """What is under way stays away for good."""
        while self.flight:
            self._lose(self.flight[0])

    def faces(self) -> tuple[Face, ...]:
        return tuple(cell.face for cell in self.cells)

    def still(self) -> bool:
        """As `Worlds.still`, with as many losses as it takes: the search has counted them."""
        waiting = any(cell.timers or cell.untaken for cell in self.cells)
        return self.born == len(self.members) and not waiting and not (self.flight and not self.space.budget.losses)

    def trace(self) -> Trace:
        status = ["crashed" if cell.face.dead else "correct" for cell in self.cells]
        named = [Member(str(me), word) for me, word in zip(self.members, status, strict=True)]  # type: ignore[arg-type]
        return self.recorder.trace("counterexample", named)


class _WritingPort(CellPort):
    """A port that writes down what passes through it."""

    def __init__(self, life: _Life, cell: Cell, draws: tuple[int, ...]) -> None:
        super().__init__(cell, life.members, draws, own_by_channel=life.space.channel == "one")
        self.life = life
        self.cause = -1
        self.sent: list[int] = []  # per frame, the row of its sending

    def write(
        self,
        kind: int,
        word: object = None,
        about: Message | None = None,
        origin: int = -1,
        n: int = 0,
        to: int = -1,
        cause: int | None = None,
        level: int = 0,
    ) -> int:
        """A row; one about this member itself becomes the cause of the rows after it."""
        recorder = self.life.recorder
        if about is not None:
            origin, n = about.about()
        message = -1 if word is None else recorder.message_index(str(word))
        because = self.cause if cause is None else cause
        row = recorder.row(float(self.life.time), 0, self.me, to, origin, n, 0, because, message, kind, level)
        if kind in (BROADCAST, RECEIVE, TIMER):
            self.cause = row
        return row

    def multicast(self, message: Message, to: Sequence[Pid] | None = None, /) -> None:
        before = len(self.frames)
        super().multicast(message, to)
        others = [frame.to for frame in self.frames[before:]]
        if others:
            some = -1 if len(others) == len(self.others) else self.life.recorder.set_index(others)
            row = self.write(SEND, word=type(message).__name__, about=message, to=some)
            self.sent += [row] * len(others)

    def deliver(self, origin: Pid, n: int, payload: bytes, /) -> None:
        super().deliver(origin, n, payload)
        self.write(DELIVER, origin=origin, n=n)

    def withdraw(self, count: int, /) -> None:
        super().withdraw(count)
        self.write(WITHDRAW, n=count)

    def reach(self, level: Reached, origin: Pid, below: int, /) -> None:
        super().reach(level, origin, below)
        self.write(REACH, origin=origin, n=below, level=REACHES.index(level))

    def view(self, members: Sequence[Pid], /) -> None:
        super().view(members)
        self.write(VIEW, to=self.life.recorder.set_index(members))
