"""Traces as Parquet: one file per run and part, `RUN.trace.parquet` or `RUN.part-K.trace.parquet`.

A live member writes `RUN.member-M.part-K.trace.parquet`, and reading the run merges its members' files.
The rows are the columns of the file; the run's info is JSON in its metadata.  A file appears whole or not at all.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ordercast.trace.columns import FORMAT, ROW, RunInfo, Trace
from ordercast.trace.merge import RECORDED_BY, NotOneRun, merge_members

SUFFIX = ".trace.parquet"
_INFO = b"ordercast.run"
_NAME = re.compile(r"(?P<run>.*?)(\.member-(?P<member>\d+))?(\.part-(?P<part>\d+))?", re.DOTALL)
_SCHEMA = pa.schema([pa.field(name, pa.from_numpy_dtype(ROW[name]), nullable=False) for name in ROW.names or ()])


class TraceUnreadable(ValueError):
    """A file is not a trace that this version can read; the message names it and says why."""


def file_name(run: str, part: int | None = None, member: int | None = None) -> str:
    """The file of a run (or of one part, or one member of it).  A run's name becomes safe for any file system."""
    safe = re.sub(r"^\.|\.(?=(?:part|member)-)|[^A-Za-z0-9_.=,+-]", lambda m: f"%{ord(m[0]):02x}", run)
    whose = "" if member is None else f".member-{member}"
    return safe + whose + ("" if part is None else f".part-{part}") + SUFFIX


def write_trace(trace: Trace, directory: Path | str, part: int | None = None, member: int | None = None) -> Path:
    """Write a run (or a part or member of it); return the path.  Writing again replaces the file with an equal one."""
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / file_name(trace.info.run, part, member)
    columns = [pa.array(np.ascontiguousarray(trace.rows[name])) for name in ROW.names or ()]
    table = pa.Table.from_arrays(columns, schema=_SCHEMA.with_metadata({_INFO: msgspec.json.encode(trace.info)}))
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        pq.write_table(table, unfinished, compression="zstd", compression_level=1)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path


def read_info(path: Path | str) -> RunInfo:
    """The info of a file, without its rows."""
    try:
        metadata = pq.read_schema(path).metadata or {}
    except (OSError, pa.ArrowInvalid) as error:
        raise TraceUnreadable(f"{path}: not a Parquet file ({str(error).splitlines()[0]})") from None
    return _info(path, metadata)


def _info(path: Path | str, metadata: dict[bytes, bytes]) -> RunInfo:
    if _INFO not in metadata:
        raise TraceUnreadable(f"{path}: a Parquet file, but not a trace (no {_INFO.decode()} in its metadata)")
    found = msgspec.json.decode(metadata[_INFO]).get("format")
    if found != FORMAT:
        raise TraceUnreadable(f"{path}: a trace of format {found}; this version reads format {FORMAT}")
    return msgspec.json.decode(metadata[_INFO], type=RunInfo)


def read_trace(path: Path | str, columns: tuple[str, ...] | None = None) -> Trace:
    """Read one file.  With `columns`, only those are read; the other fields of the rows are absent."""
    info = read_info(path)
    names = columns or ROW.names or ()
    _check_schema(path)
    try:
        table = pq.read_table(path, columns=list(names))
    except (OSError, pa.ArrowInvalid) as error:
        raise TraceUnreadable(f"{path}: {str(error).splitlines()[0]}") from None
    rows = np.empty(table.num_rows, dtype=[(name, ROW[name]) for name in names])
    for name in names:
        rows[name] = table.column(name).to_numpy()
    return Trace(info, rows)


def _check_schema(path: Path | str) -> None:
    """Every column is there, with its type; also those that nobody is about to read."""
    found = pq.read_schema(path)
    lacking = [field.name for field in _SCHEMA if field.name not in found.names]
    if lacking:
        raise TraceUnreadable(f"{path}: the trace lacks the column(s) {', '.join(lacking)}")
    for field in _SCHEMA:
        kind = found.field(field.name).type
        if kind != field.type:
            raise TraceUnreadable(f"{path}: the trace's column {field.name} is of type {kind}, not {field.type}")


def read_run(parts: list[Path], columns: tuple[str, ...] | None = None) -> Trace:
    """A run from all its files, in order.  The tables of members, sets and messages only grow: the last part's hold."""
    whose: dict[int | None, list[Trace]] = {}
    for path in parts:
        trace = read_trace(path, columns)
        whose.setdefault(trace.info.facts.get(RECORDED_BY), []).append(trace)
    joined = [Trace(traces[-1].info, np.concatenate([trace.rows for trace in traces])) for traces in whose.values()]
    if list(whose) == [None]:
        return joined[0]
    try:
        return merge_members(joined)
    except NotOneRun as error:
        raise TraceUnreadable(f"{parts[0]} and the files beside it: {error}") from None


def find_runs(directory: Path | str) -> dict[str, list[Path]]:
    """The runs in a directory (or of one file), each with its files in order; by the files' names alone."""
    directory = Path(directory)
    paths: Iterator[Path] | list[Path] = directory.rglob(f"*{SUFFIX}") if directory.is_dir() else [directory]
    runs: dict[str, list[tuple[int, int, Path]]] = {}
    for path in paths:
        if path.name.startswith("."):
            continue
        match = _NAME.fullmatch(path.name.removesuffix(SUFFIX))
        assert match is not None, "the pattern matches any name"
        member, part = int(match["member"] or 0), int(match["part"] or 0)
        runs.setdefault(str(path.parent / match["run"]), []).append((member, part, path))
    return {run: [path for _, _, path in sorted(found)] for run, found in sorted(runs.items())}
