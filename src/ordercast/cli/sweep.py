"""`ordercast sweep`: a grid of simulated runs, on Spark."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ordercast.cli.app import app

Master = Annotated[
    str | None, typer.Option(metavar="URL", help="Spark master; by default all cores of this machine, in this process.")
]


@app.command()
def sweep(
    plan: Annotated[Path, typer.Argument(metavar="FILE.toml", help="The plan: docs/pipeline.md shows its form.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where traces and facts go; what is there is kept.")],
    master: Master = None,
    traces: Annotated[bool, typer.Option(help="Keep every run's trace, not only its row of facts.")] = True,
    dry: Annotated[bool, typer.Option("--dry-run", help="Only say what would run.")] = False,
) -> None:
    """Simulate every run of a plan; a sweep that was interrupted goes on where it stopped.

    Example: ordercast sweep four.toml --out four
    """
    from ordercast.pipeline.plan import read_plan

    planned = read_plan(plan)
    if dry:
        for run in planned.runs:
            print(run.name)
        print(f"{len(planned.runs)} runs", file=sys.stderr)
        return
    from ordercast.pipeline.progress import bar
    from ordercast.pipeline.session import session
    from ordercast.pipeline.sweep import sweep as run_sweep

    swept = run_sweep(session(master), planned.runs, out, keep_traces=traces, progress=bar, title=planned.title)
    there = f", {swept.reused} of them there already" if swept.reused else ""
    print(f"{planned.title}: {len(swept.rows)} of {len(planned.runs)} runs{there}; facts in {swept.facts}")
    if swept.other_code:
        print(
            f"{swept.other_code} of them were made by another version of the code; a new --out runs all",
            file=sys.stderr,
        )
    if swept.errors:
        first, error = next(iter(swept.errors.items()))
        print(f"ordercast: {len(swept.errors)} runs failed; the first, {first}: {error}", file=sys.stderr)
        raise typer.Exit(1)
