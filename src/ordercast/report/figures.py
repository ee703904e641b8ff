"""A paper's figures and drawings, by matplotlib, in the manner of a printed page: black frames, markers, no colour
needed to tell the curves apart."""

import io
from collections.abc import Callable, Sequence
from itertools import combinations
from math import log10
from typing import Any

from ordercast.papers import Curve, Drawing, Figure, Line, Panel

_MARKERS = ("o", "s", "^", "D", "v", "x", "+", "*", "P", "<", ">", "h")
_COLOURS = ("#0b5394", "#b45f06", "#38761d", "#990000", "#674ea7", "#0f7b83", "#7f6000", "#a64d79")
_STYLE = {
    "font.family": "serif",
    "font.size": 9.0,
    "axes.linewidth": 0.8,
    "xtick.direction": "in",
    "ytick.direction": "in",
    "xtick.top": True,
    "ytick.right": True,
    "legend.frameon": False,
    "svg.hashsalt": "ordercast",
}


class NoMatplotlib(OSError):
    """Pictures want matplotlib."""


def render(figure: Figure | Drawing, form: str = "png", dpi: int = 150) -> bytes:
    """The picture, as PNG or SVG."""
    try:
        import matplotlib
    except ImportError:
        raise NoMatplotlib("pictures need matplotlib: pip install 'ordercast[report]'") from None
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with matplotlib.rc_context(_STYLE):
        drawn = _figure(plt, figure) if isinstance(figure, Figure) else _drawing(plt, figure)
        out = io.BytesIO()
        metadata = {"Date": None} if form == "svg" else {"Software": None}
        drawn.savefig(out, format=form, dpi=dpi, bbox_inches="tight", metadata=metadata)
        plt.close(drawn)
    return out.getvalue()


def _figure(plt: Any, figure: Figure) -> Any:
    """One legend below the panels where one of them has every curve, else one below each."""
    count = len(figure.panels)
    across = 2 if count == 4 else min(count, 3)
    down = -(-count // across)
    size = (4.2 * across + 0.6, 3.3 * down + 0.3)
    drawn, axes = plt.subplots(down, across, figsize=size, squeeze=False, layout="constrained")
    labels = list(dict.fromkeys(curve.label for panel in figure.panels for curve in panel.curves if not curve.dashed))
    nested = sorted(_coinciding(figure.panels), key=labels.index)
    for index, place in enumerate(axes.flat):
        if index < count:
            _panel(place, figure.panels[index], labels, nested)
        else:
            place.set_axis_off()
    drawn.suptitle(figure.title, fontsize=10)
    named = [place.get_legend_handles_labels() for place in axes.flat[:count]]
    fullest = max(named, key=lambda each: len(each[1]))
    if all(set(each[1]) <= set(fullest[1]) for each in named):
        if fullest[1]:
            drawn.legend(*fullest, loc="outside lower center", **_legend(fullest[1], 95 * across))
    else:
        for place, each in zip(axes.flat, named, strict=False):
            if each[1]:
                below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.2)}
                place.legend(*each, **below, **_legend(each[1], 80))
    return drawn


