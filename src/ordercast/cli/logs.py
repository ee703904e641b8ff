"""`ordercast import-log` and `show`: traces from anybody's logs, and a small one to read."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ordercast.cli.app import app
from ordercast.trace import find_runs, read_run
from ordercast.trace.foreign import LogMapping, import_logs
from ordercast.trace.listing import listing


@app.command()
def import_log(
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="JSON lines, one event each.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the traces go.")],
    mapping: Annotated[
        Path | None, typer.Option(metavar="TOML", help="What a foreign log calls its fields and kinds of event.")
    ] = None,
    also: Annotated[
        list[str], typer.Option("--map", metavar="FIELD=THEIRS", help="One of them; for a kind: kind.deliver=THEIRS.")
    ] = [],  # noqa: B006
    common_clock: Annotated[bool, typer.Option(help="Times of different members can be compared.")] = False,
) -> None:
    """Make traces of logs from anywhere, to be verified like our own; `docs/trace.md` states the lines.

    Example: ordercast import-log a.jsonl b.jsonl --out traces --map n=seq
    """
    console = Console(stderr=True)
    done = 0
    with console.status("reading") as status:

        def progress(lines: int) -> None:
            nonlocal done
            done += lines
            status.update(f"{done:,} lines")

        made = import_logs(files, out, LogMapping.of(mapping, also), common_clock, progress)
    runs = "1 run" if len(made.runs) == 1 else f"{len(made.runs):,} runs"
    print(f"{made.lines:,} events of {runs} in {out}")
    for run, member in made.unheard[:10]:
        console.print(f"run {run}: {member} has no line of its own, and counts as cut", markup=False, highlight=False)
    if len(made.unheard) > 10:
        console.print(f"… and {len(made.unheard) - 10:,} more such members")


@app.command()
def show(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help="A trace file, or a directory with one run.")],
    run: Annotated[str | None, typer.Option(metavar="NAME", help="Which one, of a directory with several.")] = None,
    only: Annotated[list[str], typer.Option(metavar="KIND", help="Events of this kind; may be repeated.")] = [],  # noqa: B006
    most: Annotated[int, typer.Option(help="Events to show.")] = 1000,
) -> None:
    """Print a small run as a space-time listing: a line per event, a column per member.

    Example: ordercast show traces --only broadcast --only deliver
    """
    if not trace.exists():
        raise ValueError(f"{trace}: no such file or directory")
    runs = {Path(name).name: parts for name, parts in find_runs(trace).items()}
    if not runs:
        raise ValueError(f"{trace} holds no trace")
    if run is None and len(runs) > 1:
        raise ValueError(f"{trace} holds {len(runs)} runs: say --run NAME, of {', '.join(list(runs)[:10])}")
    if run is not None and run not in runs:
        raise ValueError(f"{trace} holds no run {run}; it has {', '.join(list(runs)[:10])}")
    for line in listing(read_run(runs[run] if run is not None else next(iter(runs.values()))), only or None, most):
        print(line)
