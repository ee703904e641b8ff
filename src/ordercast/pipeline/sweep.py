"""A sweep: every run of a plan simulated on Spark, a trace file and a row of facts for each.

OUT/traces/RUN.trace.parquet    the trace of each run, with its parameters, seed and code version in it
OUT/rows/*.rows.jsonl           what the tasks left: how a sweep that was interrupted goes on
OUT/facts.parquet               one row per run: what it was made from, what was measured, or its error
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from ordercast.core import Process
from ordercast.pipeline.measured import flat
from ordercast.pipeline.progress import Progress, quiet
from ordercast.pipeline.session import PipelineError, code_version
from ordercast.pipeline.simulating import named, seconds, settings, simulated
from ordercast.pipeline.tasks import Done, Piece, Row, each, stored
from ordercast.protocols.catalog import CATALOG
from ordercast.sim import Run
from ordercast.trace import write_trace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TRACES, ROWS, FACTS = "traces", "rows", "facts.parquet"


class Swept(NamedTuple):
    facts: Path
    rows: dict[str, Row]  # by run
    errors: dict[str, str]  # by run
    reused: int  # runs that were there already
    other_code: int  # those of them that another version of the code made


def sweep(
    spark: "SparkSession",
    runs: Iterable[Run],
    out: Path | str,
    *,
    keep_traces: bool = True,
    protocols: Mapping[str, type[Process]] = CATALOG,
    progress: Progress = quiet,
    title: str = "sweep",
) -> Swept:
    """Simulate the runs that `out` does not hold yet; `facts.parquet` has them all in the end.

    `protocols` may name protocols of one's own, of modules that the workers can import.
    """
    out = Path(out).absolute()
    code = code_version()
    wanted = {run.name: run for run in map(named, runs)}
    unknown = sorted({run.protocol for run in wanted.values()} - protocols.keys())
    if unknown:
        raise ValueError(f"no protocol is called {unknown[0]!r}; there are: {', '.join(protocols)}")
    pieces = [Piece(run.name, seconds(run), (protocols[run.protocol], run)) for run in wanted.values()]
    try:
        (out / ROWS).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PipelineError(f"{out}: {error.strerror}") from None

    def still_good(row: Row) -> bool:
        return not keep_traces or (row["trace"] != "" and (out / row["trace"]).exists())

    before = {key for key, done in stored(out / ROWS).items() if done.row is not None and still_good(done.row)}
    work = partial(_simulate, out=out, code=code, keep_traces=keep_traces)
    done: dict[str, Done] = {}
    try:
        done = each(spark, pieces, work, store=out / ROWS, still_good=still_good, progress=progress, title=title)
    finally:  # an interrupted sweep leaves the facts of what it finished
        everything = stored(out / ROWS) | done  # the directory may hold the runs of other plans, too
        write_facts([_fact(each, wanted) for _, each in sorted(everything.items())], out / FACTS)
    rows = {key: each.row for key, each in sorted(done.items()) if each.row is not None}
    errors = {key: each.error for key, each in sorted(done.items()) if each.error}
    reused = before & wanted.keys()
    return Swept(out / FACTS, rows, errors, len(reused), sum(rows[key]["code"] != code for key in reused))


def _simulate(load: tuple[type[Process], Run], out: Path, code: str, keep_traces: bool) -> Mapping[str, Any]:
    kind, run = load
    done = simulated(kind, run, code)
    trace, written = done.trace, ""
    if keep_traces:
        written = str(write_trace(trace, out / TRACES).relative_to(out))
    return {
        **settings(run),
        "code": code,
        "events": done.outcome.events,
        "simulated_s": done.outcome.duration,
        "took_s": done.took_s,
        "stalled": done.outcome.stalled,
        "trace_rows": len(trace.rows),
        "trace_hash": trace.digest(),
        "trace": written,
        **flat(trace),
    }


def _fact(done: Done, wanted: Mapping[str, Run]) -> Row:
    known = done.row if done.row is not None else settings(wanted[done.key]) if done.key in wanted else {}
    return {"run": done.key, "error": done.error or None, **known}


def write_facts(rows: Sequence[Row], path: Path) -> None:
    """The rows as one Parquet file, the columns in the order of first appearance; what a row lacks is null."""
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: pa.array([row.get(name) for row in rows]) for name in names}
    empty = [name for name, column in columns.items() if pa.types.is_null(column.type)]
    for name in empty:
        columns[name] = columns[name].cast(pa.string() if name == "error" else pa.float64())
    unfinished = path.with_name(f".{path.name}.tmp")
    try:
        pq.write_table(pa.table(columns), unfinished)
        unfinished.replace(path)
    except OSError as error:
        said = os.strerror(error.errno) if error.errno else str(error)
        raise PipelineError(f"{path}: {said}; the runs that finished stay usable") from None
    finally:
        unfinished.unlink(missing_ok=True)


def read_facts(directory: Path) -> list[Row]:
    """The rows of a sweep's directory."""
    try:
        rows: list[Row] = pq.read_table(directory / FACTS).to_pylist()
    except (OSError, pa.ArrowInvalid) as error:
        raise PipelineError(f"{directory / FACTS}: {str(error).splitlines()[0]}") from None
    return rows
