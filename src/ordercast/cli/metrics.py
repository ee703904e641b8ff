"""`ordercast metrics`: what the runs of a directory came to, a row per configuration."""

import os
import sys
from typing import TYPE_CHECKING

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from ordercast.cli.app import app
from ordercast.cli.sweep import Master
from ordercast.cli.verify import Directory, Json, Memory, measured, say_unreadable

if TYPE_CHECKING:
    from ordercast.papers import Estimate
    from ordercast.pipeline.metrics import Summary

_COLUMNS = {  # heading -> metric, scale
    "delivery ms": ("delivery_s", 1000),
    "stable ms": ("stability_s", 1000),
    "overhead": ("overhead_per_broadcast", 1),
    "resent": ("retransmissions_per_broadcast", 1),
    "buffer": ("buffer_messages", 1),
    "even": ("evenness", 1),
}
_WIDE = 160  # of a table that goes into a file


@app.command()
def metrics(directory: Directory, memory: Memory = None, master: Master = None, as_json: Json = False) -> None:
    """Delivery and stability times, overhead, buffers and load: per configuration, means over the seeds.

    Load is the control frames that a member sends per broadcast, of the least and the most loaded member.  A single
    configuration is shown in full: percentiles, kinds of messages, every member's load, 95 % confidence intervals.
    With --json, all of them are.

    Example: ordercast metrics four --json
    """
    from ordercast.pipeline.metrics import as_json as answer
    from ordercast.pipeline.metrics import summarise
    from ordercast.report.groups import simulated

    found = measured(directory, memory, master)
    if as_json:
        print(msgspec.json.encode(answer(found)).decode())
    else:
        summaries = summarise(found.rows)
        if len(summaries) == 1:
            _one(summaries[0])
        else:
            ours = [each for each in summaries if simulated(each)]
            _many(ours)
            _many([each for each in summaries if each not in ours])
        say_unreadable(found.unreadable)
    raise typer.Exit(2 if found.unreadable else 0)


def _one(summary: "Summary") -> None:
    """Everything about one configuration."""
    settings = ", ".join(f"{name} {value}" for name, value in summary.settings.items() if value is not None)
    table = Table("metric", "mean ± 95 %", title=f"{settings} ({summary.runs} runs)", title_justify="left")
    for name, found in summary.metrics.items():
        table.add_row(name, str(found))
    for member, found in enumerate(summary.load):
        table.add_row(f"load of member {member}", str(found))
    _console().print(table)


def _many(summaries: "list[Summary]") -> None:
    """A row each, with the settings by which they differ."""
    from ordercast.report.groups import shared, varying

    if not summaries:
        return
    names, common = varying(summaries), shared(summaries)
    if common:
        print(f"All with {common}:")
    load = any(summary.load for summary in summaries)
    shown = {
        heading: metric for heading, metric in _COLUMNS.items() if any(metric[0] in each.metrics for each in summaries)
    }
    table = Table(box=None, pad_edge=False, collapse_padding=True)
    for name in names:
        table.add_column(name, overflow="fold", no_wrap=name == "protocol")
    for heading in ("runs", *shown, *(["load"] if load else [])):
        table.add_column(heading, justify="right", overflow="fold")
    for summary in summaries:
        settings = ("–" if (value := summary.settings.get(name)) is None else str(value) for name in names)
        means = (_mean(summary.metrics.get(name), scale) for name, scale in shown.values())
        table.add_row(*settings, str(summary.runs), *means, *([_span(summary.load)] if load else []))
    _console().print(table)


def _mean(found: "Estimate | None", scale: float) -> str:
    return "–" if found is None else f"{scale * found.mean:.3g}"


def _span(load: "list[Estimate]") -> str:
    """The least and the most loaded member."""
    means = [found.mean for found in load]
    return "-".join(dict.fromkeys(f"{mean:.2g}" for mean in (min(means), max(means)))) if means else "–"


def _console() -> Console:
    return Console() if sys.stdout.isatty() or "COLUMNS" in os.environ else Console(width=_WIDE)
