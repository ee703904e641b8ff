"""`ordercast protocols`: the catalog; of one protocol, its contract and parameters in full."""

import os
import sys
import textwrap
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ordercast.cli.app import app
from ordercast.core import describe
from ordercast.protocols.catalog import CATALOG, protocol

_WIDE = 100  # of what goes into a file


@app.command()
def protocols(
    name: Annotated[str | None, typer.Argument(metavar="[PROTOCOL]", help="Show this one in full.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list, or one protocol's object.")] = False,
) -> None:
    """List the protocols; of one, what it guarantees, under which faults, and its parameters.

    Example: ordercast protocols dtp
    """
    entries = catalog()
    if name is None:
        if as_json:
            print(msgspec.json.encode(entries).decode())
        else:
            _list(entries)
        return
    kind = protocol(name)
    entry = next(each for each in entries if each["name"] == kind.name)
    if as_json:
        print(msgspec.json.encode(entry).decode())
        return
    for line in _in_full(entry, _console().width):
        print(line)


def _list(entries: list[dict[str, Any]]) -> None:
    """Name, paper and order are never broken; what it is takes the rest of the line."""
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "paper", "order"):
        table.add_column(heading, no_wrap=True)
    table.add_column("what it is")
    for entry in entries:
        table.add_row(Text(entry["name"], "bold"), *(Text(entry[key]) for key in ("paper", "order", "title")))
    _console().print(table)
    print("\n`ordercast protocols NAME` shows one in full, with its parameters.")


def _in_full(entry: Mapping[str, Any], width: int) -> Iterator[str]:
    """A protocol's contract, line by line."""
    yield from textwrap.wrap(f"{entry['name']} ({entry['paper']}): {entry['title']}", width)
    only_safe = [fault for fault in entry["safe_under"] if fault not in entry["live_under"]]
    said = {
        "order": entry["order"],
        "levels": ", ".join(entry["levels"]),
        "reports": ", ".join(entry["reports"]),
        "reliability": entry["reliability"],
        "promises": ", ".join(entry["promises"]),
        "live under": ", ".join(entry["live_under"]),
        "also safe under": ", ".join(only_safe),
        "needs": ", ".join(f"{what}: {which}" for what, which in entry["needs"].items()),
        "bounds": "; ".join(f"{buffer}: {limit}" for buffer, limit in entry["bounds"].items()),
    }
    indent = max(map(len, said)) + 2
    for heading, text in said.items():
        if text:
            yield from _hanging(heading, text, indent, width)
    if entry["parameters"]:
        yield "parameters"
        named = {f"  {each['name']}={_default(each)} {each['unit']}".rstrip(): each for each in entry["parameters"]}
        indent = min(30, max(map(len, named)) + 2)
        for heading, each in named.items():
            yield from _hanging(heading, each["text"], indent, width)


def _default(parameter: Mapping[str, Any]) -> str:
    """As it is written after `--set`."""
    default = parameter["default"]
    return msgspec.json.encode(default).decode() if isinstance(default, list | tuple) else str(default)


def _hanging(heading: str, text: str, indent: int, width: int) -> list[str]:
    """A heading, and its text in a column beside it; whole words only."""
    first = heading.ljust(indent) if len(heading) < indent else f"{heading}  "
    filled = textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return filled or [heading]


def _console() -> Console:
    return Console() if sys.stdout.isatty() or "COLUMNS" in os.environ else Console(width=_WIDE)


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
