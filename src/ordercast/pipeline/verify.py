"""The verdicts of all runs in a directory: the checks of `spec`, one run per task or several small ones, on Spark.

A run may lie in several files: parts, or one per live member; they are read together.  A task's memory is that of one
run; a run that needs more than there is is refused with the figures.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ordercast.core import Contract, Process
from ordercast.pipeline.files import find, pieces_of, read_whole
from ordercast.pipeline.progress import Progress, quiet
from ordercast.pipeline.tasks import Row, each
from ordercast.protocols.catalog import CATALOG
from ordercast.spec import FURTHER, PROPERTIES, History, check, judge, strongest
from ordercast.trace import read_info

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COLUMNS = ("kind", "member", "to", "origin", "n", "level")


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
    found = find(directory)
    contracts = {name: kind.contract for name, kind in protocols.items()}
    work = partial(verdicts_of, contracts=contracts, require=tuple(require))
    done = each(spark, pieces_of(found, memory_bytes), work, progress=progress, title="verify")
    rows = [row for run in found.runs if (row := done[run].row) is not None]
    return Verified(rows, {run: done[run].error for run in found.runs if done[run].error})


def verdicts_of(
    load: tuple[Sequence[Path], float | None], contracts: Mapping[str, Contract] = {}, require: Sequence[str] = ()
) -> Row:
    """One run's verdicts, from its files."""
    parts, memory_bytes = load
    timed = len(parts) > 1 or "live_within" in read_info(parts[0]).facts
    trace = read_whole(parts, (*_COLUMNS, "time") if timed else _COLUMNS, memory_bytes)
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
