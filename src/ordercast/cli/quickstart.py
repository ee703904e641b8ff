"""`ordercast quickstart`: the whole house in one command, live group, pipeline, sweep and report."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from ordercast.cli.app import app

_PLAN = """
title = "four token protocols"
seeds = 2
[run]
protocol = ["dtp", "cm", "pinwheel", "totem"]
members = [5, 10, 20]
messages = 400
interval = 0.1
"""


@app.command()
def quickstart(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where traces and the report go.")] = Path("out/quickstart"),
    members: Annotated[int, typer.Option(min=2, help="Live members, each a process of its own.")] = 5,
    messages: Annotated[int, typer.Option(min=1, help="Broadcasts of the live group.")] = 4000,
    drop: Annotated[float, typer.Option(min=0.0, max=0.5, help="Share of datagrams that are dropped.")] = 0.05,
) -> None:
    """Run five live members under loss, check them, compare four protocols, and write a report.  Takes a minute."""
    from ordercast.net.quickstart import live_group

    console = Console()
    began = time.monotonic()
    run = time.strftime("live-%Y%m%d-%H%M%S")
    console.print(
        f"[bold]1.[/] {members} live members broadcast {messages} messages; {drop:.0%} of datagrams are dropped"
    )
    with Progress(TextColumn("   delivered by all"), BarColumn(), TextColumn("{task.completed}/{task.total}")) as bar:
        task = bar.add_task("", total=messages)

        def delivered(done: int, of: int) -> None:
            bar.update(task, completed=done, total=of)

        live = live_group(out / "live", members=members, messages=messages, drop=drop, run=run, progress=delivered)
    console.print(f"   {live.messages} messages in {live.seconds:.1f} s; {live.lost} frames were lost on purpose")
    verified, summaries = _pipeline(out, console)
    _summary(console, live, verified, summaries, out, time.monotonic() - began)


def _pipeline(out: Path, console: Console) -> tuple[Any, Any]:
    from ordercast.pipeline.metrics import measure_runs, summarise
    from ordercast.pipeline.plan import parse_plan
    from ordercast.pipeline.progress import bar
    from ordercast.pipeline.session import session
    from ordercast.pipeline.sweep import sweep
    from ordercast.pipeline.verify import verify
    from ordercast.report.groups import Group
    from ordercast.report.runs import runs_page

    plan = parse_plan(_PLAN, "quickstart")
    console.print(f"[bold]2.[/] Spark starts, and sweeps {len(plan.runs)} simulated runs of {plan.title}")
    with Progress(TextColumn("   starting Spark"), TimeElapsedColumn(), transient=True) as waiting:
        waiting.add_task("", total=None)
        spark = session()
    sweep(spark, plan.runs, out / "sweep", progress=bar, title="   sweep")
    console.print("[bold]3.[/] every run, live and simulated, is checked and measured")
    verified = verify(spark, out, progress=bar)
    measured = measure_runs(spark, out, progress=bar)
    summaries = summarise(measured.rows)
    groups = [Group(each.settings, each.runs, each.metrics) for each in summaries]
    runs_page("the quickstart", verified.runs, groups, verified.unreadable, {}).write(out / "report.html")
    return verified, summaries


def _summary(console: Console, live: Any, verified: Any, summaries: Any, out: Path, took: float) -> None:
    mine = next(run for run in verified.runs if run["run"] == live.run)
    held = [name for name, result in mine["verdicts"].items() if result == "holds"]
    console.print(f"\n[bold]The live group[/], {live.protocol} over UDP: {', '.join(held)} [green]hold[/]")
    if mine["broken"]:
        console.print(f"   [red]broken: {', '.join(mine['broken'])}[/]")
    table = Table("protocol", "members", "delivery", "stability", "overhead", "load evenness", box=None, pad_edge=False)
    for each in summaries:
        settings: Mapping[str, Any] = each.settings
        if settings.get("network") is None:
            continue
        delay = _cell(each.metrics, "delivery_s", lambda value: f"{value * 1e3:.2f} ms")
        stable = _cell(each.metrics, "stability_s", lambda value: f"{value * 1e3:.1f} ms")
        over = _cell(each.metrics, "overhead_per_broadcast", lambda value: f"{value:.2f}")
        even = _cell(each.metrics, "evenness", lambda value: f"{value:.2f}")
        table.add_row(str(settings["protocol"]), str(settings["members"]), delay, stable, over, even)
    console.print("\n[bold]The four protocols[/], simulated on a 10 Mb/s bus, means over the seeds")
    console.print(table)
    broken = sum(bool(run["broken"]) for run in verified.runs)
    console.print(f"\n{len(verified.runs)} runs checked, {broken or 'none'} broke a promise; {took:.0f} s in all")
    console.print(f"report: {(out / 'report.html').absolute()}", soft_wrap=True)
    if broken:
        raise typer.Exit(1)


def _cell(metrics: Mapping[str, Any], name: str, say: Callable[[float], str]) -> str:
    found = metrics.get(name)
    return "" if found is None else say(found.mean)
