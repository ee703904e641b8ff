"""The runs in a directory as pieces of work: found by name, read whole on a worker, refused when too large for it."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq

from ordercast.pipeline.tasks import Piece
from ordercast.trace import Trace, TraceUnreadable, find_runs, read_run

_BYTES_PER_ROW = 150  # what a row costs a task at most, the intermediate arrays of the checks included
_BYTES_PER_S = 30e6  # of file, roughly, that a task reads and judges


class Found(NamedTuple):
    directory: Path
    runs: Mapping[str, list[Path]]  # each with its files in order


def find(directory: Path | str) -> Found:
    """The runs in a directory, or of one file."""
    directory = Path(directory).absolute()
    runs = find_runs(directory)
    if not runs or not all(path.exists() for parts in runs.values() for path in parts):
        raise TraceUnreadable(f"{directory}: no traces there (*.trace.parquet)")
    return Found(directory, runs)


def pieces_of(found: Found, memory_bytes: float | None = None) -> list[Piece]:
    """A piece per run: its files, and the memory that a task may take (None: its share of what is free)."""
    sizes = {run: sum(path.stat().st_size for path in parts) for run, parts in found.runs.items()}
    return [Piece(run, 0.01 + sizes[run] / _BYTES_PER_S, (parts, memory_bytes)) for run, parts in found.runs.items()]


def read_whole(parts: Sequence[Path], columns: tuple[str, ...], memory_bytes: float | None = None) -> Trace:
    """A run from its files, if it fits."""
    try:
        rows = sum(pq.read_metadata(path).num_rows for path in parts)
    except Exception as error:
        raise TraceUnreadable(f"{parts[0]}: not a Parquet file ({str(error).splitlines()[0]})") from None
    allowed = _memory_per_task() if memory_bytes is None else memory_bytes
    if rows * _BYTES_PER_ROW > allowed:
        raise TraceUnreadable(
            f"{parts[0]}: a run of {rows:,} rows may need {rows * _BYTES_PER_ROW / 1e9:.1f} GB and a task has "
            f"{allowed / 1e9:.1f} GB: give it more (--memory), or run fewer tasks at once (--master 'local[1]')"
        )
    return read_run(list(parts), columns)


def _memory_per_task() -> float:
    """What this machine has free now, shared by as many tasks as it has cores."""
    try:
        with open("/proc/meminfo") as lines:
            free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    return free / (os.cpu_count() or 1)
