"""The report of a directory of runs: verdicts by protocol, what broke and why, metrics, and figures of them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ordercast.papers import Estimate
from ordercast.report.groups import METRICS, Group, figure, shared, simulated, varying
from ordercast.report.page import Cell, Page

_BROKEN = Cell("broken promise", "bad")
_SHOWN = 200  # rows of the table of violations


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
    ours = [group for group in groups if simulated(group)]
    others = [group for group in groups if not simulated(group)]
    for heading, same in (("Simulated runs", ours), ("Live and foreign runs", others)):
        if same:
            if ours and others:
                page.heading(heading)
            _table(page, same)


def _table(page: Page, groups: Sequence[Group]) -> None:
    common = shared(groups)
    if common:
        page.text(f"All with {common}.", faint=True)
    settings = varying(groups)
    shown = [name for name in METRICS if any(name in group.metrics for group in groups)]
    rows = []
    for group in groups:
        means = [_mean(group.metrics.get(name), METRICS[name][0]) for name in shown]
        rows.append((*(group.settings.get(name) for name in settings), group.runs, *means))
    page.table((*settings, "runs", *(METRICS[name][1] for name in shown)), rows)
    kinds = sorted({name for group in groups for name in group.metrics if name.startswith("control_")})
    if kinds:
        page.heading("Control messages per broadcast, by kind")
        rows = []
        for group in groups:
            means = [_mean(group.metrics.get(kind), 1) for kind in kinds]
            rows.append((*(group.settings.get(name) for name in settings), *means))
        page.table((*settings, *(name.removeprefix("control_") for name in kinds)), rows)


def _mean(found: Estimate | None, scale: float) -> Cell | None:
    if found is None:
        return None
    scaled = Estimate(scale * found.mean, scale * found.half, found.seeds)
    surely = found.half < 5e-5 * found.mean  # digits that nobody reads, and that push the table out of the page
    return Cell(f"{scaled.mean:.4g}" if surely else str(scaled), "number")


def _figures(page: Page, groups: Sequence[Group]) -> None:
    drawn = figure(groups)
    if drawn is not None:
        page.section("Figures")
        page.figure(drawn)
