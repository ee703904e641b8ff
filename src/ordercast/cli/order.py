"""`ordercast order`: the partial order, the votes and the total order of a log of messages."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from ordercast.cli.app import app
from ordercast.papers.message_log import EVERYTHING, dot, read_log, replay, text


@app.command()
def order(
    log: Annotated[Path, typer.Argument(metavar="LOG.json", help="Messages with their acknowledgments, and views.")],
    processor: Annotated[
        list[str], typer.Option(metavar="NAME", help="Only this processor's; `*` has received everything.")
    ] = [],  # noqa: B006
    as_dot: Annotated[
        bool, typer.Option("--dot", help="Draw one partial order for Graphviz (default: of `*`).")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Print what each processor of LOG.json makes of the messages it received: the partial order of Trans, the votes of
    Total, and the extensions of the total order.

    Example: ordercast order examples/figure4.json --processor F
    """
    read = read_log(log.read_bytes())
    if as_dot:
        if len(processor) > 1:
            raise ValueError("--dot draws the partial order of one processor")
        print(dot(read, replay(read, processor[0] if processor else EVERYTHING)))
        return
    replayed = [replay(read, name) for name in processor or [*read.views, EVERYTHING]]
    if as_json:
        print(msgspec.json.encode({each.processor: each for each in replayed}).decode())
    else:
        print("\n\n".join(text(each) for each in replayed))