def _legend(labels: Sequence[str], room: int) -> dict[str, Any]:
    """As many columns as fit into some number of characters."""
    wide = max(map(len, labels)) + 9  # the line and its mark, too
    return {"fontsize": 7.5, "ncols": max(1, min(len(labels), room // wide))}


def _panel(axes: Any, panel: Panel, labels: Sequence[str], nested: Sequence[str]) -> None:
    from matplotlib.ticker import MaxNLocator

    for curve in panel.curves:
        if curve.x:
            axes.errorbar(curve.x, curve.y, yerr=curve.half or None, label=curve.label, **_look(curve, labels, nested))
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    if panel.title:
        axes.set_title(panel.title, fontsize=9)
    if panel.log_x:
        axes.set_xscale("log")
    elif all(float(x).is_integer() for curve in panel.curves for x in curve.x):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if panel.log_y:
        axes.set_yscale("log")
        axes.set_ylim(*_log_limits(panel.curves))
    else:
        axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))


def _log_limits(curves: Sequence[Curve]) -> tuple[float | None, float | None]:
    """The frame of a logarithmic axis: an interval that comes close to zero, or reaches it, does not stretch it."""
    positive = [y for curve in curves for y in curve.y if y > 0]
    if not positive:
        return None, None
    bars = [
        y + sign * half for curve in curves for y, half in zip(curve.y, curve.half, strict=False) for sign in (-1, 1)
    ]
    lowest = min([min(positive), *(end for end in bars if end > min(positive) / 3)])
    highest = max([max(positive), *(end for end in bars if end < max(positive) * 3)])
    return lowest / 1.3, highest * 1.3


def _coinciding(panels: Sequence[Panel]) -> list[str]:
    """The labels of curves that lie upon another one, in some panel."""
    found: dict[str, None] = {}
    for panel in panels:
        solid = [curve for curve in panel.curves if curve.x and not curve.dashed]
        scale: Callable[[float], float] = (lambda y: log10(y) if y > 0 else 0.0) if panel.log_y else float
        ys = [scale(y) for curve in solid for y in curve.y]
        near = 0.02 * (max(ys) - min(ys)) if ys else 0.0
        for one, other in combinations(solid, 2):
            there = dict(zip(other.x, other.y, strict=True))
            apart = [abs(scale(y) - scale(there[x])) for x, y in zip(one.x, one.y, strict=True) if x in there]
            if apart and max(apart) <= near:
                found |= {one.label: None, other.label: None}
    return list(found)


def _look(curve: Curve, labels: Sequence[str], nested: Sequence[str]) -> dict[str, Any]:
    """Of curves that coincide, the first have wider lines and larger marks, all open, so that each is seen."""
    if curve.label not in labels:  # a closed form of its own
        return {"color": "black", "linestyle": "--", "linewidth": 1.0}
    index = labels.index(curve.label)
    colour = _COLOURS[index % len(_COLOURS)]
    if curve.dashed:
        return {"color": colour, "linestyle": "--", "linewidth": 1.0, "zorder": 3.5}
    left = 0.0
    if curve.label in nested:
        left = 1 - nested.index(curve.label) / max(1, len(nested) - 1)
    look = {"color": colour, "marker": _MARKERS[index % len(_MARKERS)], "markersize": 4.5 + 6.0 * left}
    look |= {"markerfacecolor": "none", "linewidth": 1.1 + 2.6 * left, "zorder": 3.0 - left}
    return look | {"capsize": 2.0, "elinewidth": 1.0}


def _drawing(plt: Any, drawing: Drawing) -> Any:
    points = [
        end for mark in drawing.marks for end in ((mark.start, mark.end) if isinstance(mark, Line) else (mark.at,))
    ]
    wide = max(x for x, _ in points) - min(x for x, _ in points)
    high = max(y for _, y in points) - min(y for _, y in points)
    drawn, axes = plt.subplots(figsize=(min(14.0, 1.5 + 0.75 * wide), min(14.0, 1.2 + 0.75 * high)))
    for mark in drawing.marks:
        if isinstance(mark, Line):
            style = {"arrowstyle": "-|>" if mark.arrow else "-", "linestyle": "--" if mark.dashed else "-"}
            axes.annotate(
                "", mark.end, mark.start, arrowprops=style | {"linewidth": 0.9, "color": "black", "shrinkA": 0}
            )
        else:
            box = {"boxstyle": "circle" if mark.circled else "square,pad=0.1", "facecolor": "white"}
            box["edgecolor"] = "black" if mark.circled else "none"
            axes.text(*mark.at, mark.text, ha="center", va="center", fontsize=8, bbox=box)
    axes.set_xlim(min(x for x, _ in points) - 0.7, max(x for x, _ in points) + 0.7)
    axes.set_ylim(max(y for _, y in points) + 0.7, min(y for _, y in points) - 0.7)
    axes.set_axis_off()
    axes.set_title(drawing.title, fontsize=10)
    return drawn
