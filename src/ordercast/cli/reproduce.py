"""`ordercast reproduce`: the papers' experiments, figures and claims."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ordercast.cli.app import app
from ordercast.cli.sweep import Master

_SIGNS = {True: "holds", False: "DOES NOT HOLD", None: "not judged"}


@app.command()
def reproduce(
    name: Annotated[str | None, typer.Argument(metavar="[KEY | KEY.ID]", help="A paper, or one part of it.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="Only say what there is.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Few points and seeds, short runs: a first look.")] = False,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Gets a directory per paper.")] = Path("reproduced"),
    master: Master = None,
) -> None:
    """Run the experiments behind a paper's figures and tables, and judge its claims by what is measured.

    Example: ordercast reproduce KK.fig2 --quick
    """
    from ordercast.papers import chosen

    wanted = chosen(name)
    if listed:
        for paper, experiments in wanted:
            print(f"{paper.key}  {paper.title}")
            for experiment in experiments:
                print(f"  {paper.key}.{experiment.id:<12} section {experiment.section}: {experiment.title}")
        return
    from ordercast.pipeline.progress import bar
    from ordercast.pipeline.reproduce import needs_spark
    from ordercast.pipeline.reproduce import reproduce as run_experiments
    from ordercast.pipeline.session import session
    from ordercast.report.paper import write_findings
    from ordercast.report.paper_page import paper_page

    failed = 0
    for paper, experiments in wanted:
        directory = out / paper.key
        spark = session(master) if needs_spark(experiments, quick) else None
        done = run_experiments(spark, paper, experiments, directory / "rows", quick=quick, progress=bar)
        for each in done:
            write_findings(each.findings, directory)
            for claim in each.findings.claims:
                print(f"{claim.id:<28} {_SIGNS[claim.holds]:<14} {claim.measured}")
        errors = [error for each in done for error in each.errors]
        page = paper_page(paper, [(each.experiment, each.findings) for each in done], errors)
        whole = len(experiments) == len(paper.experiments)
        print(page.write(directory / ("index.html" if whole else f"{experiments[0].id}.html")))
        failed += len(errors)
        for error in errors[:5]:
            print(f"ordercast: {error}", file=sys.stderr)
    if failed:
        print(f"ordercast: {failed} points could not be computed", file=sys.stderr)
        raise typer.Exit(1)
