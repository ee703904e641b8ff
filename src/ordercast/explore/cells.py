"""One member of a world as a value, and what each event makes of it: computed once, remembered for all worlds.

A process is deterministic and local, so what an event does depends on nothing but the member's own state.  Worlds are
tuples of numbers that stand for cells and frames; the processes themselves run once per (cell, event).
"""

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, TypeAlias

import msgspec

from ordercast.core import Message, Pid, Process, Reached, Time

Event: TypeAlias = tuple[Any, ...]  # ("receive", frame), ("expire", timer), ("ask",), ("clear",), ("crash",)
Entry: TypeAlias = tuple[Any, ...]  # of a log, as `History.from_logs` takes them

DRAWS = (0.0, 0.5)  # what `random` may return: each draw is a choice


class Frame(NamedTuple):
    """A copy on its way."""

    src: Pid
    to: Pid
    message: Message


class Face(NamedTuple):
    """What can be judged of a member: what its application saw, what reached it, what it claims to be stable."""

    dead: bool
    log: tuple[Entry, ...]
    held: frozenset[tuple[Pid, int]]  # broadcasts of which it has made or received a copy
    stable: frozenset[tuple[Pid, int]]  # (origin, below)


NOTHING = Face(False, (), frozenset(), frozenset())


class Cell(NamedTuple):
    """A member: its process and what the world keeps for it."""

    me: Pid
    process: Process | None  # None: crashed
    face: Face
    timers: tuple[Hashable, ...]  # armed
    waiting: tuple[bytes, ...]  # broadcasts that it was not ready for
    untaken: bool  # it is to be told `clear`, some time


class Reaction(NamedTuple):
    """What one event led to: the cell after it, and the frames sent."""

    cell: int
    frames: tuple[int, ...]
    draws: tuple[int, ...]  # which of DRAWS each call of `random` got
    broken: str | None  # what the process did that no process may


class CellPort:
    """The port of a process in a cell: it notes what the process asks for."""

    def __init__(self, cell: Cell, members: Sequence[Pid], script: tuple[int, ...], own_by_channel: bool) -> None:
        self.me, self.others = cell.me, tuple(p for p in members if p != cell.me)
        self.members, self.own_by_channel = members, own_by_channel
        self.log = list(cell.face.log)
        self.held, self.stable = set(cell.face.held), dict(cell.face.stable)
        self.timers = set(cell.timers)
        self.frames: list[Frame] = []
        self.own: deque[Message] = deque()
        self.waiting: tuple[bytes, ...] = ()
        self.script, self.drawn = script, 0
        self.untaken = cell.untaken

    def send(self, to: Pid, message: Message, /) -> None:
        self.multicast(message, (to,))

    def multicast(self, message: Message, to: Sequence[Pid] | None = None, /) -> None:
        for p in self.others if to is None else to:
            if p == self.me and not self.own_by_channel:
                self.own.append(message)
            elif p in self.members:
                self.frames.append(Frame(self.me, p, message))
                self.untaken = True

    def deliver(self, origin: Pid, n: int, payload: bytes, /) -> None:
        assert payload == payload_of(origin, n), f"delivers as ({origin}, {n}) what was not broadcast as that"
        self.log.append(("deliver", str(origin), n))

    def withdraw(self, count: int, /) -> None:
        self.log.append(("withdraw", count))

    def view(self, members: Sequence[Pid], /) -> None:
        self.log.append(("view", tuple(map(str, members))))

    def reach(self, level: Reached, origin: Pid, below: int, /) -> None:
        if level == "stable" and below > self.stable.get(origin, 0):
            self.stable[origin] = below

    def suspect(self, member: Pid, /) -> None:
        pass

    def set_timer(self, name: Hashable, after: Time, /) -> None:
        self.timers.add(name)

    def cancel_timer(self, name: Hashable, /) -> None:
        self.timers.discard(name)

    def random(self) -> float:
        choice = self.script[self.drawn] if self.drawn < len(self.script) else 0
        self.drawn += 1
        return DRAWS[choice]

    def room(self) -> int:
        return 1 << 16

    def cost(self, to: Pid, /) -> float:
        return 1.0

    def now(self) -> Time:
        return 0.0


def payload_of(origin: Pid, n: int) -> bytes:
    """What a member's n-th broadcast says."""
    return b"%d.%d" % (origin, n)


def run(cell: Cell, event: Event, port: CellPort) -> Process | None:
    """Let the member of a cell live through an event, and through its own copies after it; return the process."""
    assert cell.process is not None
    if event[0] == "crash":
        return None
    process = cell.process.copy(port)
    waiting = list(cell.waiting)
    match event:
        case ("start",):
            process.start()
        case ("receive", Frame() as frame):
            _hold(port, frame.message)
            process.receive(frame.src, frame.message)
        case ("expire", timer):
            port.timers.discard(timer)
            process.expire(timer)
        case ("clear",):
            port.untaken = False
            process.clear()
        case ("ask",):
            n = sum(entry[0] == "broadcast" for entry in port.log)
            port.log.append(("broadcast", str(cell.me), n))
            port.held.add((cell.me, n))
            waiting.append(payload_of(cell.me, n))
    _pump(process, waiting)
    while port.own:
        message = port.own.popleft()
        _hold(port, message)
        process.receive(cell.me, message)
        _pump(process, waiting)
    port.waiting = tuple(waiting)
    return process


