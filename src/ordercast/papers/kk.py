"""Kim & Kim, "A total ordering protocol using a dynamic token-passing scheme" (1997), sections 3 and 5.

Section 5: the group broadcasts ten thousand messages of 500 bytes over one 10 Mb/s Ethernet.  Updates arrive at every
member in independent Poisson processes of the same rate lambda; a token holder is silent for at most T = 100 ms;
nothing is lost, and processing takes no time.

What the paper leaves open, and the reading taken here: acknowledgments and tokens have 64 bytes; the group has 5 to 40
members in steps of five; arrivals go on until the measured messages are stable, and times leave out the first 2 % of
them; a group is large from 30 members.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from ordercast.measure import metrics
from ordercast.papers.estimate import Estimate, over_seeds
from ordercast.papers.kk_example import EXAMPLE
from ordercast.papers.kk_load import BOUNDS, LOAD
from ordercast.papers.kk_setting import GROUPS, INTERVALS, KINDS, LARGE, OTHERS, PROTOCOLS, SEEDS, effort, ethernet
from ordercast.papers.paper import Claim, Curve, Experiment, Figure, Findings, Panel, Paper, Result, Table
from ordercast.sim import Run
from ordercast.trace import Trace

Key = tuple[str, int, float]  # protocol, members, 1/lambda
Means = dict[Key, Estimate]


def all_rates(quick: bool, intervals: Sequence[float] = INTERVALS) -> list[Run]:
    groups, seeds, messages = ((5, 20, 40), 1, 2_000) if quick else (GROUPS, SEEDS, 10_000)
    return [
        ethernet(protocol, members, interval, seed, messages)
        for protocol in PROTOCOLS
        for members in groups
        for interval in intervals
        for seed in range(seeds)
    ]


def at_100_ms(quick: bool) -> list[Run]:
    return all_rates(quick, (0.1,))


def performance(trace: Trace) -> Mapping[str, Any]:
    """Section 5's metrics of one run."""
    found = metrics(trace)
    return {
        "stability_s": found.stability_s,
        "stability_times_rate": found.stability_times_rate,
        "buffer_messages": found.buffer_messages,
        "delivery_s": found.delivery_s,
        "overhead": found.overhead_per_broadcast,
        "evenness": found.evenness,
    }


def means(results: Sequence[Result], name: str) -> Means:
    """Of each point, the mean of one metric over the seeds."""
    return over_seeds(
        results,
        by=lambda result: (result.point.protocol, result.point.members, result.point.workload.interval),
        value=lambda result: result.values[name],
    )


def panel(found: Means, interval: float, y_label: str, scale: float = 1.0, **more: Any) -> Panel:
    """One metric against the group size, a curve per protocol."""
    curves = []
    for protocol, label in PROTOCOLS.items():
        points = [(members, mean) for (name, members, at), mean in found.items() if (name, at) == (protocol, interval)]
        curves.append(
            Curve(
                label=label,
                x=[members for members, _ in points],
                y=[scale * mean.mean for _, mean in points],
                half=[scale * mean.half for _, mean in points if mean.seeds > 1],
            )
        )
    return Panel(x_label="group size", y_label=y_label, curves=curves, **more)


def table(name: str, title: str, found: Means, unit: str) -> Table:
    """The numbers of a figure, with their confidence intervals."""
    columns = ("protocol", "members", "1/lambda (ms)", unit, "± 95 %", "seeds")
    rows = [
        (PROTOCOLS[protocol], members, round(1000 * interval), mean.mean, mean.half, mean.seeds)
        for (protocol, members, interval), mean in found.items()
    ]
    return Table(name=name, title=title, columns=columns, rows=rows)


