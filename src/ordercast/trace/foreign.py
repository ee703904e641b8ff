"""Logs from anywhere: JSON lines, one event each, to traces; in bounded memory, whatever the number of lines.

`docs/trace.md` states the format.  Rows of all runs share one buffer; when it is full, each run in it gets a part.
"""

import math
import os
import shutil
import struct
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np

from ordercast.trace.columns import (
    BROADCAST,
    CRASH,
    CUT,
    DELIVER,
    LEAVE,
    PACKING,
    ROW,
    VIEW,
    WITHDRAW,
    Member,
    RunInfo,
    Status,
    Trace,
)
from ordercast.trace.files import SUFFIX, find_runs, write_trace

EVENTS = ("broadcast", "deliver", "crash", "cut", "leave", "view", "withdraw", "member")
_LAST: Mapping[str, tuple[int, Status]] = {
    "crash": (CRASH, "crashed"),
    "cut": (CUT, "cut"),
    "leave": (LEAVE, "crashed"),
}
_BUFFER_ROWS = 1 << 19
_ROW_BYTES = ROW.itemsize

_Name = str | int
_Number = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
_FIELDS: Mapping[str, tuple[Any, Any]] = {  # of a line: type, and default (...: it must be there)
    "run": (_Name, "log"),
    "member": (_Name, ...),
    "kind": (str, ...),
    "origin": (_Name | None, None),
    "n": (_Number | None, None),
    "to": (list[_Name] | None, None),
    "time": (float | None, None),
    "members": (list[_Name] | None, None),
    "count": (_Number | None, None),
}


class LogUnreadable(ValueError):
    """A line is not an event; the message names the file, the line and what is wrong."""


