"""GK's section 6 on cost without failures, single losses, the source's server, delta; epidemics (section 3); scale."""

from collections.abc import Sequence
from itertools import pairwise

from ordercast.papers.gk_case import NAMES, NEAR, Case, recovery, spread, whole
from ordercast.papers.gk_figures import Figure21
from ordercast.papers.gk_verdicts import PROTOCOLS, beside, claimed, each, of, where
from ordercast.papers.paper import Curve, Experiment, Figure, Findings, Panel, Result, Table
from ordercast.sim.faults import Down
from ordercast.sim.topologies import Halves, LanOfLans, Satellite, TwoSites

# ------------------------------------------------------------------------------------ epidemic propagation


def epidemics(quick: bool) -> list[Case]:
    """h1's server fails when a message has left it for h2, and not yet for the others."""
    # The message is on l2 and on l3 from 1.0014 to 1.0028 s: l2 loses it, l3 does not.
    failures = (Down(what="l2", begin=1.002, end=60.0), Down(what="s1", begin=1.003, end=60.0))
    return [
        Case(protocol=name, family=Figure21(slow=1.0), messages=1, failures=failures, end=30.0) for name in PROTOCOLS
    ]


def epidemic(results: Sequence[Result]) -> Findings:
    have = {result.point.protocol: result.values["have"] for result in results}
    verdict = (have["tree"] == 4, f"{have['tree']} of 4 hosts have it") if "tree" in have else (None, "no points")
    simple = (have["basic"] == 1, f"{have['basic']} of 4 hosts has it") if "basic" in have else (None, "no points")
    claims = [
        claimed("epidemic.tree", "3", "The message propagates out of h2 while h1 and its server are down.", verdict),
        claimed("epidemic.basic", "3", "With a simple algorithm the remaining hosts would not receive it.", simple),
    ]
    return Findings(claims=claims)


# ------------------------------------------------------------------------------------ single losses


def losses(quick: bool) -> list[Case]:
    """Of four LANs with four hosts, one host at a time loses one message."""
    count = 12 if quick else 48
    failures = tuple(
        Down(what=f"to-h{4 + k % 12}", begin=0.99 + k, end=1.05 + k) for k in range(count)
    )  # h0 to h3 are in the source's LAN
    family = LanOfLans(lans=4, hosts=4)
    return [
        Case(protocol=name, family=family, messages=count + 1, interval=1.0, failures=failures, end=count + 20.0)
        for name in PROTOCOLS
    ]


def lost(results: Sequence[Result]) -> Findings:
    tree = of(results, "tree")
    claims = [
        claimed(
            "loss.near",
            "6",
            "The redelivery takes place not necessarily from the source, in all likelihood from a near-by host "
            "(read as: less than half of them).",
            each(
                tree,
                lambda r: 2 * r.values["by_source"] < r.values["redeliveries"],
                lambda r: f"{r.values['by_source']} of {r.values['redeliveries']} redeliveries by the source",
            ),
        ),
        claimed(
            "loss.cost",
            "6",
            "It is better at minimizing the cost of redelivery of isolated lost messages.",
            beside(
                results,
                lambda tree, basic: tree["redelivery_cost"] < basic["redelivery_cost"],
                lambda tree, basic: f"a path of cost {tree['redelivery_cost']:g} against {basic['redelivery_cost']:g}",
            ),
        ),
    ]
    columns = ("protocol", "redeliveries", "by the source", "mean cost of the path", "mean delay (s)")
    rows = [
        (
            NAMES[r.point.protocol],
            *(r.values[name] for name in ("redeliveries", "by_source", "redelivery_cost", "delay_s")),
        )
        for r in results
    ]
    return Findings(claims=claims, tables=[Table(name="losses", title="Single losses", columns=columns, rows=rows)])


# ------------------------------------------------------------------------------------ satellite windows


def windows(quick: bool) -> list[Case]:
    """Stations that see their satellite for half of the time, two of them together for a sixth of it."""
    out = []
    for name in PROTOCOLS:
        for hosts in (3,) if quick else (2, 4, 8):
            family = Satellite(stations=3, hosts=hosts, orbit=30.0, window=15.0)
            failures = tuple(family.failures(120.0))
            out.append(Case(protocol=name, family=family, messages=100, interval=0.5, failures=failures, end=180.0))
    return out