def everywhere(found: Means, better: str, worse: Sequence[str]) -> tuple[bool | None, str]:
    """Is one protocol's mean below that of others at every point?  And the closest call, or the exceptions."""
    pairs = [
        (found[better, members, interval].mean / mean.mean, PROTOCOLS[name], members, interval)
        for (name, members, interval), mean in found.items()
        if name in worse and (better, members, interval) in found
    ]
    if not pairs:
        return None, "no points"
    wrong = [pair for pair in pairs if pair[0] >= 1]
    said = [f"{ratio:.3f} of {name} at ({n}, {1000 * at:g} ms)" for ratio, name, n, at in wrong or [max(pairs)]]
    return not wrong, f"{PROTOCOLS[better]} has {'at most ' if not wrong else ''}{', '.join(said)}"


def in_large_groups(found: Means, protocol: str, low: float, high: float) -> tuple[bool | None, str]:
    """Does a protocol's mean lie in a range in all large groups?"""
    values = {key[1:]: mean for key, mean in found.items() if key[0] == protocol and key[1] >= LARGE}
    if not values:
        return None, "no large groups"
    said = ", ".join(f"{mean.mean:.3f} at ({n}, {1000 * at:g} ms)" for (n, at), mean in values.items())
    return all(low <= mean.mean <= high for mean in values.values()), said


def curve(found: Means, protocol: str, interval: float) -> list[float]:
    """One protocol's means by ascending group size."""
    return [mean.mean for key, mean in sorted(found.items()) if (key[0], key[2]) == (protocol, interval)]


def monotone(values: Sequence[float], rises: bool) -> bool | None:
    return all(a < b if rises else a > b for a, b in pairwise(values)) if len(values) > 1 else None


def claimed(name: str, text: str, verdict: tuple[bool | None, str]) -> Claim:
    return Claim(id=f"KK.{name}", text=text, section="5", holds=verdict[0], measured=verdict[1])


# ------------------------------------------------------------------------------------ Figure 2: stability


def stability(results: Sequence[Result]) -> Findings:
    found = means(results, "stability_s")
    scaled = means([result for result in results if result.point.protocol != "totem"], "stability_times_rate")
    intervals = sorted({key[2] for key in found})
    panels = [panel(found, at, "stability time (ms)", 1000, title=f"1/λ = {1000 * at:g} ms") for at in intervals]
    claims = [
        claimed("stability.best", "DTP is superior to the others except Totem.", everywhere(found, "dtp", OTHERS)),
        claimed("stability.totem", "Totem's is shorter than DTP's.", everywhere(found, "totem", ("dtp",))),
        claimed(
            "stability.two-thirds",
            "DTP's is bounded to about two-thirds of 1/λ when the group grows (read as 0.62 to 0.72).",
            in_large_groups(scaled, "dtp", 0.62, 0.72),
        ),
        *(
            claimed(
                f"stability.{name}",
                f"{PROTOCOLS[name]}'s approaches nearly 1/λ as the group grows (read as 0.9 to 1.05).",
                in_large_groups(scaled, name, 0.9, 1.05),
            )
            for name in OTHERS
        ),
        claimed("stability.pinwheel-cm", "Pinwheel's is longer than CM's at (40, 50 ms) alone.", only_there(found)),
    ]
    return Findings(
        figures=[Figure(name="fig2", title="Comparison for average stability time", panels=panels)],
        tables=[
            table("fig2-seconds", "Stability time", found, "seconds"),
            table("fig2-scaled", "Stability time over the realised 1/λ", scaled, "stability times rate"),
        ],
        claims=claims,
    )


def only_there(found: Means) -> tuple[bool | None, str]:
    """The points at which Pinwheel is slower than CM; (40, 50 ms) is to be the only one."""
    ratios = {key[1:]: found["pinwheel", *key[1:]].mean / mean.mean for key, mean in found.items() if key[0] == "cm"}
    if (40, 0.05) not in ratios:
        return None, "(40, 50 ms) was not among the points"
    slower = {point for point, ratio in ratios.items() if ratio > 1}
    nearest = sorted(ratios.items(), key=lambda each: -each[1])[:3]
    said = "; ".join(f"{ratio:.3f} of CM's at ({n}, {1000 * at:g} ms)" for (n, at), ratio in nearest)
    return slower == {(40, 0.05)}, said


