"""Many keyed pieces of work on Spark: what sweeps, verdicts, metrics and the papers' experiments have in common.

A piece is a key, an estimate of its seconds, and a load; the work is a function of the load that returns a row (a
flat mapping).  Pieces share a task until it is worth about a second; the longest tasks start first.  A task leaves
its rows in the `store` under a temporary name, then renames: repeating it, or running it twice at once, changes
nothing.  A row in the store is not computed again.  A piece that raises is a row with its error.
"""

import contextlib
import hashlib
import os
import pickle
import time
import traceback
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ordercast.pipeline.progress import Progress, quiet
from ordercast.pipeline.session import PipelineError, first_line, ship
from ordercast.trace import TraceUnreadable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TASK_S = 1.5  # what a task should be worth: its own overhead is some 50 ms
_EACH = 4  # of little work, tasks per worker: fewer would leave some workers idle at the end
_SUFFIX = ".rows.jsonl"

Row = dict[str, Any]


class Piece(NamedTuple):
    key: str
    seconds: float  # an estimate: only the sizes of tasks and their order depend on it
    load: Any


class Done(msgspec.Struct):
    """What became of a piece: its row, or the error that it raised."""

    key: str
    row: Row | None = None
    error: str = ""
    where: str = ""  # the traceback's end, for whoever mends it
    took_s: float = 0.0


def group(pieces: Iterable[Piece], task_s: float = TASK_S) -> list[list[Piece]]:
    """The tasks: pieces of a second and more alone, shorter ones together; the longest first.  Pure."""
    tasks: list[list[Piece]] = []
    filled = 0.0
    for piece in sorted(pieces, key=lambda piece: (-piece.seconds, piece.key)):
        if not tasks or filled + piece.seconds > 1.001 * task_s:  # equal pieces fill equal tasks
            tasks.append([])
            filled = 0.0
        tasks[-1].append(piece)
        filled += piece.seconds
    return sorted(tasks, key=lambda task: -_seconds(task))


def each(
    spark: "SparkSession",
    pieces: Sequence[Piece],
    work: Callable[[Any], Mapping[str, Any]],
    *,
    store: Path | None = None,
    still_good: Callable[[Row], bool] = lambda row: True,
    progress: Progress = quiet,
    title: str = "",
) -> dict[str, Done]:
    """The work done on every piece, by key.

    With a `store`, finished pieces are taken from there, if `still_good` has nothing against their rows.
    """
    there = stored(store) if store else {}
    found = {key: done for key, done in there.items() if done.row is not None and still_good(done.row)}
    wanted = [piece for piece in pieces if piece.key not in found]
    out = {piece.key: found[piece.key] for piece in pieces if piece.key in found}
    workers = spark.sparkContext.defaultParallelism if wanted else 1
    tasks = group(wanted, min(TASK_S, _seconds(wanted) / (_EACH * workers)))
    if tasks:
        ship(spark)
        answers = _run(spark, tasks, partial(_task, work=work, store=store), progress, title)
        for answer in answers:
            out.update((done.key, done) for done in msgspec.json.decode(answer, type=list[Done]))
    return out


def _run(
    spark: "SparkSession", tasks: list[list[Piece]], run: Callable[[bytes], bytes], progress: Progress, title: str
) -> list[bytes]:
    """A partition per task, in their order.  A task is sent its own pieces only: a plan may have many thousands."""
    from pyspark import cloudpickle

    context, group_name = spark.sparkContext, f"ordercast-{uuid.uuid4()}"
    loads = [cloudpickle.dumps(task) for task in tasks]

    def job() -> list[bytes]:
        context.setJobGroup(group_name, title, interruptOnCancel=True)
        answers: list[bytes] = context.parallelize(loads, len(loads)).map(run).collect()
        return answers

    # In a thread, so that an interrupt finds this one waiting and not in the middle of a call to Java.
    with ThreadPoolExecutor(1) as aside, progress(spark, group_name, title, [_seconds(task) for task in tasks]):
        answer = aside.submit(job)
        try:
            return answer.result()
        except KeyboardInterrupt:
            context.cancelJobGroup(group_name)
            raise
        except Exception as error:
            raise PipelineError(f"Spark stopped: {first_line(error)}") from None


def _seconds(task: Iterable[Piece]) -> float:
    return sum(piece.seconds for piece in task)


def _task(load: bytes, work: Callable[[Any], Mapping[str, Any]], store: Path | None) -> bytes:
    """On a worker: the pieces of one task, one after the other."""
    pieces: list[Piece] = pickle.loads(load)
    done = [_attempt(piece, work) for piece in pieces]
    if store is not None:
        _keep(store, done)
    return msgspec.json.encode(done)


def _attempt(piece: Piece, work: Callable[[Any], Mapping[str, Any]]) -> Done:
    began = time.perf_counter()
    try:
        row = dict(work(piece.load))
    except Exception as error:
        text = str(error).strip().splitlines()
        said = f"{type(error).__name__}: {text[0]}" if text else type(error).__name__
        if isinstance(error, TraceUnreadable):
            said = text[0]
        where = "".join(traceback.format_tb(error.__traceback__)[-2:])
        return Done(piece.key, error=said, where=where, took_s=time.perf_counter() - began)
    return Done(piece.key, row, took_s=time.perf_counter() - began)


def _keep(store: Path, done: list[Done]) -> None:
    """Leave a task's rows in the store, all at once.  A full disk loses no more than the resumption."""
    with contextlib.suppress(OSError):
        store.mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256("\0".join(each.key for each in done).encode()).hexdigest()[:16]
        unfinished = store / f".{name}.{os.getpid()}.tmp"
        try:
            unfinished.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in done))
            unfinished.replace(store / f"{name}{_SUFFIX}")
        finally:
            unfinished.unlink(missing_ok=True)


def stored(store: Path) -> dict[str, Done]:
    """What earlier tasks left, by key.  A success outlives an error of another attempt."""
    out: dict[str, Done] = {}
    for path in sorted(store.glob(f"*{_SUFFIX}")):
        for line in path.read_bytes().splitlines():
            done = msgspec.json.decode(line, type=Done)
            if done.key not in out or not done.error:
                out[done.key] = done
    return out
