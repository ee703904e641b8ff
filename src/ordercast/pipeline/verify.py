"""The verdicts of all runs in a directory: the checks of `spec`, one run per task or several small ones, on Spark.

A run may lie in several files: parts, or one per live member; they are read together.  A task's memory is that of one
run; a run that needs more than there is is refused with the figures.
"""

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow.parquet as pq

from ordercast.core import Contract, Process
from ordercast.pipeline.progress import Progress, quiet
from ordercast.pipeline.tasks import Piece, Row, each
from ordercast.protocols.catalog import CATALOG
from ordercast.spec import FURTHER, PROPERTIES, History, check, judge, strongest
from ordercast.trace import TraceUnreadable, find_runs, read_info, read_run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COLUMNS = ("kind", "member", "to", "origin", "n", "level")
_BYTES_PER_ROW = 150  # what a row costs a task at most, the intermediate arrays of the checks included
_BYTES_PER_S = 12e6  # of file, roughly, that a task checks


class Verified(NamedTuple):
    runs: list[Row]  # as in the JSON: run, verdicts, strongest, witnesses, ...
    unreadable: dict[str, str]  # run -> why

    def exit_code(self) -> int:
        """0: no violation of what was promised or required; 1: one; 2: something could not be read."""
        if any(run["broken"] for run in self.runs):
            return 1
        return 2 if self.unreadable else 0


def verify(
    spark: "SparkSession",
    directory: Path | str,
    *,
    require: Sequence[str] = (),
    memory_bytes: float | None = None,
    protocols: Mapping[str, type[Process]] = CATALOG,
    progress: Progress = quiet,
) -> Verified:
    """Check every run in a directory (or one file) against all properties.

    A run of a protocol of the catalog is judged by its contract, under the faults that it met; `require` adds to what
    was promised.  A run of unknown make is judged by all properties.  `memory_bytes` bounds what a task may take.
    """
    for name in require:
        if name not in PROPERTIES + FURTHER:
            raise ValueError(f"no property is called {name!r}; there are: {', '.join(PROPERTIES + FURTHER)}")
    directory = Path(directory).absolute()
    runs = find_runs(directory)
    if not runs or not all(path.exists() for parts in runs.values() for path in parts):
        raise TraceUnreadable(f"{directory}: no traces there (*.trace.parquet)")
    sizes = {run: sum(path.stat().st_size for path in parts) for run, parts in runs.items()}
    pieces = [Piece(run, 0.01 + sizes[run] / _BYTES_PER_S, parts) for run, parts in runs.items()]
    contracts = {name: kind.contract for name, kind in protocols.items()}
    work = partial(verdicts_of, contracts=contracts, require=tuple(require), memory_bytes=memory_bytes)
    done = each(spark, pieces, work, progress=progress, title="verify")
    found = [done[run].row for run in runs]
    unreadable = {run: _without_type(done[run].error) for run in runs if done[run].error}
    return Verified([row for row in found if row is not None], unreadable)


def verdicts_of(
    parts: Sequence[Path],
    contracts: Mapping[str, Contract] = {},
    require: Sequence[str] = (),
    memory_bytes: float | None = None,
) -> Row:
    """One run's verdicts, from its files."""
    _refuse_too_large(parts, memory_bytes)
    info = read_info(parts[-1])
    wanted = (*_COLUMNS, "time") if "live_within" in info.facts or len(parts) > 1 else _COLUMNS
    trace = read_run(list(parts), wanted)
    history = History.from_trace(trace)
    contract = contracts.get(trace.info.protocol)
    if contract is not None:
        judged = judge(history, contract)
        verdicts, promised = dict(judged.verdicts), judged.promised
    else:
        verdicts = check(history)
        promised = tuple(verdicts)
    verdicts |= check(history, [name for name in require if name not in verdicts])
    promised = tuple(dict.fromkeys((*promised, *require)))
    return {
        "run": trace.info.run,
        "file": str(parts[0]),
        "protocol": trace.info.protocol,
        "members": len(trace.info.members),
        "deliveries": int(sum(len(log.deliveries) for log in history.logs)),
        "verdicts": {name: verdict.result for name, verdict in verdicts.items()},
        "strongest": strongest(verdicts),
        "witnesses": {name: _witness(verdict) for name, verdict in verdicts.items() if verdict.witness},
        "promised": list(promised),
        "broken": [name for name in promised if verdicts[name].result == "violated"],
        "faults_met": list(trace.info.faults_met),
    }


def as_json(verified: Verified) -> dict[str, Any]:
    """The answer of `ordercast verify --json`."""
    out: dict[str, Any] = {"runs": verified.runs}
    if verified.unreadable:
        out["unreadable"] = [{"run": run, "error": error} for run, error in verified.unreadable.items()]
    return out


def _witness(verdict: Any) -> Mapping[str, Any]:
    return {
        "text": verdict.witness,
        "messages": [list(message) for message in verdict.messages],
        "members": list(verdict.members),
    }


def _refuse_too_large(parts: Sequence[Path], memory_bytes: float | None) -> None:
    try:
        rows = sum(pq.read_metadata(path).num_rows for path in parts)
    except Exception as error:
        raise TraceUnreadable(f"{parts[0]}: not a Parquet file ({str(error).splitlines()[0]})") from None
    allowed = _memory_per_task() if memory_bytes is None else memory_bytes
    if rows * _BYTES_PER_ROW > allowed:
        raise TraceUnreadable(
            f"{parts[0]}: a run of {rows:,} rows may need {rows * _BYTES_PER_ROW / 1e9:.1f} GB to check and a task "
            f"has {allowed / 1e9:.1f} GB: give it more (--memory), or run fewer tasks at once (--master 'local[1]')"
        )


def _memory_per_task() -> float:
    """What this machine has free now, shared by as many tasks as it has cores."""
    try:
        with open("/proc/meminfo") as lines:
            free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    return free / (os.cpu_count() or 1)


def _without_type(error: str) -> str:
    return error.removeprefix("TraceUnreadable: ")
