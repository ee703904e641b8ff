"""What a paper's module is made of: experiments, and what they find, as data."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence of the paper and whether it was found to hold; `None`: it could not be judged."""

    id: str
    text: str  # the paper's, shortened
    section: str
    holds: bool | None
    measured: str  # the numbers that decide


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """Becomes NAME.csv, and a table of the report."""

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


class Curve(msgspec.Struct, frozen=True, kw_only=True):
    """`half` is the half-width of the confidence interval of each y; empty: not drawn.  Equal labels, equal colours."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    half: Sequence[float] = ()
    dashed: bool = False  # a closed form, or the paper's own value, beside what was measured


class Panel(msgspec.Struct, frozen=True, kw_only=True):
    x_label: str
    y_label: str
    curves: Sequence[Curve]
    title: str = ""
    log_x: bool = False
    log_y: bool = False


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """Becomes NAME.png and NAME.csv, and a figure of the report; its panels stand side by side."""

    name: str
    title: str
    panels: Sequence[Panel]


class Line(msgspec.Struct, frozen=True, kw_only=True):
    start: tuple[float, float]
    end: tuple[float, float]
    arrow: bool = False
    dashed: bool = False


class Text(msgspec.Struct, frozen=True, kw_only=True):
    at: tuple[float, float]
    text: str
    circled: bool = False


class Drawing(msgspec.Struct, frozen=True, kw_only=True):
    """A diagram, in its own coordinates (x to the right, y downwards): space-time, trees, partial orders."""

    name: str
    title: str
    marks: Sequence[Line | Text]


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    claims: Sequence[Claim] = ()
    tables: Sequence[Table] = ()
    figures: Sequence[Figure | Drawing] = ()
    notes: str = ""  # readings and conventions, in Markdown's plain paragraphs


class Result(msgspec.Struct, frozen=True):
    """One point and what was measured of it."""

    point: Any
    values: Mapping[str, Any]


Measure: TypeAlias = Callable[[Any], Mapping[str, Any]]


def nothing(quick: bool) -> Sequence[Any]:
    """The points of an experiment that has none."""
    return ()


def unmeasured(point: Any) -> Mapping[str, Any]:
    """The measure of an experiment without points."""
    return {}


class Experiment(msgspec.Struct, frozen=True):
    id: str  # fig2, table1, buffers
    title: str
    section: str
    points: Callable[[bool], Sequence[Any]] = nothing  # `quick`: a small form of it, for a first look
    measure: Measure = unmeasured
    findings: Callable[[Sequence[Result]], Findings] = lambda results: Findings()
    kinds: Sequence[str] | None = None  # the kinds of rows that `measure` reads, when not all
    seconds: Callable[[Any], float] | None = None  # a guess of what a point costs; only the order of work depends on it


class Paper(msgspec.Struct, frozen=True):
    key: str
    title: str
    experiments: Sequence[Experiment]
