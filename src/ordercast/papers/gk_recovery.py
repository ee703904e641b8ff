"""GK's section 6 on partitions: recovery over one critical link, and what goes on inside a partition meanwhile."""

from collections.abc import Sequence
from typing import Any

from ordercast.papers.estimate import Estimate, over_seeds
from ordercast.papers.gk_case import NAMES, NEAR, Case, at_the_repair, cut_off, recovery
from ordercast.papers.gk_verdicts import PROTOCOLS, beside, claimed, each, of, where
from ordercast.papers.paper import Curve, Experiment, Figure, Findings, Panel, Result, Table
from ordercast.sim.faults import Down
from ordercast.sim.topologies import TwoSites

# ------------------------------------------------------------------------------------ recovery from a partition


def partitions(quick: bool) -> list[Case]:
    sizes = ((2, 20), (10, 50)) if quick else tuple((k, m) for k in (2, 5, 10, 20) for m in (20, 100, 400))
    return [
        cut_off(name, k, m, loss, seed=seed)
        for name in PROTOCOLS
        for k, m in sizes
        for loss in ((0.0,) if quick else (0.0, 0.01))
        for seed in range(1 if loss == 0 else 3)
    ]


def recovered(results: Sequence[Result]) -> Findings:
    lossless = [result for result in results if result.point.family.loss == 0]
    tree, basic = of(lossless, "tree"), of(lossless, "basic")
    lossy = of([result for result in results if result.point.family.loss], "tree")
    claims = [
        claimed(
            "recovery.tree",
            "6",
            "Our algorithm would need only m transmissions over the critical link (nothing else lost).",
            each(tree, lambda r: r.values["critical"] == r.point.messages, _critical),
        ),
        claimed(
            "recovery.basic",
            "6",
            "The basic algorithm takes at least k m transmissions over the critical link.",
            each(basic, lambda r: r.values["critical"] >= r.point.family.far * r.point.messages, _critical),
        ),
        claimed(
            "recovery.lossy",
            "6",
            "Only m transmissions, when a hundredth of all frames is lost at every host (read as at most 1.1 m).",
            each(lossy, lambda r: r.values["critical"] <= 1.1 * r.point.messages, _critical),
        ),
        claimed(
            "recovery.all",
            "4",
            "All messages are eventually delivered to all hosts.",
            each(
                results,
                lambda r: r.values["recovery_s"] is not None,
                lambda r: f"within {r.values['recovery_s'] or float('inf'):.2f} s",
            ),
        ),
        claimed(
            "recovery.time",
            "6",
            "Recovery from partitions is handled more efficiently: it is faster wherever the link is the bottleneck.",
            beside(
                [r for r in lossless if r.point.family.far * r.point.messages >= 1000],
                lambda tree, basic: tree["recovery_s"] < basic["recovery_s"],
                lambda tree, basic: f"{tree['recovery_s']:.2f} s against {basic['recovery_s']:.2f} s",
            ),
        ),
        claimed(
            "partition.source",
            "6",
            "During a partition the source retransmits nothing unasked; the basic algorithm repeats itself in vain.",
            beside(
                lossless,
                lambda tree, basic: tree["source_before"] < basic["source_before"],
                lambda tree, basic: f"{tree['source_before']} frames of the source against {basic['source_before']}",
            ),
        ),
        claimed(
            "partition.once",
            "6",
            "The source sends each message once while the partition lasts.",
            each(tree, lambda r: r.values["source_before"] == r.point.messages, _source),
        ),
    ]
    columns = ("protocol", "k", "m", "loss", "over the link", "control over it", "recovery (s)", "seeds")
    keyed = {name: over_seeds(results, _key, lambda r, name=name: r.values[name]) for name in _MEASURED}  # type: ignore[misc]
    rows = [
        (NAMES[key[0]], *key[1:], *(_mean(keyed[name].get(key)) for name in _MEASURED), keyed["critical"][key].seeds)
        for key in keyed["critical"]
    ]
    table = Table(name="recovery", title="Recovery over one link of 256 kb/s", columns=columns, rows=rows)
    return Findings(claims=claims, tables=[table], figures=[_recovery_figure(lossless)])


_MEASURED = ("critical", "critical_control", "recovery_s")


