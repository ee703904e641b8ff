"""`ordercast simulate`: one run of one protocol, its metrics and its verdicts."""

import sys
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from ordercast.cli import options
from ordercast.cli.app import app
from ordercast.cli.switchboard import switchboard
from ordercast.core import Process
from ordercast.measure import Metrics, metrics
from ordercast.protocols.catalog import protocol
from ordercast.sim import Run
from ordercast.sim import simulate as run_simulation
from ordercast.spec import Judgement, judge
from ordercast.trace import Recorder, write_trace

ENOUGH = ("broadcast", "send", "receive", "deliver", "withdraw", "reach", "view", "crash", "leave", "restart")


@app.command()
def simulate(
    name: Annotated[str, typer.Argument(metavar="PROTOCOL", help="As `ordercast protocols` lists them.")],
    members: Annotated[int, typer.Option(help="Members of the group; they count from 0.")] = 5,
    interval: Annotated[float, typer.Option(help="Mean seconds between one member's broadcasts.")] = 0.1,
    messages: Annotated[int, typer.Option(help="Measured broadcasts of the group.")] = 1000,
    size: Annotated[int, typer.Option(help="Bytes of a frame that carries a payload.")] = 500,
    control: Annotated[int, typer.Option(help="Bytes of any other frame.")] = 64,
    workload: Annotated[
        str, typer.Option(help="poisson, bursts[:SIZE], hot[:MEMBER[:TIMES]], saturated[:WINDOW], or a file.")
    ] = "poisson",
    network: Annotated[
        str,
        typer.Option(
            help="bus (one shared medium), delay (independent delays), one-channel (delays, one order for all), "
            "multi-channel (delays, an order per sender) or switched (links, from a topology file)."
        ),
    ] = "bus",
    bandwidth: Annotated[float, typer.Option(help="Bits per second of the bus.")] = 10e6,
    delay: Annotated[str, typer.Option(metavar="A:B", help="Seconds, uniform, drawn per receiver.")] = "0.001:0.010",
    point_to_point: Annotated[bool, typer.Option(help="Count a multicast as its single sends.")] = False,
    loss: Annotated[float, typer.Option(help="Probability that a copy is lost.")] = 0.0,
    duplicate: Annotated[float, typer.Option(help="Probability that a copy arrives twice.")] = 0.0,
    reorder: Annotated[float, typer.Option(help="Probability that a copy is held back, up to 10 ms.")] = 0.0,
    crash: Annotated[list[str], typer.Option(metavar="MEMBER@S", help="It stops for good.")] = [],  # noqa: B006
    restart: Annotated[list[str], typer.Option(metavar="MEMBER@S", help="It comes back, with no memory.")] = [],  # noqa: B006
    leave: Annotated[list[str], typer.Option(metavar="MEMBER@S", help="It is asked to leave.")] = [],  # noqa: B006
    pause: Annotated[list[str], typer.Option(metavar="MEMBER@A:B", help="It stops for a while.")] = [],  # noqa: B006
    outage: Annotated[list[str], typer.Option(metavar="MEMBER@A:B", help="Deaf and mute, memory kept.")] = [],  # noqa: B006
    topology: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Hosts, switches and links (with --network switched).")
    ] = None,
    source: Annotated[
        list[str], typer.Option(metavar="HOST", help="Of the topology: who broadcasts; several, too.")
    ] = [],  # noqa: B006
    fail: Annotated[list[str], typer.Option(metavar="LINK@A:B", help="A link or site of the topology is down.")] = [],  # noqa: B006
    partition: Annotated[
        list[str], typer.Option(metavar="A:B:0,1/2,3", help="No copy crosses between these groups.")
    ] = [],  # noqa: B006
    consume: Annotated[
        float | None, typer.Option(metavar="RATE", help="Payload frames a receiver takes per second.")
    ] = None,
    buffer: Annotated[int, typer.Option(help="Payload frames a receiver holds until they are taken.")] = 64,
    settle: Annotated[float, typer.Option(help="Give up after so many seconds without a delivery.")] = 5.0,
    seed: Annotated[int, typer.Option(help="The same seed is the same run.")] = 0,
    setting: Annotated[list[str], typer.Option("--set", metavar="NAME=VALUE", help="A protocol's parameter.")] = [],  # noqa: B006
    trace: Annotated[Path | None, typer.Option(metavar="DIR", help="Write the trace there.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Simulate one run of PROTOCOL and say what was measured and which guarantees held.

    Example: ordercast simulate dtp --members 5 --loss 0.05 --crash 2@3.5
    """
    kind = protocol(name)
    planned = [
        *options.link_faults(loss, duplicate, reorder),
        *options.member_faults(crash=crash, restart=restart, leave=leave, pause=pause, outage=outage),
        *(options.partition("--partition", text) for text in partition),
    ]
    switched = switchboard(topology, network, source, fail)
    run = Run(
        protocol=name,
        members=members,
        messages=messages,
        size_bytes=size,
        control_bytes=control,
        network=options.network("bus" if switched else network, bandwidth, delay, point_to_point),
        workload=options.workload(workload, interval),
        faults=tuple(planned),
        parameters=options.settings("--set", setting),
        consume=consume,
        buffer=buffer,
        settle=settle,
        seed=seed,
        watch_buffers=bool(kind.contract.bounds) and messages * members <= 20_000,
    )
    _simulate(switched.rewire(run, kind) if switched else run, kind, trace, as_json)


def _simulate(run: Run, kind: type[Process], trace: Path | None, as_json: bool) -> None:
    recorder = Recorder() if trace else Recorder(ENOUGH, control_receipts=False)
    outcome = run_simulation(kind, run, recorder)
    recorded = outcome.trace()
    measured, judgement = metrics(recorded), judge(recorded, kind.contract)
    path = write_trace(recorded, trace) if trace else None
    if as_json:
        print(msgspec.json.encode(_facts(run, outcome, measured, judgement, recorded.digest())).decode())
    else:
        _print(run, outcome, measured, judgement, path)
    if judgement.broken:
        sys.exit(1)


def _links(outcome: Any) -> dict[str, dict[str, float]]:
    """What each link carried, where the network has any."""
    found: dict[str, dict[str, float]] = outcome.simulation.facts().get("links", {})
    return found


def _facts(run: Run, outcome: Any, measured: Metrics, judgement: Judgement, digest: str) -> dict[str, Any]:
    return {
        **msgspec.to_builtins(measured),
        "protocol": run.protocol,
        "members": run.members,
        "seed": run.seed,
        "stalled": outcome.stalled,
        "faults_met": list(outcome.faults_met),
        "events": outcome.events,
        "verdicts": {name: verdict.result for name, verdict in judgement.verdicts.items()},
        "witnesses": {
            name: verdict.witness for name, verdict in judgement.verdicts.items() if verdict.result == "violated"
        },
        "strongest": judgement.strongest,
        "promised": list(judgement.promised),
        "broken": list(judgement.broken),
        "trace_hash": digest,
        **({"links": links} if (links := _links(outcome)) else {}),
    }


def _seconds(value: float | None) -> str:
    return "not measured" if value is None else f"{value * 1e3:.3f} ms"


def _print(run: Run, outcome: Any, measured: Metrics, judgement: Judgement, path: Path | None) -> None:
    console = Console()
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    control = ", ".join(f"{kind} {each:.3g}" for kind, each in measured.control.items())
    rows = [
        ("broadcasts", f"{measured.broadcasts} measured, {measured.deliveries} deliveries"),
        ("delivery", _seconds(measured.delivery_s)),
        ("stability", _seconds(measured.stability_s)),
        ("stability x rate", _plain(measured.stability_times_rate)),
        ("buffer", f"{_plain(measured.buffer_messages)} messages a member"),
        ("overhead", f"{_plain(measured.overhead_per_broadcast)} a broadcast ({control or 'none'})"),
        ("retransmissions", f"{_plain(measured.retransmissions_per_broadcast)} a broadcast"),
        ("evenness of load", _plain(measured.evenness)),
        ("faults met", ", ".join(outcome.faults_met) or "none"),
    ]
    links = sorted(_links(outcome).items(), key=lambda link: -link[1]["bytes"])
    rows += [
        (f"link {name}", f"{each['payload']:g} payload and {each['control']:g} control frames, {each['bytes']:g} bytes")
        for name, each in links[:5]
    ]
    for row in rows:
        table.add_row(*row)
    console.print(f"[bold]{run.protocol}[/], {run.members} members, seed {run.seed}")
    console.print(table)
    if outcome.stalled:
        why = "a fault it does not promise to survive" if outcome.excused else "it should not have"
        console.print(f"[yellow]stalled[/] after {outcome.duration:.3f} s: {why}")
    for name, verdict in judgement.verdicts.items():
        promised = "" if name in judgement.promised else " [dim](not promised here)[/]"
        colour = {"holds": "green", "violated": "red", "not_measured": "yellow"}[verdict.result]
        witness = f": {verdict.witness}" if verdict.witness else ""
        console.print(f"  [{colour}]{verdict.result:<12}[/] {name}{promised}{witness}", highlight=False)
    if path:
        console.print(f"trace: {path}", soft_wrap=True)


def _plain(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.4g}"
