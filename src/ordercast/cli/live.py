"""`ordercast node` and `ordercast bench live`: members of real groups."""

import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from ordercast.cli import options
from ordercast.cli.app import app

bench = typer.Typer(help="Measure.", no_args_is_help=True)
app.add_typer(bench, name="bench")


@app.command()
def node(
    config: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="The group's settings, as TOML.")] = None,
    me: Annotated[int | None, typer.Option(help="This member's number.")] = None,
    member: Annotated[
        list[str], typer.Option(metavar="N=HOST:PORT", help="A member; once for each, all of them.")
    ] = [],  # noqa: B006
    protocol: Annotated[str | None, typer.Option(help="As `ordercast protocols` lists them (dtp).")] = None,
    level: Annotated[str | None, typer.Option(help="The service level: fifo, causal, agreed, safe …")] = None,
    setting: Annotated[list[str], typer.Option("--set", metavar="NAME=VALUE", help="A protocol's parameter.")] = [],  # noqa: B006
    multicast: Annotated[str | None, typer.Option(metavar="HOST:PORT", help="Use this IP multicast group.")] = None,
    trace: Annotated[str | None, typer.Option(metavar="DIR", help="Record what happens here.")] = None,
    run: Annotated[str | None, typer.Option(help="The name of the trace's run (live).")] = None,
    drop: Annotated[
        float | None, typer.Option(metavar="P", help="Lose this share of what arrives, for trials.")
    ] = None,
    timeout: Annotated[float | None, typer.Option(help="Seconds for all members to be there (30).")] = None,
) -> None:
    """Join a fixed group: lines of standard input are broadcast, deliveries come out as JSON lines.

    Example: ordercast node --me 0 --member 0=127.0.0.1:7000 --member 1=127.0.0.1:7001
    """
    from ordercast.net.node import node as run_node

    status = run_node(
        config,
        me=me,
        member=member,
        protocol=protocol,
        level=level,
        parameters=options.settings("--set", setting),
        multicast=multicast,
        trace=trace,
        run=run,
        drop=drop,
        timeout=timeout,
    )
    raise typer.Exit(status)


@bench.command()
def live(
    protocol: Annotated[str, typer.Option(help="As `ordercast protocols` lists them.")] = "dtp",
    members: Annotated[int, typer.Option(help="Member processes, on this host.")] = 3,
    size: Annotated[int, typer.Option(help="Bytes of a message.")] = 1_000,
    seconds: Annotated[float, typer.Option(help="Measured, after a warm-up of one second.")] = 5.0,
    rate: Annotated[float | None, typer.Option(help="Broadcasts per second and member; as many as it takes.")] = None,
    level: Annotated[str | None, typer.Option(help="The service level.")] = None,
    setting: Annotated[list[str], typer.Option("--set", metavar="NAME=VALUE", help="A protocol's parameter.")] = [],  # noqa: B006
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Measure a live group of processes: ordered messages per second, and how long one takes at a low rate.

    Example: ordercast bench live --protocol dtp --members 3 --size 1000 --seconds 5
    """
    from ordercast.net.bench import bench_live
    from ordercast.net.errors import GroupError

    more = {"level": level, "parameters": options.settings("--set", setting)}
    try:
        measured = bench_live(
            protocol,
            members,
            size,
            seconds,
            rate,
            group={name: value for name, value in more.items() if value},
        )
    except GroupError as error:
        print(f"ordercast bench live: {error}", file=sys.stderr)
        raise typer.Exit(2) from None
    print(msgspec.json.encode(measured).decode() if as_json else measured.line())
    raise typer.Exit(0 if measured.same_order else 1)
