"""What Trans and Total cost beside token protocols on the same load, for groups of 4 to 50."""

from collections.abc import Mapping, Sequence
from typing import Any

from ordercast.measure import metrics
from ordercast.papers.estimate import over_seeds
from ordercast.papers.paper import Curve, Experiment, Figure, Findings, Panel, Result, Table
from ordercast.sim import Run, workloads
from ordercast.trace import Trace

SIZES = (4, 10, 20, 35, 50)
RIVALS = {"total": "Total", "trans": "Trans", "dtp": "DTP", "cm": "CM", "pinwheel": "Pinwheel"}


def sizes(quick: bool) -> list[Run]:
    groups, seeds, messages = ((4, 10), 1, 300) if quick else (SIZES, 2, 800)
    return [
        Run(
            protocol=protocol,
            members=members,
            messages=messages,
            workload=workloads.Poisson(interval=0.1),
            parameters={"null_after": 0.05} if protocol in ("total", "trans") else {},
            seed=seed,
        )
        for protocol in RIVALS
        for members in groups
        for seed in range(seeds)
    ]


def costs(trace: Trace) -> Mapping[str, Any]:
    found = metrics(trace)
    return {
        "control": found.overhead_per_broadcast,
        "delivery_s": found.delivery_s,
        "stability_s": found.stability_s,
    }


def beside(results: Sequence[Result]) -> Findings:
    def means(name: str) -> Mapping[tuple[str, int], Any]:
        return over_seeds(
            results,
            by=lambda result: (result.point.protocol, result.point.members),
            value=lambda result: result.values[name],
        )

    control, delivery, stability = means("control"), means("delivery_s"), means("stability_s")
    panels = []
    for label, scale, found in (("control frames per broadcast", 1.0, control), ("delivery (ms)", 1e3, delivery)):
        curves = []
        for protocol, name in RIVALS.items():
            points = [(n, mean) for (of, n), mean in found.items() if of == protocol]
            curves.append(Curve(label=name, x=[n for n, _ in points], y=[scale * mean.mean for _, mean in points]))
        panels.append(Panel(x_label="group size", y_label=label, curves=curves))
    rows = [
        [RIVALS[protocol], n, control[protocol, n].mean, 1e3 * mean.mean, 1e3 * stability[protocol, n].mean]
        for (protocol, n), mean in delivery.items()
        if (protocol, n) in control and (protocol, n) in stability
    ]
    return Findings(
        figures=[
            Figure(
                name="mma_costs", title="Trans and Total beside token protocols, each member every 0.1 s", panels=panels
            )
        ],
        tables=[
            Table(
                name="mma_costs",
                title="One broadcast of each member every 0.1 s, on a 10 Mb/s bus",
                columns=["protocol", "members", "control frames per broadcast", "delivery (ms)", "stability (ms)"],
                rows=rows,
            )
        ],
        notes="Null messages of Trans and Total are due after 50 ms; the token protocols have their defaults.",
    )


COSTS = Experiment(
    "costs",
    "Costs beside token protocols",
    "III.D",
    sizes,
    costs,
    beside,
    seconds=lambda run: 1e-4 * run.messages * run.members,
)
