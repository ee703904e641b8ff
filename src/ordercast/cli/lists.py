"""`ordercast lists`: the priority lists of a topology, and the coordinator trees they make."""

import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from ordercast.cli.app import app
from ordercast.cli.switchboard import read_topology
from ordercast.parts.assignment import Survey, survey
from ordercast.parts.priority_lists import Crowd


@app.command()
def lists(
    topology: Annotated[Path, typer.Argument(metavar="TOPOLOGY", help="A .toml or .json file.")],
    source: Annotated[str | None, typer.Option(metavar="HOST", help="Who broadcasts; else as the file says.")] = None,
    fail: Annotated[list[str], typer.Option(metavar="LINK", help="This link or site has failed.")] = [],  # noqa: B006
    crowd: Annotated[
        str | None, typer.Option(metavar="N:COST", help="Each child of a parent beyond N adds COST to a tree.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Print the priority lists and distances of TOPOLOGY and, group by group, the coordinator tree and its cost.

    Lists that the file gives are checked: what is wrong with them is said, and the exit code is 1.

    Example: ordercast lists examples/figure21.toml --fail l1
    """
    found = survey(read_topology(topology), source, fail, _crowd(crowd))
    if as_json:
        print(msgspec.json.encode(found).decode())
    else:
        _print(found)
    if found.wrong:
        sys.exit(1)


def _crowd(text: str | None) -> Crowd | None:
    if text is None:
        return None
    try:
        children, _, penalty = text.partition(":")
        return Crowd(children=int(children), penalty=float(penalty))
    except ValueError:
        raise ValueError(f"--crowd wants N:COST, not {text!r}") from None


def _print(found: Survey) -> None:
    console = Console()
    by = "by SDF" if found.computed else "as the file gives them"
    console.print(f"Priority lists for source [bold]{found.source}[/], {by}", highlight=False, soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    for heading in ("host", "list"):
        table.add_column(heading)
    for host, mine in found.lists.items():
        table.add_row(f"[bold]{host}[/]", " ".join(mine) or "-")
    console.print(table)
    if found.wrong:
        console.print(f"[red]these lists do not serve[/]: {found.wrong}", highlight=False, soft_wrap=True)
    console.print("Distances")
    table = Table(box=None, pad_edge=False)
    for heading in ("", *found.distances):
        table.add_column(heading, justify="right")
    for host, row in found.distances.items():
        table.add_row(f"[bold]{host}[/]", *("-" if d is None else f"{d:g}" for d in row.values()))
    console.print(table)
    for group in found.groups:
        names = " ".join(group.hosts)
        if group.has_source:
            console.print(f"[bold]{names}[/]: with the source, no tree", highlight=False, soft_wrap=True)
            continue
        edges = " ".join(f"{host}->{parent}" for host, parent in group.parents.items() if parent is not None)
        console.print(
            f"[bold]{names}[/]: coordinator {' and '.join(group.coordinators) or 'nobody'}",
            highlight=False,
            soft_wrap=True,
        )
        cost = f"cost {group.cost:g}"
        if group.cost_unfailed != group.cost:
            cost += f" ({group.cost_unfailed:g} if nothing had failed)"
        console.print(
            f"  {edges or 'alone'}; {cost}; the cheapest tree {group.minimum_cost:g}", highlight=False, soft_wrap=True
        )