def through_windows(results: Sequence[Result]) -> Findings:
    claims = [
        claimed(
            "windows.all",
            "2.1",
            "Clusters that communicate through a satellite, for brief times only, get all messages.",
            each(
                of(results, "tree"),
                lambda r: r.values["complete"],
                lambda r: f"{r.point.family.hosts} hosts a station, mean delay {r.values['delay_s']:.1f} s",
            ),
        ),
        claimed(
            "windows.links",
            "2.1",
            "It is imperative that the links providing the connection be utilized as efficiently as possible (read as: "
            "fewer messages up and down than the basic algorithm's).",
            beside(
                results,
                lambda tree, basic: tree["uplinks"] < basic["uplinks"],
                lambda tree, basic: f"{tree['uplinks']} frames with messages against {basic['uplinks']}",
            ),
        ),
    ]
    columns = ("protocol", "hosts a station", "frames over the satellite's links", "mean delay (s)", "all delivered")
    measured = ("uplinks", "delay_s", "complete")
    rows = [(NAMES[r.point.protocol], r.point.family.hosts, *(r.values[name] for name in measured)) for r in results]
    table = Table(name="windows", title="100 messages through satellite windows", columns=columns, rows=rows)
    return Findings(claims=claims, tables=[table])


# ------------------------------------------------------------------------------------ without failures


def peaceful(quick: bool) -> list[Case]:
    """Twenty seconds, few messages and many."""
    return [
        Case(
            protocol=name,
            family=TwoSites(near=NEAR, far=far, bandwidth=10e6),
            messages=messages,
            interval=20.0 / messages,
            end=25.0,
        )
        for name in PROTOCOLS
        for far in ((5, 20) if quick else (2, 5, 10, 20, 40))
        for messages in (100, 400)
    ]


def costs(results: Sequence[Result]) -> Findings:
    tree = of(results, "tree")
    claims = [
        claimed(
            "cost.efficient",
            "6",
            "In the absence of failures it has the highest efficiency; separate copies are far inferior.",
            beside(
                results,
                lambda tree, basic: tree["payload_cost"] < basic["payload_cost"],
                lambda tree, basic: f"cost {tree['payload_cost']:g} against {basic['payload_cost']:g}",
            ),
        ),
        claimed(
            "cost.delay",
            "6",
            "… and the lowest delays.",
            beside(
                results,
                lambda tree, basic: tree["delay_s"] < basic["delay_s"],
                lambda tree, basic: f"{1000 * tree['delay_s']:.2f} ms against {1000 * basic['delay_s']:.2f} ms",
            ),
        ),
        claimed(
            "cost.server",
            "6",
            "Congestion of the source's server is less likely: one frame a message against one per host.",
            beside(
                results,
                lambda tree, basic: tree["source_frames"] < basic["source_frames"],
                lambda tree, basic: (
                    f"{tree['source_frames']} frames, waiting at most "
                    f"{1000 * tree['source_wait_s']:.2f} ms, against {basic['source_frames']} and "
                    f"{1000 * basic['source_wait_s']:.2f} ms"
                ),
            ),
        ),
        claimed(
            "cost.once",
            "6",
            "Each message leaves the source once.",
            each(
                tree,
                lambda r: r.values["source_frames"] == r.point.messages,
                lambda r: f"{r.values['source_frames']} frames for {where(r.point)}",
            ),
        ),
        claimed("cost.control", "6", "Control traffic is independent of the number of messages.", _independent(tree)),
        claimed(
            "cost.acknowledgments",
            "6",
            "The basic algorithm has one control message per broadcast per host.",
            _proportional(of(results, "basic")),
        ),
    ]
    columns = (
        "protocol",
        "k",
        "m",
        "payload cost",
        "control cost",
        "delay (ms)",
        "source's frames",
        "longest wait (ms)",
    )
    rows = [
        (
            NAMES[r.point.protocol],
            r.point.family.far,
            r.point.messages,
            r.values["payload_cost"],
            r.values["control_cost"],
            1000 * r.values["delay_s"],
            r.values["source_frames"],
            1000 * r.values["source_wait_s"],
        )
        for r in results
    ]
    return Findings(claims=claims, tables=[Table(name="costs", title="Without failures", columns=columns, rows=rows)])


def _by_size(results: Sequence[Result]) -> dict[int, list[tuple[int, float]]]:
    out: dict[int, list[tuple[int, float]]] = {}
    for result in results:
        out.setdefault(result.point.family.far, []).append((result.point.messages, result.values["control"]))
    return out


def _independent(results: Sequence[Result]) -> tuple[bool | None, str]:
    """Four times the messages in the same time need no more control frames (but for reports that begin or end)."""
    found = _by_size(results)
    holds = all(
        max(control for _, control in here) <= 1.1 * min(control for _, control in here) for here in found.values()
    )
    return (holds if found else None), "; ".join(f"k = {far}: {here}" for far, here in found.items())


