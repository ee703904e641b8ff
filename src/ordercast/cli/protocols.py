"""`ordercast protocols`: the catalog, each protocol with its contract and parameters."""

from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from ordercast.cli.app import app
from ordercast.core import describe
from ordercast.protocols.catalog import CATALOG


@app.command()
def protocols(as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list.")] = False) -> None:
    """List the protocols: what each guarantees, under which faults, and its parameters."""
    if as_json:
        print(msgspec.json.encode(catalog()).decode())
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "paper", "order", "levels", "reports", "live under", "parameters"):
        table.add_column(heading, overflow="fold")
    for entry in catalog():
        parameters = ", ".join(f"{each['name']}={each['default']}{each['unit']}" for each in entry["parameters"])
        table.add_row(
            f"[bold]{entry['name']}[/]",
            entry["paper"],
            entry["order"],
            " ".join(entry["levels"]),
            " ".join(entry["reports"]),
            " ".join(entry["live_under"]),
            parameters,
        )
    Console().print(table)


def catalog() -> list[dict[str, Any]]:
    """The catalog as plain data."""
    return [
        {
            "name": kind.name,
            **msgspec.to_builtins(kind.contract),
            "promises": list(kind.contract.promises()),
            "parameters": describe(kind.Parameters),
        }
        for kind in CATALOG.values()
    ]
