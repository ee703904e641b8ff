"""Progress of a Spark job, polled from a thread: the share of the work done, and an estimate of what is left."""

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Called with the session, the group of the job, a title and the weights of the tasks, in the order of their start.
Progress: TypeAlias = Callable[["SparkSession", str, str, Sequence[float]], AbstractContextManager[None]]

_EVERY_S = 0.5


@contextmanager
def quiet(spark: "SparkSession", group: str, title: str, weights: Sequence[float]) -> Iterator[None]:
    """No progress."""
    yield


@contextmanager
def bar(spark: "SparkSession", group: str, title: str, weights: Sequence[float]) -> Iterator[None]:
    """A bar on the terminal's standard error; a line every ten seconds where that is a file."""
    over = threading.Event()
    watcher = threading.Thread(target=_watch, args=(spark, group, title, weights, over), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _watch(spark: "SparkSession", group: str, title: str, weights: Sequence[float], over: threading.Event) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    reached = [0.0, *accumulate(weights)]  # tasks start in order, so `k` finished ones are about the first `k`
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
    counts = (TextColumn("tasks {task.fields[tasks]}"), TimeElapsedColumn(), TimeRemainingColumn())
    with Bar(*columns, *counts, console=console, disable=not console.is_terminal, transient=True) as shown:
        task = shown.add_task(title, total=reached[-1], tasks=f"0/{len(weights)}")
        began = said = time.monotonic()
        while not over.wait(_EVERY_S):
            finished = _finished(spark, group)
            shown.update(task, completed=reached[min(finished, len(weights))], tasks=f"{finished}/{len(weights)}")
            now = time.monotonic()
            if not console.is_terminal and now - said > 10 and finished:
                said, share = now, reached[min(finished, len(weights))] / reached[-1]
                left = (now - began) * (1 - share) / share
                print(f"{title}: {share:.0%} after {now - began:.0f} s, about {left:.0f} s left", file=sys.stderr)


def _finished(spark: "SparkSession", group: str) -> int:
    tracker = spark.sparkContext.statusTracker()
    out = 0
    for job in tracker.getJobIdsForGroup(group):
        info = tracker.getJobInfo(job)
        for stage in info.stageIds if info else ():
            counts = tracker.getStageInfo(stage)
            out += counts.numCompletedTasks if counts else 0
    return out
