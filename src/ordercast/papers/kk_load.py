"""What KK claims and plots no figure of: the bounds on BUF (4.2), and how evenly the load is shared (5, 6)."""

from collections.abc import Mapping, Sequence
from typing import Any

from ordercast.measure import metrics
from ordercast.papers.estimate import Estimate, over_seeds
from ordercast.papers.kk_setting import KINDS, OTHERS, PROTOCOLS, SEEDS, effort, ethernet
from ordercast.papers.paper import Claim, Experiment, Findings, Result, Table
from ordercast.sim import Run, workloads
from ordercast.trace import Trace
from ordercast.trace.columns import BROADCAST

LOADS = {"Poisson": "equal rates", "Hot": "one hot sender"}

# ------------------------------------------------------------------------------------ the bounds on BUF (4.2)


def crowded(quick: bool) -> list[Run]:
    """What fills a buffer: every member always has a message waiting, or arrivals are dense."""
    return [
        ethernet("dtp", members, 0.05, seed, 500 if quick else 3_000, workload=workload, watch_buffers=True)
        for members in ((5, 20) if quick else (5, 10, 20, 40))
        for workload in (workloads.Saturated(), workloads.Poisson(interval=0.05), workloads.Bursts(interval=0.05))
        for seed in range(1 if quick else SEEDS)
    ]


def peaks(trace: Trace) -> Mapping[str, Any]:
    """The most that any member's BUF held."""
    return {name: bound["most"] for name, bound in trace.info.facts["bounds"].items()}


def bounds(results: Sequence[Result]) -> Findings:
    rows = [
        (
            type(result.point.workload).__name__,
            result.point.members,
            result.point.seed,
            result.values["MSG"],
            2 * result.point.members - 1,
            result.values["ACK"],
            result.point.members - 1,
        )
        for result in results
    ]
    columns = ("workload", "members", "seed", "most MSGs", "2n - 1", "most ACKs", "n - 1")
    fullest = max(rows, key=lambda row: row[3] / row[4], default=None)
    said = "no runs" if fullest is None else f"at most {fullest[3]} MSGs of {fullest[4]} allowed, and {fullest[5]} ACKs"
    holds = all(row[3] <= row[4] and row[5] <= row[6] for row in rows) if rows else None
    text = "BUF holds 2n-1 MSG and n-1 ACK messages at most."
    claim = Claim(id="KK.bounds", text=text, section="4.2", holds=holds, measured=said)
    return Findings(tables=[Table(name="bounds", title="Fullest buffers", columns=columns, rows=rows)], claims=[claim])


# ------------------------------------------------------------------------------------ who does the ordering


def loads(quick: bool) -> list[Run]:
    """Equal rates, and one member that broadcasts ten times as often as each of the others."""
    return [
        ethernet(protocol, members, 0.1, seed, 1_000 if quick else 5_000, workload=workload)
        for protocol in PROTOCOLS
        for members in ((10,) if quick else (10, 20, 40))
        for workload in (workloads.Poisson(interval=0.1), workloads.Hot(interval=0.1))
        for seed in range(1 if quick else SEEDS)
    ]


def shares(trace: Trace) -> Mapping[str, Any]:
    """Jain's index (1: all do the same) of the frames that members send to order, and of all that they send."""
    found = metrics(trace)
    asked = [0] * len(trace.info.members)
    rows = trace.rows
    for member in rows["member"][rows["kind"] == BROADCAST]:
        asked[member] += 1
    sent = [load * found.broadcasts + own for load, own in zip(found.load, asked, strict=True)]
    return {"ordering": found.evenness, "all": jain(sent)}


def jain(values: Sequence[float]) -> float | None:
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else None


def load(results: Sequence[Result]) -> Findings:
    ordering, everything = _by_load(results, "ordering"), _by_load(results, "all")
    rows = [
        (PROTOCOLS[name], members, LOADS[workload], mean.mean, everything[name, members, workload].mean)
        for (name, members, workload), mean in ordering.items()
    ]
    columns = ("protocol", "members", "load", "evenness of ordering", "evenness of all sent")
    rivals = [name for name in PROTOCOLS if name != "dtp"]
    claims = [
        _evenness(ordering, "Poisson", rivals, "load.ordering", "what members send to order, at equal rates"),
        _evenness(everything, "Poisson", OTHERS, "load.all-equal", "all that they send, at equal rates; Totem apart"),
        _evenness(everything, "Hot", OTHERS, "load.all-hot", "all that they send, one of them much; Totem apart"),
    ]
    notes = (
        "The paper plots no figure of this. A ring shares the acknowledgments evenly whatever the members send; DTP "
        "gives them to those who send least. So there are two readings: the evenness of the ordering alone, and of the "
        "work altogether, messages included. Evenness is Jain's index, 1 when all members send the same number of "
        "frames. Totem's members pass the idle token around, which makes any share of the rest look even."
    )
    evenness = Table(name="load", title="Evenness", columns=columns, rows=rows)
    return Findings(tables=[evenness], claims=claims, notes=notes)


ByLoad = Mapping[tuple[str, int, str], Estimate]  # protocol, members, kind of workload


def _by_load(results: Sequence[Result], name: str) -> ByLoad:
    return over_seeds(
        results,
        by=lambda result: (result.point.protocol, result.point.members, type(result.point.workload).__name__),
        value=lambda result: result.values[name],
    )


def _evenness(found: ByLoad, workload: str, rivals: Sequence[str], name: str, what: str) -> Claim:
    groups = sorted({members for _, members, kind in found if kind == workload})
    values = {n: {each: found[each, n, workload].mean for each in PROTOCOLS} for n in groups}
    holds = [all(each["dtp"] > each[rival] for rival in rivals) for each in values.values()]
    said = "; ".join(
        f"{n} members: " + ", ".join(f"{PROTOCOLS[name]} {value:.5f}" for name, value in each.items())
        for n, each in values.items()
    )
    text = f"DTP distributes the load more evenly over the members than the others do ({what})."
    return Claim(id=f"KK.{name}", text=text, section="5, 6", holds=all(holds) if holds else None, measured=said)


BOUNDS = Experiment("bounds", "The bounds on BUF", "4.2", crowded, peaks, bounds, KINDS)
LOAD = Experiment("load", "Who does the ordering", "5", loads, shares, load, KINDS, effort)