# ------------------------------------------------------------------------------------ Figures 3, 4, 5, at 100 ms


def buffers(results: Sequence[Result]) -> Findings:
    found = means(results, "buffer_messages")
    gaps = [other - dtp for dtp, other in zip(curve(found, "dtp", 0.1), curve(found, "cm", 0.1), strict=True)]
    claims = [
        claimed("buffers.best", "DTP needs a smaller buffer than CM and Pinwheel.", everywhere(found, "dtp", OTHERS)),
        claimed("buffers.totem", "Totem needs a smaller one than DTP.", everywhere(found, "totem", ("dtp",))),
        claimed(
            "buffers.gap",
            "The difference increases as the group size increases.",
            (monotone(gaps, rises=True), "CM's minus DTP's: " + ", ".join(f"{gap:.2f}" for gap in gaps)),
        ),
    ]
    figure = figure_at_100_ms("fig3", "Comparison for average buffer size", found, "buffer size (messages)")
    return Findings(figures=[figure], tables=[table("fig3-messages", "Buffer size", found, "messages")], claims=claims)


def delivery(results: Sequence[Result]) -> Findings:
    found = means(results, "delivery_s")
    ratios = [
        found["dtp", members, interval].mean / mean.mean
        for (name, members, interval), mean in found.items()
        if name in OTHERS
    ]
    totem = curve(found, "totem", 0.1)
    claims = [
        claimed(
            "delivery.comparable",
            "DTP's delivery time is comparable with the others' except Totem's (read as within 10 %).",
            (all(0.9 <= ratio <= 1.1 for ratio in ratios), f"{min(ratios):.3f} to {max(ratios):.3f} of the others'"),
        ),
        claimed(
            "delivery.totem",
            "Totem's increases when the group grows.",
            (monotone(totem, rises=True), ", ".join(f"{1000 * each:.3f}" for each in totem) + " ms"),
        ),
    ]
    figure = figure_at_100_ms("fig4", "Comparison for average delivery time", found, "delivery time (ms)", 1000)
    return Findings(figures=[figure], tables=[table("fig4-seconds", "Delivery time", found, "seconds")], claims=claims)


def overhead(results: Sequence[Result]) -> Findings:
    found = means(results, "overhead")
    ones = [mean.mean for (name, _, _), mean in found.items() if name != "totem"]
    totem = curve(found, "totem", 0.1)
    claims = [
        claimed(
            "overhead.one",
            "About one overhead message per message, except Totem's (read as 0.9 to 1.1).",
            (all(0.9 <= each <= 1.1 for each in ones), f"{min(ones):.3f} to {max(ones):.3f}"),
        ),
        claimed(
            "overhead.totem",
            "Totem's is large in small groups and decreases when the group grows.",
            (monotone(totem, rises=False), ", ".join(f"{each:.1f}" for each in totem)),
        ),
    ]
    figure = figure_at_100_ms("fig5", "Average number of messages per multicast message", found, "messages", log_y=True)
    return Findings(figures=[figure], tables=[table("fig5-messages", "Overhead", found, "messages")], claims=claims)


def figure_at_100_ms(name: str, title: str, found: Means, y_label: str, scale: float = 1, **more: Any) -> Figure:
    return Figure(name=name, title=f"{title}: 1/λ = 100 ms", panels=[panel(found, 0.1, y_label, scale, **more)])


PAPER = Paper(
    "KK",
    "A total ordering protocol using a dynamic token-passing scheme",
    [
        EXAMPLE,
        Experiment("fig2", "Stability time", "5", all_rates, performance, stability, KINDS, effort),
        Experiment("fig3", "Buffer size", "5", at_100_ms, performance, buffers, KINDS, effort),
        Experiment("fig4", "Delivery time", "5", at_100_ms, performance, delivery, KINDS, effort),
        Experiment("fig5", "Overhead messages", "5", at_100_ms, performance, overhead, KINDS, effort),
        BOUNDS,
        LOAD,
    ],
)
