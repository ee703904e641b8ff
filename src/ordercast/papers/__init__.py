"""The papers, executable: one module per paper, found by its `PAPER`.

A module reads like the paper's section of results.  It declares `Experiment`s as data and leaves the running to the
pipeline and the drawing to the report:

    def points(quick):                       # what is computed: simulated runs, or any small structs of one's own
        return [Run(protocol="dtp", members=n, seed=s, ...) for n in GROUPS for s in range(1 if quick else 5)]

    def measure(trace):                      # on a worker: one point's numbers.  A Run arrives as its Trace, anything
        return {"stability_s": ...}          # else as it is; a module-level function that returns a flat mapping

    def findings(results):                   # from all (point, values): tables, figures, and the claims' verdicts
        return Findings(figures=[Figure(...)], tables=[Table(...)], claims=[Claim(...)])

    PAPER = Paper("KK", "Kim & Kim, ...", [Experiment("fig2", "Stability time", "5", points, measure, findings), ...])

`Experiment` also takes `kinds`, the kinds of rows that `measure` reads (a run then records no others, and of received
frames those with a payload: much less memory), and `seconds`, a guess of a point's cost where the default is far off.

Two experiments that name the same points and the same `measure` share the work.  An experiment may also have no
points and compute closed forms or worked examples in `findings`.  A claim's `holds` is what was measured, `None` when
it could not be judged; a claim that fails is a finding, not an error.  `Table.name` and `Figure.name` become files.
"""

import importlib
import pkgutil

from ordercast.papers.estimate import Estimate, estimate, over_seeds
from ordercast.papers.paper import (
    Claim,
    Curve,
    Drawing,
    Experiment,
    Figure,
    Findings,
    Line,
    Panel,
    Paper,
    Result,
    Table,
    Text,
)

__all__ = [
    "Claim",
    "Curve",
    "Drawing",
    "Estimate",
    "Experiment",
    "Figure",
    "Findings",
    "Line",
    "Panel",
    "Paper",
    "Result",
    "Table",
    "Text",
    "chosen",
    "estimate",
    "over_seeds",
    "papers",
]


def papers() -> dict[str, Paper]:
    """Every paper by its key."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        paper = getattr(importlib.import_module(f"{__name__}.{module.name}"), "PAPER", None)
        if paper is not None:
            found[paper.key] = paper
    return dict(sorted(found.items()))


def chosen(name: str | None) -> list[tuple[Paper, list[Experiment]]]:
    """What `KK`, `KK.fig2` or nothing (all of them) asks for; `ValueError` says what there is."""
    there = papers()
    if name is None:
        return [(paper, list(paper.experiments)) for paper in there.values()]
    key, _, part = name.partition(".")
    by_key = {known.lower(): paper for known, paper in there.items()}
    if key.lower() not in by_key:
        raise ValueError(f"no paper is called {key!r}; there are: {', '.join(there)}")
    paper = by_key[key.lower()]
    experiments = [experiment for experiment in paper.experiments if part in ("", experiment.id)]
    if not experiments:
        names = ", ".join(f"{paper.key}.{experiment.id}" for experiment in paper.experiments)
        raise ValueError(f"{paper.key} has no experiment {part!r}; it has: {names}")
    return [(paper, experiments)]