class LogMapping(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a foreign log names things: ours -> theirs.  In a TOML file: tables `fields` and `kinds`, and the others."""

    fields: Mapping[str, str] = {}
    kinds: Mapping[str, str] = {}
    others: Literal["refuse", "ignore"] = "refuse"  # events of kinds that have no name here
    first: int = 0  # the number of an origin's first message
    time_unit: float = 1.0  # seconds

    @classmethod
    def of(cls, path: Path | str | None, pairs: Iterable[str]) -> "LogMapping":
        """From a TOML file, if there is one, and from `field=theirs` or `kind.broadcast=theirs`, which win."""
        try:
            found = cls() if path is None else msgspec.toml.decode(Path(path).read_bytes(), type=cls)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{path}: {error}") from None
        fields, kinds = dict(found.fields), dict(found.kinds)
        for pair in pairs:
            ours, equals, theirs = pair.partition("=")
            if not (equals and theirs):
                raise ValueError(f"{pair!r} is not of the form field=theirs")
            if ours.startswith("kind."):
                kinds[ours.removeprefix("kind.")] = theirs
            else:
                fields[ours] = theirs
        for name, known in [(name, tuple(_FIELDS)) for name in fields] + [(name, EVENTS) for name in kinds]:
            if name not in known:
                raise ValueError(f"a mapping names {name!r}; there are: {', '.join(known)}")
        return msgspec.structs.replace(found, fields=fields, kinds=kinds)


class Imported(msgspec.Struct):
    """What an import made."""

    lines: int
    runs: list[str]
    unheard: list[tuple[str, str]]  # (run, member) named by others, without a line of its own: counted as cut


class _Party:
    """A member while its lines are read."""

    __slots__ = ("delivered", "heard", "index", "name", "status")

    def __init__(self, name: str, index: int) -> None:
        self.name, self.index = name, index
        self.delivered = 0
        self.heard = False  # it has a line of its own
        self.status: Status = "correct"


class _Run:
    """A run while its lines are read: its tables, and how much of it is written."""

    def __init__(self, name: str, index: int) -> None:
        self.name, self.index = name, index
        self.members: list[_Party] = []
        self.by_name: dict[_Name, _Party] = {}  # 1 and "1" are one name
        self.sets: dict[tuple[int, ...], int] = {}
        self.timed = True
        self.parts = 0
        self.written: RunInfo | None = None

    def member(self, name: _Name) -> _Party:
        found = self.by_name.get(name) or self.by_name.get(str(name))
        if found is None:
            found = _Party(str(name), len(self.members))
            self.members.append(found)
        self.by_name[name] = self.by_name[found.name] = found
        return found

    def set_index(self, names: Iterable[_Name]) -> int:
        return self.sets.setdefault(tuple(sorted({self.member(name).index for name in names})), len(self.sets))

    def info(self, common_clock: bool) -> RunInfo:
        return RunInfo(
            run=self.name,
            members=[Member(party.name, party.status if party.heard else "cut") for party in self.members],
            sets=[list(some) for some in self.sets],
            common_clock=common_clock and self.timed,
            provenance={"source": "import-log"},
        )


class _Rows:
    """The rows of all runs that are not yet in a file."""

    def __init__(self, directory: Path, common_clock: bool) -> None:
        self.directory, self.common_clock = directory, common_clock
        self.runs: dict[_Name, _Run] = {}
        self.listed: list[_Run] = []
        self.buffer = bytearray(_BUFFER_ROWS * _ROW_BYTES)
        self.owners = np.zeros(_BUFFER_ROWS, dtype=np.int32)
        self.count = 0
        self.pack = struct.Struct(PACKING).pack_into

    def run(self, name: _Name) -> _Run:
        found = self.runs.get(name)
        if found is None:
            found = self.runs.get(str(name))
            if found is None:
                if not str(name):
                    raise LogUnreadable("a run has a name")
                found = _Run(str(name), len(self.listed))
                self.listed.append(found)
            self.runs[name] = self.runs[found.name] = found
        return found

    def row(self, run: _Run, time: float, position: int, member: int, to: int, origin: int, n: int, kind: int) -> None:
        count = self.count
        self.pack(self.buffer, count * _ROW_BYTES, time, position, member, to, origin, n, 0, -1, -1, kind, 0)
        self.owners[count] = run.index
        self.count = count + 1
        if self.count == _BUFFER_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write a part of every run that has rows here."""
        if not self.count:
            return
        rows = np.frombuffer(self.buffer, dtype=ROW, count=self.count)
        owners = self.owners[: self.count]
        order = np.argsort(owners, kind="stable")
        begins = np.flatnonzero(np.diff(owners[order], prepend=-1))
        for begin, end in zip(begins, [*begins[1:], self.count], strict=True):
            self.part(self.listed[owners[order[begin]]], rows[order[begin:end]])
        self.count = 0

    def part(self, run: _Run, rows: Any) -> None:
        run.written = run.info(self.common_clock)
        write_trace(Trace(run.written, rows), self.directory, run.parts)
        run.parts += 1

    def finish(self) -> None:
        """Every run's last part has its tables as they ended."""
        self.flush()
        for run in self.listed:
            if run.written != run.info(self.common_clock):
                self.part(run, np.empty(0, dtype=ROW))


def import_logs(
    files: Iterable[Path | str],
    out: Path | str,
    mapping: LogMapping | None = None,
    common_clock: bool = False,
    progress: Callable[[int], None] = lambda lines: None,
) -> Imported:
    """Make traces of logs.  Runs of the same names that `out` holds are replaced; on an error nothing is changed.

    The order of a member's lines, over the files in their order, is the order of its events.
    """
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    scratch = out.absolute().parent / f".{out.name}.{os.getpid()}.tmp"
    scratch.mkdir()
    try:
        rows = _Rows(scratch, common_clock)
        lines = sum(_read(Path(file), rows, mapping or LogMapping(), progress) for file in files)
        if not lines:
            raise LogUnreadable("the log has no event")
        rows.finish()
        _move(scratch, out)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    unheard = [(run.name, party.name) for run in rows.listed for party in run.members if not party.heard]
    return Imported(lines, [run.name for run in rows.listed], unheard)


def _read(path: Path, rows: _Rows, mapping: LogMapping, progress: Callable[[int], None]) -> int:
    """Take every line of a file; return how many events it had."""
    kinds = {mapping.kinds.get(kind, kind): kind for kind in EVENTS}
    decode = msgspec.json.Decoder(_line_type(mapping)).decode
    taken = number = 0
    try:
        with path.open("rb") as file:
            for number, text in enumerate(file, 1):
                if text.isspace():
                    continue
                try:
                    line = decode(text)
                    if (kind := kinds.get(line.kind)) is None:
                        raise LogUnreadable(f"no event is called {line.kind!r}; there are: {', '.join(kinds)}")
                    _take(rows, line, kind, mapping)
                except (LogUnreadable, msgspec.ValidationError):
                    if mapping.others == "ignore" and _is_other(text, mapping, kinds):
                        continue
                    raise
                taken += 1
                if not number % 100_000:
                    progress(100_000)
    except OSError as error:
        raise LogUnreadable(f"{path}: {error.strerror}") from None
    except (LogUnreadable, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise LogUnreadable(f"{path}:{number}: {error}") from None
    return taken


def _line_type(mapping: LogMapping) -> type[Any]:
    """What a line decodes to, under the names of the foreign log."""
    fields = [(name, kind, *([] if default is ... else [default])) for name, (kind, default) in _FIELDS.items()]
    return msgspec.defstruct("Line", fields, kw_only=True, gc=False, rename=dict(mapping.fields))


def _is_other(text: bytes, mapping: LogMapping, kinds: Mapping[str, str]) -> bool:
    """The line is of a kind that has no name here."""
    field = mapping.fields.get("kind", "kind")
    line = msgspec.json.decode(text)
    return isinstance(line, dict) and line.get(field) not in kinds


def _take(rows: _Rows, line: Any, kind: str, mapping: LogMapping) -> None:
    """One event."""
    run = rows.run(line.run)
    party = run.member(line.member)
    if party.status != "correct":
        raise LogUnreadable(f"member {party.name} goes on after its last line ({party.status})")
    party.heard = True
    time = line.time
    if time is None:
        run.timed, time = False, math.nan
    else:
        time *= mapping.time_unit
    if kind in ("broadcast", "deliver"):
        if line.origin is None or line.n is None:
            raise LogUnreadable(f"a {kind} has an origin and a number n")
        origin, n, to = run.member(line.origin), line.n - mapping.first, -1
        if n < 0:
            raise LogUnreadable(f"the number {line.n} is below that of the first message, {mapping.first}")
        if line.to is not None:
            to = run.set_index(line.to)
        if kind == "deliver":
            rows.row(run, time, party.delivered, party.index, to, origin.index, n, DELIVER)
            party.delivered += 1
        elif origin is party:
            rows.row(run, time, -1, party.index, to, origin.index, n, BROADCAST)
        else:
            raise LogUnreadable(f"member {party.name} cannot broadcast a message of {origin.name}")
    elif kind == "view":
        if line.members is None:
            raise LogUnreadable("a view has members")
        rows.row(run, time, -1, party.index, run.set_index(line.members), -1, 0, VIEW)
    elif kind == "withdraw":
        if line.count is None or line.count > party.delivered:
            raise LogUnreadable(f"a withdraw has a count, of at most the {party.delivered} deliveries there are")
        rows.row(run, time, party.delivered, party.index, -1, -1, line.count, WITHDRAW)
        party.delivered -= line.count
    elif kind in _LAST:
        event, party.status = _LAST[kind]
        rows.row(run, time, -1, party.index, -1, -1, 0, event)


def _move(scratch: Path, out: Path) -> None:
    """Put the finished files in place of what `out` has under the same names."""
    before = {Path(run).name: parts for run, parts in find_runs(out).items()}
    for run, parts in find_runs(scratch).items():
        name = Path(run).name
        for stale in before.get(name, ()):
            if stale.parent == out:
                stale.unlink()
        for part in parts:
            os.replace(part, out / (part.name if len(parts) > 1 else name + SUFFIX))