def _proportional(results: Sequence[Result]) -> tuple[bool | None, str]:
    """Frames over links: an acknowledgment from each host, over the links of its path."""
    found = _by_size(results)
    holds = all(
        abs(b / a - many / few) < 1e-9 for here in found.values() for (few, a), (many, b) in pairwise(sorted(here))
    )
    return (holds if found else None), "; ".join(f"k = {far}: {here}" for far, here in found.items())


# ------------------------------------------------------------------------------------ delta


def deltas(quick: bool) -> list[Case]:
    """The last message of all is lost at one host: only a null message can tell it."""
    return [
        Case(
            protocol="tree",
            family=TwoSites(near=NEAR, far=6, bandwidth=1e6),
            messages=1,
            failures=(Down(what="to-h5", begin=0.99, end=1.05),),
            repair=1.05,
            end=61.0,
            parameters={"delta": delta},
        )
        for delta in ((0.25, 1.0) if quick else (0.1, 0.25, 0.5, 1.0, 2.0, 4.0))
    ]


def trade_off(results: Sequence[Result]) -> Findings:
    points = sorted(
        (r.point.parameters["delta"], r.values["recovery_s"], r.values["control_cost"] / 61.0) for r in results
    )
    said = "; ".join(f"delta {delta:g} s: {time:.2f} s, cost {cost:.3g} a second" for delta, time, cost in points)
    rising = all(a[1] < b[1] for a, b in pairwise(points)) if len(points) > 1 else None
    falling = all(a[2] > b[2] for a, b in pairwise(points)) if len(points) > 1 else None
    claims = [
        claimed("delta.cost", "6", "A large delta keeps down the cost.", (falling, said)),
        claimed("delta.speed", "6", "Frequent null messages result in faster recovery.", (rising, said)),
    ]
    x = [delta for delta, _, _ in points]
    panels = [
        Panel(
            x_label="delta (s)",
            y_label=label,
            curves=[Curve(label="coordinator trees", x=x, y=y)],
            log_x=True,
            log_y=True,
        )
        for label, y in (
            ("recovery of a last message (s)", [p[1] for p in points]),
            ("control cost a second", [p[2] for p in points]),
        )
    ]
    return Findings(
        claims=claims, figures=[Figure(name="delta", title="Cost against speed of recovery", panels=panels)]
    )


# ------------------------------------------------------------------------------------ a large network


def large(quick: bool) -> list[Case]:
    """Half of the hosts are cut off and miss everything."""
    family, messages = (Halves(hosts=40, switches=12), 100) if quick else (Halves(), 1000)
    repair = 5.0 + 0.02 * messages
    return [
        Case(
            protocol="tree",
            family=family,
            messages=messages,
            interval=0.02,
            begin=2.0,
            failures=(Down(what="slow", begin=1.0, end=repair),),
            repair=repair,
            end=repair + 30.0,
        )
    ]


def at_scale(results: Sequence[Result]) -> Findings:
    claims = [
        claimed(
            "scale",
            "6",
            "m transmissions over the critical link, and everybody has everything.",
            each(
                results,
                lambda r: r.values["critical"] == r.point.messages and r.values["recovery_s"] is not None,
                lambda r: (
                    f"{r.point.family.hosts} hosts, m = {r.point.messages}: "
                    f"{r.values['critical']} over the link and {r.values['critical_control']} of control, "
                    f"recovered in {r.values['recovery_s']:.2f} s"
                ),
            ),
        )
    ]
    columns = ("link", "payload frames", "control frames", "bytes", "longest wait (s)")
    tables = [
        Table(name="scale-links", title="The busiest links", columns=columns, rows=r.values["busiest"]) for r in results
    ]
    return Findings(claims=claims, tables=tables)


EPIDEMIC = Experiment("epidemic", "A server dies in mid-multicast", "3", epidemics, spread, epidemic)
LOSSES = Experiment("losses", "Who redelivers a single loss", "6", losses, whole, lost)
WINDOWS = Experiment("windows", "Satellite windows", "2.1", windows, whole, through_windows)
COSTS = Experiment("costs", "Cost without failures, and the source's server", "6", peaceful, whole, costs)
DELTA = Experiment("delta", "Cost against speed of recovery", "6", deltas, recovery, trade_off)
SCALE = Experiment("scale", "A large network", "2.1, 6", large, recovery, at_scale)
