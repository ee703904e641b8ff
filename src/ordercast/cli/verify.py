"""`ordercast verify` and `report`: what a directory of traces is worth."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from ordercast.cli.app import app
from ordercast.cli.sweep import Master

if TYPE_CHECKING:
    from ordercast.pipeline.metrics import Measured
    from ordercast.pipeline.verify import Verified

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="A directory of traces, or one trace.")]
Memory = Annotated[float | None, typer.Option(metavar="GB", help="What one task may take; by default its share.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Require = Annotated[list[str], typer.Option(metavar="NAME", help="A property that must hold, promised or not.")]

_SHOWN = 10  # violations told on the terminal


@app.command()
def verify(
    directory: Directory,
    require: Require = [],  # noqa: B006
    memory: Memory = None,
    master: Master = None,
    as_json: Json = False,
) -> None:
    """Check every run against every property.  Exit code 0: no violation; 1: one; 2: a trace cannot be read.

    A run of a known protocol is judged by its contract: a property that it never promised is reported, no failure.

    Example: ordercast verify four --require gap_free
    """
    from ordercast.pipeline.verify import as_json as answer

    verified = _verified(directory, require, memory, master)
    if as_json:
        print(msgspec.json.encode(answer(verified)).decode())
    else:
        _say_verdicts(verified.runs)
        say_unreadable(verified.unreadable)
    raise typer.Exit(verified.exit_code())


@app.command()
def report(
    directory: Directory,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="By default report.html in DIR.")] = None,
    require: Require = [],  # noqa: B006
    memory: Memory = None,
    master: Master = None,
) -> None:
    """Verdicts, metrics and figures of a directory of traces as one HTML file that opens offline.

    Example: ordercast report four
    """
    from ordercast.pipeline.metrics import summarise
    from ordercast.report.files import writable
    from ordercast.report.groups import Group
    from ordercast.report.runs import runs_page

    out = out or (directory if directory.is_dir() else directory.parent) / "report.html"
    writable(out)  # before the work
    verified = _verified(directory, require, memory, master)
    rows = measured(directory, memory, master).rows
    groups = [Group(each.settings, each.runs, each.metrics) for each in summarise(rows)]
    page = runs_page(str(directory), verified.runs, groups, verified.unreadable, _failed(directory))
    print(page.write(out))
    say_unreadable(verified.unreadable)
    raise typer.Exit(2 if verified.unreadable else 0)


def _verified(directory: Path, require: Sequence[str], memory: float | None, master: str | None) -> "Verified":
    from ordercast.pipeline.files import find
    from ordercast.pipeline.progress import bar
    from ordercast.pipeline.session import session
    from ordercast.pipeline.verify import verify as run_verify

    find(directory)  # before Spark starts
    allowed = None if memory is None else memory * 1e9
    return run_verify(session(master), directory, require=require, memory_bytes=allowed, progress=bar)


def measured(directory: Path, memory: float | None, master: str | None) -> "Measured":
    from ordercast.pipeline.files import find
    from ordercast.pipeline.metrics import measure_runs
    from ordercast.pipeline.progress import bar
    from ordercast.pipeline.session import session

    find(directory)
    allowed = None if memory is None else memory * 1e9
    return measure_runs(session(master), directory, memory_bytes=allowed, progress=bar)


def _failed(directory: Path) -> dict[str, str]:
    """The runs of a sweep's directory that raised."""
    from ordercast.pipeline.sweep import FACTS, read_facts

    if not (directory / FACTS).exists():
        return {}
    return {row["run"]: row["error"] for row in read_facts(directory) if row.get("error")}


def _say_verdicts(runs: Sequence[Mapping[str, Any]]) -> None:
    """A line per protocol and property, and the first violations with their witnesses."""
    from ordercast.report.runs import count_verdicts

    table = Table("protocol", "property", "holds", "violated", "not measured", "promised")
    for (protocol, name), count in count_verdicts(runs).items():
        table.add_row(protocol, name, *(str(each or "") for each in count.numbers), "yes" if count.promised else "")
    Console().print(table)
    broken = [(run, name) for run in runs for name in run["broken"]]
    for run, name in broken[:_SHOWN]:
        print(f"{run['run']}: {name} is violated: {run['witnesses'].get(name, {}).get('text', 'no witness')}")
    more = f"; {len(broken) - _SHOWN} more with --json" if len(broken) > _SHOWN else ""
    failed = len({run["run"] for run, _ in broken})
    deliveries = sum(run["deliveries"] for run in runs)
    print(f"{len(runs)} runs, {deliveries:,} deliveries: {failed or 'none'} broke a promise{more}")


def say_unreadable(unreadable: Mapping[str, str]) -> None:
    for error in list(unreadable.values())[:_SHOWN]:
        print(f"ordercast: {error}", file=sys.stderr)
    if len(unreadable) > _SHOWN:
        print(f"ordercast: and {len(unreadable) - _SHOWN} more", file=sys.stderr)
