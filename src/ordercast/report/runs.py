"""The report of a directory of runs: verdicts by protocol, what broke and why, metrics, and figures of them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ordercast.papers import Curve, Estimate, Figure, Panel
from ordercast.report.page import Cell, Page

_METRICS = {  # those of the figures and of the table, with their scale and their heading
    "delivery_s": (1000, "delivery (ms)"),
    "delivery_p99_s": (1000, "delivery, 99 % (ms)"),
    "stability_s": (1000, "stability (ms)"),
    "overhead_per_broadcast": (1, "overhead per broadcast"),
    "retransmissions_per_broadcast": (1, "retransmissions per broadcast"),
    "buffer_messages": (1, "buffer (messages)"),
    "evenness": (1, "evenness of load"),
}
_PLOTTED = ("delivery_s", "stability_s", "overhead_per_broadcast", "buffer_messages")
_AXES = {"members": "group size", "interval_s": "1/λ (s)", "size_bytes": "message size (bytes)"}
_BROKEN = Cell("broken promise", "bad")
_SHOWN = 200  # rows of the table of violations


class Group(NamedTuple):
    """Runs that differ in nothing but the seed."""

    settings: Mapping[str, Any]
    runs: int
    metrics: Mapping[str, Estimate]


class Count(NamedTuple):
    holds: int
    violated: int
    not_measured: int
    promised: bool  # to any of these runs

    @property
    def numbers(self) -> tuple[int, int, int]:
        return self[:3]


def count_verdicts(runs: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], Count]:
    """Per protocol and property, in how many runs it holds, is violated, is not measured."""
    out: dict[tuple[str, str], Count] = {}
    for run in runs:
        for name, result in run["verdicts"].items():
            key = (run["protocol"] or "unknown", name)
            before = out.get(key, Count(0, 0, 0, False))
            out[key] = Count(
                before.holds + (result == "holds"),
                before.violated + (result == "violated"),
                before.not_measured + (result == "not_measured"),
                before.promised or name in run["promised"],
            )
    return out


def runs_page(
    title: str,
    runs: Sequence[Mapping[str, Any]],
    groups: Sequence[Group],
    unreadable: Mapping[str, str],
    failed: Mapping[str, str],
) -> Page:
    """The page: `runs` as `verify` answers them, `groups` as `metrics` does."""
    deliveries = sum(run["deliveries"] for run in runs)
    page = Page(f"Report of {title}", f"{len(runs):,} runs, {deliveries:,} deliveries checked.")
    broken = [run for run in runs if run["broken"]]
    if broken:
        page.banner(f"{len(broken)} of {len(runs)} runs broke a promise of their protocol", "bad")
    else:
        page.banner(f"No run broke a promise of its protocol ({len(runs)} runs)", "good")
    if unreadable:
        page.banner(f"{len(unreadable)} traces could not be read", "bad")
    if failed:
        page.banner(f"{len(failed)} runs of the sweep failed", "bad")
    _verdicts(page, runs)
    _violations(page, runs)
    _figures(page, groups)
    _metrics(page, groups)
    for heading, errors in (("Failed runs", failed), ("Unreadable traces", unreadable)):
        if errors:
            page.section(heading)
            page.table(("run", "why"), list(errors.items())[:_SHOWN])
    return page


def _verdicts(page: Page, runs: Sequence[Mapping[str, Any]]) -> None:
    page.section("Verdicts")
    page.text(
        "Runs in which each property holds, of all runs of the protocol. A property that the protocol never promised "
        "may be violated without being a failure; what a trace cannot tell is not measured.",
        faint=True,
    )
    counts = count_verdicts(runs)
    protocols = list(dict.fromkeys(protocol for protocol, _ in counts))
    names = list(dict.fromkeys(name for _, name in counts))
    rows = [(name, *(_verdict(counts.get((protocol, name))) for protocol in protocols)) for name in names]
    page.table(("property", *protocols), rows)


def _verdict(count: Count | None) -> Cell:
    if count is None:
        return Cell("–", "none")
    total = sum(count.numbers)
    said = f"{count.holds} of {total}" + (f", {count.not_measured} not measured" if count.not_measured else "")
    if count.violated:
        text = f"{count.violated} of {total} violated"
        return Cell(text, "bad") if count.promised else Cell(f"{text}; not promised", "mild")
    return Cell(said, "good" if count.holds else "none")


def _violations(page: Page, runs: Sequence[Mapping[str, Any]]) -> None:
    found = [
        (
            run["run"],
            name,
            _BROKEN if name in run["broken"] else "not promised",
            _witness(run, name),
        )
        for run in runs
        for name, result in run["verdicts"].items()
        if result == "violated"
    ]
    if not found:
        return
    found.sort(key=lambda row: row[2] is not _BROKEN)
    page.section("Violations and their witnesses")
    if len(found) > _SHOWN:
        page.text(f"The first {_SHOWN} of {len(found):,}; `ordercast verify --json` has all.", faint=True)
    page.table(("run", "property", "", "witness"), found[:_SHOWN])


def _witness(run: Mapping[str, Any], name: str) -> str:
    return str(run["witnesses"].get(name, {}).get("text", ""))


def _metrics(page: Page, groups: Sequence[Group]) -> None:
    if not groups:
        return
    page.section("Metrics")
    page.text("Means over the seeds, with the half-width of the 95 % confidence interval.", faint=True)
    settings = _varying(groups)
    shown = [name for name in _METRICS if any(name in group.metrics for group in groups)]
    columns = (*settings, "runs", *(_METRICS[name][1] for name in shown))
    rows = []
    for group in groups:
        means = [_mean(group.metrics.get(name), _METRICS[name][0]) for name in shown]
        rows.append((*(group.settings.get(name) for name in settings), group.runs, *means))
    page.table(columns, rows)
    kinds = sorted({name for group in groups for name in group.metrics if name.startswith("control_")})
    if kinds:
        page.heading("Control messages per broadcast, by kind")
        rows = []
        for group in groups:
            means = [_mean(group.metrics.get(kind), 1) for kind in kinds]
            rows.append((*(group.settings.get(name) for name in settings), *means))
        page.table((*settings, *(name.removeprefix("control_") for name in kinds)), rows)


def _varying(groups: Sequence[Group]) -> list[str]:
    """The settings by which the groups differ; the protocol in any case."""
    names = dict.fromkeys(name for group in groups for name in group.settings)
    return [name for name in names if name == "protocol" or len({group.settings.get(name) for group in groups}) > 1]


def _mean(found: Estimate | None, scale: float) -> Cell | None:
    return None if found is None else Cell(str(Estimate(scale * found.mean, scale * found.half, found.seeds)), "number")


def _figures(page: Page, groups: Sequence[Group]) -> None:
    axis = _axis(groups)
    if axis is None:
        return
    others = [name for name in _varying(groups) if name not in (axis, "protocol")]
    panels = []
    for metric in _PLOTTED:
        curves = _curves(groups, metric, axis, others)
        if curves:
            wide = _spread(curves) > 100
            panels.append(Panel(x_label=_AXES[axis], y_label=_METRICS[metric][1], curves=curves, log_y=wide))
    if panels:
        page.section("Figures")
        page.figure(Figure(name="metrics", title=f"Metrics against {_AXES[axis]}", panels=panels))


def _axis(groups: Sequence[Group]) -> str | None:
    """What the figures' x-axis shows: the numeric setting with the most values."""
    counts = {name: len({group.settings.get(name) for group in groups} - {None}) for name in _AXES}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] > 1 else None


def _curves(groups: Sequence[Group], metric: str, axis: str, others: Sequence[str]) -> list[Curve]:
    by_label: dict[str, list[tuple[float, Estimate]]] = {}
    for group in groups:
        found = group.metrics.get(metric)
        if found is not None and group.settings.get(axis) is not None:
            more = [_said(name, group.settings.get(name)) for name in others]
            label = ", ".join([str(group.settings["protocol"]), *more])
            by_label.setdefault(label, []).append((group.settings[axis], found))
    scale = _METRICS[metric][0]
    curves = []
    for label, points in by_label.items():
        points.sort(key=lambda point: point[0])
        certain = all(found.seeds > 1 for _, found in points)
        curves.append(
            Curve(
                label=label,
                x=[x for x, _ in points],
                y=[scale * found.mean for _, found in points],
                half=[scale * found.half for _, found in points] if certain else (),
            )
        )
    return curves


def _said(name: str, value: Any) -> str:
    return str(value) if name in ("network", "parameters") else f"{name} {value}"


def _spread(curves: Sequence[Curve]) -> float:
    positive = [y for curve in curves for y in curve.y if y > 0]
    return max(positive) / min(positive) if len(positive) == sum(len(curve.y) for curve in curves) else 1.0
