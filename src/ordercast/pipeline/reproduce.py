"""The papers' experiments through the pipeline: points in, findings out, with one store of what was measured."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ordercast.papers import Experiment, Findings, Paper, Result
from ordercast.pipeline.progress import Progress, quiet
from ordercast.pipeline.session import code_version
from ordercast.pipeline.simulating import named, seconds, simulated
from ordercast.pipeline.tasks import Piece, each
from ordercast.protocols.catalog import protocol
from ordercast.sim import Run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Reproduced(NamedTuple):
    experiment: Experiment
    findings: Findings
    errors: list[str]  # of points that could not be measured


def reproduce(
    spark: "SparkSession | None",
    paper: Paper,
    experiments: Sequence[Experiment],
    store: Path | None = None,
    *,
    quick: bool = False,
    progress: Progress = quiet,
) -> list[Reproduced]:
    """The findings of a paper's experiments.  A point that several of them share is computed once.

    `spark` may be None when no experiment has points.  With a `store`, points that the same code measured before are
    not measured again.
    """
    code = code_version()
    pieces: dict[str, Piece] = {}
    wanted: list[list[tuple[str, Any]]] = []
    for experiment in experiments:
        keys = []
        for point in experiment.points(quick):
            piece = _piece(experiment, point, code)
            pieces.setdefault(piece.key, piece)
            keys.append((piece.key, point))
        wanted.append(keys)
    done = {}
    if pieces:
        assert spark is not None
        done = each(spark, list(pieces.values()), _work, store=store, progress=progress, title=paper.key)
    out = []
    for experiment, keys in zip(experiments, wanted, strict=True):
        results = [Result(point, done[key].row or {}) for key, point in keys if not done[key].error]
        errors = [f"{key}: {done[key].error}" for key, _ in keys if done[key].error]
        out.append(Reproduced(experiment, experiment.findings(results), errors))
    return out


def needs_spark(experiments: Sequence[Experiment], quick: bool) -> bool:
    """Is there anything to compute beyond closed forms?"""
    return any(experiment.points(quick) for experiment in experiments)


def _piece(experiment: Experiment, point: Any, code: str) -> Piece:
    measure = f"{experiment.measure.__module__}.{experiment.measure.__qualname__}"
    content = [code, measure, experiment.kinds, type(point).__name__, point]
    digest = hashlib.sha256(msgspec.json.encode(content, order="deterministic")).hexdigest()[:16]
    if isinstance(point, Run):
        guess = (experiment.seconds or seconds)(point)
        label = named(point).name
    else:
        guess = experiment.seconds(point) if experiment.seconds else 0.2
        label = experiment.measure.__qualname__
    return Piece(f"{label}-{digest}", guess, partial(_measured, experiment.measure, point, experiment.kinds, code))


def _work(load: "partial[Mapping[str, Any]]") -> Mapping[str, Any]:
    return load()


def _measured(measure: Any, point: Any, kinds: Sequence[str] | None, code: str) -> Mapping[str, Any]:
    if isinstance(point, Run):
        point = simulated(protocol(point.protocol), point, code, kinds).trace
    values: Mapping[str, Any] = measure(point)
    return values