def _key(result: Result) -> tuple[Any, ...]:
    case = result.point
    return case.protocol, case.family.far, case.messages, case.family.loss


def _mean(found: Estimate | None) -> Any:
    return "never" if found is None else found.mean


def _critical(result: Result) -> str:
    return f"{result.values['critical']} for {where(result.point)}"


def _source(result: Result) -> str:
    return f"{result.values['source_before']} frames for {where(result.point)}"


def _recovery_figure(results: Sequence[Result]) -> Figure:
    panels = []
    for name, label in (("critical", "transmissions over the link"), ("recovery_s", "recovery (s)")):
        curves = []
        farthest = max((result.point.family.far for result in results), default=0)
        for protocol in PROTOCOLS:
            for k in sorted({result.point.family.far for result in of(results, protocol)}):
                here = sorted(
                    (r.point.messages, r.values[name])
                    for r in of(results, protocol)
                    if r.point.family.far == k and r.values[name] is not None
                )
                if protocol == "basic" or k == farthest:  # the tree's curves lie upon one another
                    of_k = f"{NAMES[protocol]}, k = {k}"
                    curves.append(Curve(label=of_k, x=[m for m, _ in here], y=[y for _, y in here]))
        panels.append(Panel(x_label="messages missed (m)", y_label=label, curves=curves, log_y=True))
    return Figure(name="recovery", title="Recovery of k hosts that missed m messages", panels=panels)


# ------------------------------------------------------------------------------------ inside the partition


def insides(quick: bool) -> list[Case]:
    """Before the far site is cut off, each of its hosts misses other messages; different numbers follow later."""
    out = []
    for name in PROTOCOLS:
        for far in (5,) if quick else (3, 5, 10):
            for messages in (60, 240):
                hides = tuple(
                    Down(what=f"to-h{NEAR + k}", begin=0.975 + 0.1 * k, end=1.075 + 0.1 * k) for k in range(far)
                )
                cut = Down(what="slow", begin=1.0 + 0.1 * far, end=60.0)
                family = TwoSites(near=NEAR, far=far, bandwidth=256e3)
                out.append(
                    Case(protocol=name, family=family, messages=messages, failures=(*hides, cut), repair=60.0, end=60.0)
                )
    return out


def inside(results: Sequence[Result]) -> Findings:
    tree = of(results, "tree")
    by_far: dict[int, list[Result]] = {}
    for result in tree:
        by_far.setdefault(result.point.family.far, []).append(result)
    windows = [
        (far, [r.values[name] for r in here for name in ("control_first", "control_second")])
        for far, here in by_far.items()
    ]
    steady = all(max(counts) <= 1.05 * min(counts) for _, counts in windows)
    claims = [
        claimed(
            "inside.union",
            "4.1",
            "If one host in a partition has a message, all have it even before reconnection.",
            each(tree, lambda r: r.values["least"] == r.values["union"], _held),
        ),
        claimed(
            "inside.basic",
            "4.1",
            "This is quite unlike the basic algorithm.",
            each(of(results, "basic"), lambda r: r.values["least"] < r.values["union"], _held),
        ),
        claimed(
            "inside.control",
            "6",
            "Control traffic in a partition is independent of the number of messages (60 missed or 240; within 5 %).",
            (steady if windows else None, "; ".join(f"k = {far}: {counts}" for far, counts in windows)),
        ),
    ]
    columns = ("protocol", "k", "m", "held by some", "least held by one", "control in 10 s", "in the next 10 s")
    rows = [
        (NAMES[r.point.protocol], r.point.family.far, r.point.messages, *(r.values[name] for name in _HELD))
        for r in results
    ]
    title = "Inside the partition, at the moment of its repair"
    return Findings(claims=claims, tables=[Table(name="inside", title=title, columns=columns, rows=rows)])


_HELD = ("union", "least", "control_first", "control_second")


def _held(result: Result) -> str:
    return f"one host has {result.values['least']} of the {result.values['union']} that any has"


RECOVERY = Experiment("recovery", "Recovery of k hosts that missed m messages", "6", partitions, recovery, recovered)
INSIDE = Experiment(
    "inside", "Redelivery and control traffic inside a partition", "4.1, 6", insides, at_the_repair, inside
)