def _hold(port: CellPort, message: Message) -> None:
    if message.carries == "payload":
        port.held.add(message.about())


def _pump(process: Process, waiting: list[bytes]) -> None:
    while waiting and process.ready():
        process.broadcast(waiting.pop(0))


class Cells:
    """The cells and frames met so far, by number, and the reactions worked out."""

    def __init__(self, make: Callable[[Pid, Any], Process], members: Sequence[Pid], own_by_channel: bool) -> None:
        self.members, self.own_by_channel = tuple(members), own_by_channel
        self.make = make
        self.cells: list[Cell] = []
        self.faces: list[int] = []  # per cell: the number of its face
        self.frames: list[Frame] = []
        self._cell_numbers: dict[Hashable, int] = {}
        self._face_numbers: dict[Face, int] = {}
        self._frame_numbers: dict[Frame, int] = {}
        self._reactions: dict[tuple[int, Event], tuple[Reaction, ...]] = {}

    def born(self, me: Pid) -> tuple[Reaction, ...]:
        """A member's first cells: its process made and started."""
        unborn = Cell(me, None, NOTHING, (), (), False)
        cell = unborn._replace(process=self.make(me, CellPort(unborn, self.members, (), False)))
        return self._work_out(cell, ("start",))

    def react(self, cell: int, event: Event) -> tuple[Reaction, ...]:
        """What an event makes of a cell: one reaction, or several where the process draws."""
        found = self._reactions.get((cell, event))
        if found is None:
            full = ("receive", self.frames[event[1]]) if event[0] == "receive" else event
            found = self._reactions[cell, event] = self._work_out(self.cells[cell], full)
        return found

    def _work_out(self, cell: Cell, event: Event) -> tuple[Reaction, ...]:
        reactions: list[Reaction] = []
        script: tuple[int, ...] | None = ()
        while script is not None:
            port = CellPort(cell, self.members, script, self.own_by_channel)
            broken = None
            try:
                process = run(cell, event, port)
            except Exception as error:  # of the protocol under test: a finding, told with the way to it
                process, broken = None, f"member {cell.me}: {type(error).__name__}: {error}"
            script = script + (0,) * (port.drawn - len(script))
            reactions.append(self._reaction(cell, process, port, script, broken))
            while script and script[-1] == len(DRAWS) - 1:
                script = script[:-1]
            script = (*script[:-1], script[-1] + 1) if script else None
        return tuple(reactions)

    def _reaction(
        self, cell: Cell, process: Process | None, port: CellPort, draws: tuple[int, ...], broken: str | None
    ) -> Reaction:
        face = Face(process is None, tuple(port.log), frozenset(port.held), frozenset(port.stable.items()))
        timers = tuple(sorted(port.timers, key=repr)) if process is not None else ()
        waiting = port.waiting if process is not None else ()
        untaken = process is not None and process.composes_late and port.untaken
        after = Cell(cell.me, process, face, timers, waiting, untaken)
        state = None if process is None else freeze(process)
        key = (cell.me, state, face, timers, waiting, untaken)
        number = self._cell_numbers.setdefault(key, len(self.cells))
        if number == len(self.cells):
            self.cells.append(after)
            self.faces.append(self._face_numbers.setdefault(face, len(self._face_numbers)))
        return Reaction(number, tuple(map(self._frame, port.frames)), draws, broken)

    def _frame(self, frame: Frame) -> int:
        number = self._frame_numbers.setdefault(frame, len(self.frames))
        if number == len(self.frames):
            self.frames.append(frame)
        return number


def freeze(value: Any) -> Hashable:
    """A hashable value that is equal for equal state.  The order of a dict counts, for a protocol may go by it."""
    kind = type(value)
    if kind in (int, float, bool, str, bytes, type(None), frozenset):
        return value  # type: ignore[no-any-return]
    if kind is tuple:
        return tuple(map(freeze, value))
    if isinstance(value, list | deque):
        return ("list", *map(freeze, value))
    if isinstance(value, dict):
        return ("dict", *((freeze(key), freeze(item)) for key, item in value.items()))
    if kind is set:
        return ("set", frozenset(map(freeze, value)))
    if isinstance(value, msgspec.Struct) and value.__struct_config__.frozen:
        return value
    if callable(value):
        raise TypeError(f"the state of a process holds {value!r}, which cannot be compared")
    fields = {name: item for name, item in getattr(value, "__dict__", {}).items() if name != "port"}
    for base in kind.__mro__:
        for name in getattr(base, "__slots__", ()):
            if name != "port" and hasattr(value, name):
                fields[name] = getattr(value, name)
    if isinstance(value, msgspec.Struct):
        fields = msgspec.structs.asdict(value)
    return (kind.__name__, *((name, freeze(fields[name])) for name in sorted(fields)))
