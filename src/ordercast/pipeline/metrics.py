"""The metrics of all runs in a directory, and their means over the seeds, with confidence intervals."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ordercast.papers import Estimate, estimate
from ordercast.pipeline.files import find, pieces_of, read_whole
from ordercast.pipeline.measured import flat
from ordercast.pipeline.progress import Progress, quiet
from ordercast.pipeline.simulating import settings
from ordercast.pipeline.tasks import Row, each
from ordercast.sim import Run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COLUMNS = ("time", "member", "to", "origin", "n", "message", "kind", "level")
_SETTINGS = ("protocol", "members", "messages", "size_bytes", "interval_s", "network", "faults", "parameters")
_NOT_METRICS = {
    *_SETTINGS,
    "workload",
    "run",
    "seed",
    "run_json",
    "group_json",
    "file",
    "load",
    "broadcasts",
    "deliveries",
}


class Measured(NamedTuple):
    rows: list[Row]  # one per run
    unreadable: dict[str, str]  # run -> why


class Summary(NamedTuple):
    """Runs that differ in nothing but the seed."""

    settings: dict[str, Any]
    runs: int
    metrics: dict[str, Estimate]
    load: list[Estimate]  # of each member, in their order


def measure_runs(
    spark: "SparkSession", directory: Path | str, *, memory_bytes: float | None = None, progress: Progress = quiet
) -> Measured:
    """The metrics of every run in a directory (or of one file), a row each."""
    found = find(directory)
    done = each(spark, pieces_of(found, memory_bytes), metrics_of, progress=progress, title="metrics")
    rows = [row for run in found.runs if (row := done[run].row) is not None]
    return Measured(rows, {run: done[run].error for run in found.runs if done[run].error})


def metrics_of(load: tuple[Sequence[Path], float | None]) -> Row:
    """One run's metrics, from its files."""
    parts, memory_bytes = load
    trace = read_whole(parts, _COLUMNS, memory_bytes)
    info = trace.info
    return {"run": info.run, "file": str(parts[0]), **_settings_of(info.parameters, info), **flat(trace)}


def _settings_of(parameters: Mapping[str, Any], info: Any) -> dict[str, Any]:
    try:
        run = msgspec.convert(parameters, Run)
    except (msgspec.ValidationError, ValueError):  # a live group, or a foreign system
        known = {"protocol": info.protocol or "unknown", "members": len(info.members)}
        return known | {"group_json": msgspec.json.encode([known, parameters], order="deterministic").decode()}
    plain = msgspec.structs.replace(run, seed=0, name="")
    return settings(run) | {"group_json": msgspec.json.encode(plain, order="deterministic").decode()}


def summarise(rows: Sequence[Row]) -> list[Summary]:
    """Per configuration, the mean of each metric over its runs; what no run measured is absent."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["group_json"], []).append(row)
    out = []
    for same in groups.values():
        names = dict.fromkeys(name for row in same for name in row if name not in _NOT_METRICS)
        means = {name: found for name in names if (found := estimate(_numbers(same, name))) is not None}
        shown = {name: same[0][name] for name in _SETTINGS if name in same[0]}
        out.append(Summary(shown, len(same), means, _loads(same)))
    return sorted(out, key=_by_settings)


def _loads(same: Sequence[Row]) -> list[Estimate]:
    members = zip(*(row["load"] for row in same), strict=False)
    return [found for each in members if (found := estimate(each)) is not None]


def _by_settings(summary: Summary) -> list[tuple[bool, bool, Any]]:
    return [(value is not None, isinstance(value, str), value) for value in summary.settings.values()]


def _numbers(rows: Sequence[Row], name: str) -> list[float | None]:
    return [value if isinstance(value := row.get(name), int | float) else None for row in rows]


def as_json(measured: Measured) -> dict[str, Any]:
    """The answer of `ordercast metrics --json`: per configuration the means, and every run's own row."""
    groups = [
        {
            "settings": summary.settings,
            "runs": summary.runs,
            "metrics": {name: _interval(found) for name, found in summary.metrics.items()},
            "load": [_interval(found) for found in summary.load],
        }
        for summary in summarise(measured.rows)
    ]
    out: dict[str, Any] = {"groups": groups, "runs": [_plain(row) for row in measured.rows]}
    if measured.unreadable:
        out["unreadable"] = [{"run": run, "error": error} for run, error in measured.unreadable.items()]
    return out


def _interval(found: Estimate) -> dict[str, float | None]:
    return {"mean": found.mean, "half_95": None if found.seeds == 1 else found.half}


def _plain(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in ("run_json", "group_json")}
