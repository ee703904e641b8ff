"""A paper's findings as a page: every claim with its verdict, every figure and table."""

from collections.abc import Sequence
from typing import Any

from ordercast.papers import Claim, Experiment, Findings, Paper
from ordercast.report.page import Cell, Page

_VERDICT = {True: Cell("holds", "good"), False: Cell("does not hold", "bad"), None: Cell("not judged", "none")}


def paper_page(paper: Paper, found: Sequence[tuple[Experiment, Findings]], errors: Sequence[str] = ()) -> Page:
    """The page of what was reproduced of one paper."""
    claims = [claim for _, findings in found for claim in findings.claims]
    page = Page(f"{paper.key}: {paper.title}", "Reproduced by Ordercast; every number is of this run.")
    if claims:
        holding = sum(claim.holds is True for claim in claims)
        kind = "good" if holding == len(claims) else "mild"
        page.banner(f"{holding} of {len(claims)} claims hold", kind)
    if errors:
        page.banner(f"{len(errors)} points could not be computed; the first: {errors[0]}", "bad")
    if claims:
        page.section("Claims")
        page.table(("claim", "section", "the paper", "verdict", "measured"), map(_claim, claims))
    for experiment, findings in found:
        page.section(f"{experiment.id}: {experiment.title} (section {experiment.section})")
        page.text(findings.notes)
        for figure in findings.figures:
            page.figure(figure)
        for table in findings.tables:
            page.heading(table.title)
            page.table(table.columns, table.rows, fold=True)
    return page


def _claim(claim: Claim) -> Sequence[Any]:
    return (claim.id, claim.section, claim.text, _VERDICT[claim.holds], claim.measured)
