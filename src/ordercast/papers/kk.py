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
from ordercast.papers.paper import Claim, Curve, Experiment, Figure, Findings, Panel, Paper, Result, Table
from ordercast.sim import Run, networks, workloads
from ordercast.trace import Trace
from ordercast.trace.columns import BROADCAST

PROTOCOLS = {"cm": "CM", "pinwheel": "Pinwheel", "dtp": "DTP", "totem": "Totem"}
OTHERS = ("cm", "pinwheel")  # those that DTP is to beat
GROUPS = (5, 10, 15, 20, 25, 30, 35, 40)
INTERVALS = (0.05, 0.1, 0.2)  # 1/lambda, in seconds
SEEDS = 3
LARGE = 30
LOADS = {"Poisson": "equal rates", "Hot": "one hot sender"}

Key = tuple[str, int, float]  # protocol, members, 1/lambda
Means = dict[Key, Estimate]


def ethernet(protocol: str, members: int, interval: float, seed: int, messages: int = 10_000, **more: Any) -> Run:
    """A run of section 5."""
    return Run(
        protocol=protocol,
        members=members,
        messages=messages,
        size_bytes=500,
        control_bytes=64,
        network=networks.Bus(bandwidth=10e6),
        seed=seed,
        **{"workload": workloads.Poisson(interval=interval), **more},
    )


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


def effort(run: Run) -> float:
    """About the seconds that a run takes: Totem's token never rests, so its work goes with the time simulated."""
    assert isinstance(run.workload, workloads.Poisson | workloads.Hot)
    if run.protocol == "totem":
        return 3e-6 * run.messages * run.workload.interval / run.members / 52e-6
    return 5e-6 * run.messages * run.members


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
    return {name: most for name, (most, _) in trace.info.facts["buffers"].items()}


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
    claims = [
        _evenness(ordering, "Poisson", "ordering", "the load of ordering, at equal rates"),
        _evenness(everything, "Hot", "all", "all that members send, when one broadcasts ten times as often"),
    ]
    notes = (
        "The paper plots no figure of this. A ring shares the acknowledgments evenly whatever the members send; DTP "
        "gives them to those who send least. So two readings: the evenness of the ordering alone, and of the work "
        "altogether. Evenness is Jain's index, 1 when all members send the same."
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


def _evenness(found: ByLoad, workload: str, name: str, what: str) -> Claim:
    groups = sorted({members for _, members, kind in found if kind == workload})
    values = {n: {each: found[each, n, workload].mean for each in PROTOCOLS} for n in groups}
    holds = [all(each["dtp"] > each[name] for name in each if name != "dtp") for each in values.values()]
    said = "; ".join(
        f"{n} members: " + ", ".join(f"{PROTOCOLS[name]} {value:.5f}" for name, value in each.items())
        for n, each in values.items()
    )
    text = f"DTP distributes the load more evenly over the members than the others do ({what})."
    return Claim(id=f"KK.load.{name}", text=text, section="5, 6", holds=all(holds) if holds else None, measured=said)


KINDS = ("broadcast", "send", "receive", "deliver", "reach")

PAPER = Paper(
    "KK",
    "A total ordering protocol using a dynamic token-passing scheme",
    [
        EXAMPLE,
        Experiment("fig2", "Stability time", "5", all_rates, performance, stability, KINDS, effort),
        Experiment("fig3", "Buffer size", "5", at_100_ms, performance, buffers, KINDS, effort),
        Experiment("fig4", "Delivery time", "5", at_100_ms, performance, delivery, KINDS, effort),
        Experiment("fig5", "Overhead messages", "5", at_100_ms, performance, overhead, KINDS, effort),
        Experiment("bounds", "The bounds on BUF", "4.2", crowded, peaks, bounds, KINDS),
        Experiment("load", "Who does the ordering", "5", loads, shares, load, KINDS, effort),
    ],
)
