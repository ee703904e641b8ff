"""Melliar-Smith, Moser & Agrawala, "Broadcast protocols for distributed systems" (1990), sections II to IV.

Figs 5 to 7 are the paper's model by its closed form, and the same model by the partial order and the voting of the
protocol itself; Fig. 7 and the table of costs also have the whole protocol on a simulated bus.

Readings: the probabilities of Fig. 5 are cumulative, and each further message comes from any of the n processors, the
sender included.  In Fig. 7 a message takes 1 ms on the bus, a null message, too.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ordercast.measure import metrics
from ordercast.papers.estimate import Estimate, over_seeds
from ordercast.papers.mma_costs import COSTS
from ordercast.papers.mma_examples import EXAMPLES
from ordercast.papers.mma_model import Group, Load, Talk, agreement_s, agreements, delays, mean_delay, undecided
from ordercast.papers.paper import Claim, Curve, Experiment, Figure, Findings, Panel, Paper, Result, Table
from ordercast.sim import Run, networks, workloads
from ordercast.trace import Trace
from ordercast.trace.columns import BROADCAST, DELIVER

TEN = Group(10, 1, 10)
INSIDE = Group(4, 1, 10)  # a four-processor subsystem within ten processors
GROUPS = (Group(4, 1, 4), Group(7, 2, 7), TEN, Group(10, 3, 10), INSIDE)

# ------------------------------------------------------------------ Figs 5 and 6


def talks(quick: bool) -> list[Talk]:
    return [
        Talk(voters=group.voters, k=group.k, n=group.n, messages=8_000 if quick else 20_000, seed=seed)
        for group in GROUPS
        for seed in range(1 if quick else 5)
    ]


def latency(talk: Talk) -> Mapping[str, Any]:
    counts = delays(talk)
    return {"counts": counts, "mean": sum(late * count for late, count in enumerate(counts)) / sum(counts)}


def voted(results: Sequence[Result], group: Group) -> list[float]:
    """The share of messages that had no place after 0, 1, ... further messages, by the voting."""
    counts = np.zeros(200)
    for result in results:
        if result.point.group() == group:
            found = result.values["counts"]
            counts[: len(found)] += found[:200]
    total = counts.sum()
    return (1 - np.cumsum(counts) / total).tolist() if total else []


def latency_claims(results: Sequence[Result]) -> list[Claim]:
    means = over_seeds(results, by=lambda result: result.point.group(), value=lambda result: result.values["mean"])
    open_after, seen = undecided(TEN, 60), voted(results, TEN)
    claims = []
    for further, printed in ((5, 0.15), (6, 0.38), (7, 0.59)):
        exact = 1 - open_after[further]
        by_votes = 1 - seen[further] if seen else None
        claims.append(
            Claim(
                id=f"MMA.fig5.{further}",
                text=f"n = 10, k = 1: with probability {printed} a message is placed after {further} more.",
                section="III.D",
                holds=by_votes is not None and round(exact, 2) == printed and abs(by_votes - exact) < 0.03,
                measured=f"{exact:.4f} by the closed form" + (f", {by_votes:.3f} by the voting" if by_votes else ""),
            )
        )
    for group, printed in ((TEN, 7.5), (Group(4, 1, 4), 3.3), (INSIDE, 8.3)):
        exact, mean = mean_delay(group), means.get(group)
        claims.append(
            Claim(
                id=f"MMA.fig5.mean.{group.voters}of{group.n}",
                text=f"n = {group.label()}: the expected number of additional messages is {printed}.",
                section="III.D",
                holds=None if mean is None else round(exact, 1) == printed and abs(mean.mean - exact) < 0.05 * exact,
                measured=f"{exact:.3f} by the closed form" + (f", {mean} by the voting" if mean else ""),
            )
        )
    return claims


def fig5(results: Sequence[Result]) -> Findings:
    most = 25
    curves = []
    for group in GROUPS:
        exact, seen = undecided(group, most), voted(results, group)
        mass = [exact[m - 1] - exact[m] for m in range(1, most + 1)]
        further = list(range(1, most + 1))
        curves.append(Curve(label=group.label(), x=further, y=mass, dashed=True))
        if seen:
            by_votes = [seen[m - 1] - seen[m] for m in further]
            curves.append(Curve(label=group.label(), x=further, y=by_votes))
    panel = Panel(x_label="further messages", y_label="probability", curves=curves)
    rows = [[group.label(), mean_delay(group), *(1 - p for p in undecided(group, 10)[3:])] for group in GROUPS]
    return Findings(
        claims=latency_claims(results),
        figures=[
            Figure(name="mma_fig5", title="Fig. 5: delay to the total order (dashed: closed form)", panels=[panel])
        ],
        tables=[
            Table(
                name="mma_fig5",
                title="Probability of a place after so many further messages",
                columns=["group", "mean", *map(str, range(3, 11))],
                rows=rows,
            )
        ],
    )


def fig6(results: Sequence[Result]) -> Findings:
    most = 60
    curves = []
    for group in GROUPS:
        exact, seen = undecided(group, most), voted(results, group)
        further = list(range(most + 1))
        curves.append(Curve(label=group.label(), x=further, y=exact, dashed=True))
        if seen:
            certain = [m for m in further if seen[m] > 1e-4]
            curves.append(Curve(label=group.label(), x=certain, y=[seen[m] for m in certain]))
    ten = undecided(TEN, most)
    factors = [ten[m + 10] / ten[m] for m in (10, 20, 30, 40, 50)]
    claims = [
        Claim(
            id="MMA.fig6.factor",
            text="n = 10, k = 1: the probability of remaining undecided falls by 10^-3 with every ten messages.",
            section="III.D",
            holds=all(0.5e-3 < factor < 2e-3 for factor in factors),
            measured=", ".join(f"{factor:.2e}" for factor in factors),
        ),
        Claim(
            id="MMA.fig6.fifty",
            text="By the time 50 messages are broadcast it is negligible.",
            section="III.D",
            holds=ten[50] < 1e-9,
            measured=f"{ten[50]:.1e}",
        ),
    ]
    panel = Panel(x_label="further messages", y_label="probability of no decision", curves=curves, log_y=True)
    return Findings(
        claims=claims,
        figures=[Figure(name="mma_fig6", title="Fig. 6: remaining undecided (dashed: closed form)", panels=[panel])],
    )


# ------------------------------------------------------------------ Fig. 7

RATES = (20, 50, 100, 200, 300, 400, 500, 600, 700, 800, 900)


def loads(quick: bool) -> list[Load | Run]:
    """The model with and without null messages, and the whole protocol on a bus of 1 ms a message."""
    rates = (50, 200, 700) if quick else RATES
    seeds, messages = (1, 1_000) if quick else (3, 5_000)
    model: list[Load | Run] = [
        Load(n=10, k=1, rate=rate, null_every=null_every, messages=messages, seed=seed)
        for rate in rates
        for null_every in (0.0, 0.05)
        for seed in range(seeds)
    ]
    return model + [
        Run(
            protocol="total",
            members=10,
            messages=messages // 2,
            size_bytes=1250,
            control_bytes=1250,
            network=networks.Bus(bandwidth=10e6),
            workload=workloads.Poisson(interval=10 / rate),
            parameters={"resilience": 1, "null_after": 0.05},
            seed=seed,
        )
        for rate in rates
        for seed in range(seeds)
    ]


def agreement(point: Load | Trace) -> Mapping[str, Any]:
    if isinstance(point, Load):
        return agreements(point)
    found = metrics(point)
    rows = point.rows
    own = rows[(rows["kind"] == DELIVER) & (rows["member"] == rows["origin"])]
    at = {(int(row["origin"]), int(row["n"])): float(row["time"]) for row in own}
    asked = rows[rows["kind"] == BROADCAST][: int(point.info.facts["measured"])]
    asked = asked[len(asked) // 10 :]
    waits = [at[key] - float(row["time"]) for row in asked if (key := (int(row["member"]), int(row["n"]))) in at]
    overhead = found.overhead_per_broadcast
    return {
        "delay_s": sum(waits) / len(waits) if waits else None,
        "messages_per_agreement": None if overhead is None else 1 + overhead,
    }


KINDS = {"model": "the model", "nulls": "the model, null messages every 50 ms", "total": "Total on the bus"}


def kind_of(point: Load | Run) -> tuple[str, float]:
    if isinstance(point, Load):
        return ("nulls" if point.null_every else "model", point.rate)
    assert isinstance(point.workload, workloads.Poisson)
    return ("total", round(10 / point.workload.interval))


def fig7_claims(
    found: Mapping[tuple[str, float], Estimate], messages: Mapping[tuple[str, float], Estimate]
) -> list[Claim]:
    rates = sorted({rate for _, rate in found})
    low, high = found.get(("model", 50)), found.get(("model", 700))
    both = [found.get((kind, 700)) for kind in KINDS]
    measured = ", ".join(
        f"{KINDS[kind]} {1000 * each.mean:.1f} ms" for kind, each in zip(KINDS, both, strict=True) if each
    )
    close = [
        abs(found["model", rate].mean / agreement_s(10, 1, rate) - 1) for rate in rates if ("model", rate) in found
    ]
    return [
        Claim(
            id="MMA.fig7.load",
            text="As the load increases, the broadcast protocols show improved performance.",
            section="III.D",
            holds=None if low is None or high is None else high.mean < low.mean / 3,
            measured=f"{1000 * low.mean:.0f} ms at 50 per second, {1000 * high.mean:.1f} at 700"
            if low and high
            else "-",
        ),
        Claim(
            id="MMA.fig7.700",
            text="Trans and Total are capable of more than 700 agreements per second with very low delay.",
            section="III.D",
            holds=None if None in both else all(each is not None and each.mean < 0.05 for each in both),
            measured=f"at 700 per second: {measured}",
        ),
        Claim(
            id="MMA.fig7.access",
            text="There is a small increase in delay at very high rates, caused by waiting for the bus.",
            section="III.D",
            holds=agreement_s(10, 1, 800) < agreement_s(10, 1, 900) < 2 * agreement_s(10, 1, 800),
            measured=f"closed form: {1e3 * agreement_s(10, 1, 800):.1f} ms at 800 per second, "
            f"{1e3 * agreement_s(10, 1, 900):.1f} at 900",
        ),
        Claim(
            id="MMA.fig7.model",
            text="The voting on the modelled bus gives the closed form's delays.",
            section="III.D",
            holds=max(close) < 0.15 if close else None,
            measured=f"at most {100 * max(close):.0f} % apart" if close else "-",
        ),
        Claim(
            id="MMA.messages",
            text="Under favorable conditions, only one broadcast message per agreement.",
            section="IV",
            holds=None if ("total", 700) not in messages else messages["total", 700].mean < 1.1,
            measured=f"{messages['total', 700]} on the bus at 700 per second" if ("total", 700) in messages else "-",
        ),
    ]


def fig7(results: Sequence[Result]) -> Findings:
    found = over_seeds(results, by=lambda result: kind_of(result.point), value=lambda result: result.values["delay_s"])
    messages = over_seeds(
        results, by=lambda result: kind_of(result.point), value=lambda result: result.values["messages_per_agreement"]
    )
    rates = sorted({rate for _, rate in found})
    curves = [Curve(label="closed form", x=rates, y=[1000 * agreement_s(10, 1, rate) for rate in rates], dashed=True)]
    for kind, label in KINDS.items():
        mine = [(rate, found[kind, rate]) for rate in rates if (kind, rate) in found]
        curves.append(
            Curve(
                label=label,
                x=[rate for rate, _ in mine],
                y=[1000 * each.mean for _, each in mine],
                half=[1000 * each.half for _, each in mine if each.seeds > 1],
            )
        )
    panel = Panel(x_label="agreements per second", y_label="delay (ms)", curves=curves, log_y=True)
    rows = [
        [rate, KINDS[kind], 1000 * found[kind, rate].mean, messages[kind, rate].mean]
        for rate in rates
        for kind in KINDS
        if (kind, rate) in found
    ]
    return Findings(
        claims=fig7_claims(found, messages),
        figures=[
            Figure(name="mma_fig7", title="Fig. 7: delay to agreement, n = 10, k = 1, 1 ms a message", panels=[panel])
        ],
        tables=[
            Table(
                name="mma_fig7",
                title="Delay and messages per agreement",
                columns=["agreements per second", "by", "delay (ms)", "messages per agreement"],
                rows=rows,
            )
        ],
        notes=(
            "The simulated bus takes frames in the order of request, so a message there is composed while up to nine "
            "others wait, and acknowledges none of those: the order is decided in larger candidate sets, somewhat "
            "later than in the model, where each message acknowledges the one before it."
        ),
    )


def effort(point: Any) -> float:
    """About the seconds of a point."""
    if isinstance(point, Run):
        return 1e-4 * point.messages * point.members
    return 5e-5 * float(point.messages)


PAPER = Paper(
    "MMA",
    "Melliar-Smith, Moser & Agrawala, Broadcast protocols for distributed systems",
    [
        EXAMPLES,
        Experiment("fig5", "Delay to the total order", "III.D", talks, latency, fig5, seconds=effort),
        Experiment("fig6", "Remaining undecided", "III.D", talks, latency, fig6, seconds=effort),
        Experiment("fig7", "Delay to agreement under load", "III.D", loads, agreement, fig7, seconds=effort),
        COSTS,
    ],
)
