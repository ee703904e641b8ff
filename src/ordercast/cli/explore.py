"""`ordercast explore`: every schedule of a small group."""

import sys
import time
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console

from ordercast.cli import options
from ordercast.cli.app import app
from ordercast.explore import Budget, Explored, counterexample, rests
from ordercast.explore import explore as run_search
from ordercast.protocols.catalog import protocol
from ordercast.trace import write_trace
from ordercast.trace.listing import listing

_EVERY_S = 0.2


@app.command()
def explore(
    name: Annotated[str, typer.Argument(metavar="PROTOCOL", help="As `ordercast protocols` lists them.")],
    members: Annotated[int, typer.Option(help="Members of the group.")] = 2,
    broadcasts: Annotated[int, typer.Option(help="Broadcasts in all, by whoever, whenever.")] = 2,
    losses: Annotated[
        int, typer.Option(help="Frames that may be lost; where frames overtake one another: 0, or any number.")
    ] = 1,
    duplicates: Annotated[int, typer.Option(help="Frames that may arrive twice.")] = 0,
    timeouts: Annotated[int, typer.Option(help="Timers that may expire, at any time.")] = 1,
    crashes: Annotated[int, typer.Option(help="Members that may stop for good.")] = 0,
    arrivals: Annotated[int | None, typer.Option(help="Frames that may arrive: for protocols that never rest.")] = None,
    copies: Annotated[int, typer.Option(help="Equal frames under way at one time.")] = 1,
    setting: Annotated[list[str], typer.Option("--set", metavar="NAME=VALUE", help="A parameter.")] = [],  # noqa: B006
    most: Annotated[int, typer.Option(help="Worlds after which the search stops, unfinished.")] = 1_000_000,
    trace: Annotated[Path | None, typer.Option(metavar="DIR", help="Write a counterexample as a trace.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Visit every world that a small group can come to within a budget.  Exit code 0: every promise is kept in all of
    them; 1: one is broken, and the schedule is listed; 3: the search stopped unfinished.

    Example: ordercast explore dtp --members 2 --broadcasts 2 --losses 1 --timeouts 1
    """
    kind = protocol(name)
    budget = Budget(
        broadcasts=broadcasts,
        losses=losses,
        duplicates=duplicates,
        timeouts=timeouts,
        crashes=crashes,
        arrivals=arrivals,
        copies=copies,
    )
    given = options.settings("--set", setting)
    if arrivals is None and not rests(kind, members, given):
        print(f"ordercast: {name} never rests, so its worlds never end: --arrivals 8 bounds them", file=sys.stderr)
    with Console(stderr=True).status("exploring") as status:  # shown on a terminal only
        shown = time.monotonic()

        def progress(worlds: int) -> None:
            nonlocal shown
            if time.monotonic() - shown > _EVERY_S:
                shown = time.monotonic()
                status.update(f"exploring: {worlds:,} worlds of at most {most:,}")

        explored = run_search(kind, members, budget, given, most_worlds=most, progress=progress)
    _say(explored, trace, as_json)
    raise typer.Exit(1 if explored.finding else 0 if explored.complete else 3)


def _say(explored: Explored, directory: Path | None, as_json: bool) -> None:
    lived = counterexample(explored) if explored.finding else None
    if lived and directory:
        write_trace(lived.trace, directory)
    broken = lived and lived.broken
    if as_json:
        answer = {
            "worlds": explored.worlds,
            "events": explored.events,
            "complete": explored.complete,
            "broken": broken[0] if broken else None,
            "witness": broken[1] if broken else None,
            "listing": list(listing(lived.trace)) if lived else [],
        }
        print(msgspec.json.encode(answer).decode())
    elif lived and broken:
        print(f"{broken[0]} is broken after {explored.worlds:,} worlds: {broken[1]}")
        for line in listing(lived.trace):
            print(line)
    elif explored.complete:
        print(f"{explored.worlds:,} worlds, by {explored.events:,} events: every promise is kept in each of them")
    else:
        print(f"stopped after {explored.worlds:,} worlds: no promise was broken so far (--most goes on)")
