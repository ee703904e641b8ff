"""Nakamura & Takizawa, "Totally ordering (TO) and partially ordering (PO) broadcast protocol", section 4.

The paper counts the PDUs that it takes to acknowledge one PDU p in a cluster of n, and the rounds (longest delays from
one entity to all), for three schedules.  `nt_schedules.py` plays them on the logs of parts/receipt_logs.py.

The paper's own counts need two readings that its text does not give: the sender of a PDU is known to hold it, and the
ACK condition does not wait for a pre-acknowledgment by the source itself (`sender`).  `literal` is the text as printed.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ordercast.measure import metrics
from ordercast.papers.estimate import over_seeds
from ordercast.papers.nt_schedules import Count, parallel, reply_to_all, serial
from ordercast.papers.paper import Claim, Curve, Experiment, Figure, Findings, Panel, Paper, Result, Table
from ordercast.parts.receipt_logs import Reading
from ordercast.sim import Run, networks, workloads
from ordercast.trace import Trace
from ordercast.trace.columns import REACH, REACHES, SEND

SIZES = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20)
READINGS: tuple[Reading, ...] = ("sender", "literal")
DELAY = 0.01  # of every copy, for the running protocols


def claimed(name: str, text: str, holds: bool | None, measured: str) -> Claim:
    return Claim(id=f"NT.{name}", text=text, section="4", holds=holds, measured=measured)


# ------------------------------------------------------------------------------------ the schedules, by hand


def counts(_: Sequence[Result]) -> Findings:
    best = {(n, reading): parallel(n, reading) for n in SIZES for reading in READINGS}
    worst = {(n, reading): reply_to_all(n, reading) for n in SIZES for reading in READINGS}
    again = {(n, reading): serial(n, reading, range(n)) for n in SIZES for reading in READINGS}
    turned = {(n, reading): serial(n, reading, (n - 1, *range(n - 1))) for n in SIZES for reading in READINGS}
    rows = [
        (reading, n, name, found[n, reading].pdus, found[n, reading].rounds, found[n, reading].needed or "not reached")
        for reading in READINGS
        for n in SIZES
        for name, found in (
            ("parallel", best),
            ("serial, the same order again", again),
            ("serial, the last first", turned),
            ("reply to all", worst),
        )
    ]
    columns = ("reading", "n", "schedule", "PDUs", "rounds", "PDUs until all acknowledge p")
    return Findings(
        tables=[Table(name="counts", title="PDUs and rounds to acknowledge one PDU", columns=columns, rows=rows)],
        figures=[_figure(best, worst)],
        claims=[*_best(best), *_serially(again, turned), *_worst(best, worst)],
        notes=(
            "Serially, the last entity of the first pass has pre-acknowledged everything that the others sent: p is "
            "acknowledged by the PDU before the paper's last if the second pass keeps the order of the first. In the "
            "worst case the paper answers the n - 1 pre-acknowledgments of the others; as printed, the source's own "
            "first one counts as well and is answered, which makes n^2, and p is still not acknowledged."
        ),
    )


def _best(best: Mapping[tuple[int, Reading], Count]) -> list[Claim]:
    sender = [best[n, "sender"] for n in SIZES]
    literal = [best[n, "literal"] for n in SIZES]
    exact = all((count.pdus, count.rounds) == (2 * n, 3) for n, count in zip(SIZES, sender, strict=True))
    printed = all((count.pdus, count.rounds) == (3 * n, 4) for n, count in zip(SIZES, literal, strict=True))
    said = "literal text: " + ("3n and 4 for every n" if printed else str([(c.pdus, c.rounds) for c in literal]))
    return [
        claimed(
            "best",
            "At the best, in parallel, 1 + (n-1) + n = 2n PDUs are broadcast, in 3 rounds.",
            exact,
            f"{_listed(sender)}, {'/'.join(str(each) for each in sorted({c.rounds for c in sender}))} rounds; {said}",
        ),
    ]


def _serially(again: Mapping[tuple[int, Reading], Count], turned: Mapping[tuple[int, Reading], Count]) -> list[Claim]:
    first, second = [again[n, "sender"] for n in SIZES], [turned[n, "sender"] for n in SIZES]
    return [
        claimed(
            "serial-best",
            "Serially, 2n rounds are required at the best (read as: they suffice).",
            all(max(a.rounds, b.rounds) == 2 * n for n, a, b in zip(SIZES, first, second, strict=True)),
            f"{_listed(first)} in the same order again (2n - 1); {_listed(second)} with the last first (2n)",
        )
    ]


def _worst(best: Mapping[tuple[int, Reading], Count], worst: Mapping[tuple[int, Reading], Count]) -> list[Claim]:
    sender = {n: worst[n, "sender"] for n in SIZES}
    exact = all(count.pdus == count.needed == n * n - n + 1 for n, count in sender.items())
    literal = {n: worst[n, "literal"] for n in SIZES}
    above = [n for n in SIZES if best[n, "sender"].pdus > sender[n].pdus]
    reached = [n for n, count in literal.items() if count.needed is not None]
    text = "n^2" if all(count.pdus == n * n for n, count in literal.items()) else _listed(list(literal.values()))
    return [
        claimed(
            "worst",
            "At the worst, each pre-acknowledgment answered by all, 1 + (n-1) + (n-1)(n-1) = n^2 - n + 1 PDUs.",
            exact,
            f"{_listed(list(sender.values()))}; literal text: {text} PDUs, and p acknowledged for {reached or 'no n'}",
        ),
        claimed(
            "best-below-worst",
            "The best case takes no more PDUs than the worst.",
            not above,
            "n = "
            + ", ".join(f"{n}: {best[n, 'sender'].pdus} > {sender[n].pdus}" for n in above)
            + f"; from n = {min(n for n in SIZES if n not in above)} on it takes fewer",
        ),
    ]


def _listed(found: Sequence[Count]) -> str:
    return ", ".join(str(count.pdus) for count in found) + f" for n = {', '.join(map(str, SIZES))}"


def _figure(best: Mapping[tuple[int, Reading], Count], worst: Mapping[tuple[int, Reading], Count]) -> Figure:
    curves = []
    for reading in READINGS:
        for name, found in (("parallel", best), ("reply to all", worst)):
            y = [float(found[n, reading].pdus) for n in SIZES]
            curves.append(Curve(label=f"{name}, {reading}", x=SIZES, y=y))
    curves.append(Curve(label="2n", x=SIZES, y=[2.0 * n for n in SIZES], dashed=True))
    curves.append(Curve(label="n² - n + 1", x=SIZES, y=[n * n - n + 1.0 for n in SIZES], dashed=True))
    panel = Panel(x_label="entities", y_label="PDUs", curves=curves, log_y=True)
    return Figure(name="counts", title="PDUs to acknowledge one PDU", panels=[panel])


# ------------------------------------------------------------------------------------ the protocols, as they run


def alone(quick: bool) -> list[Run]:
    """One broadcast; every copy takes as long.  An entity pauses for three delays before an empty PDU."""
    sizes = (2, 3, 5, 8) if quick else (2, 3, 4, 5, 6, 8, 10, 12, 16)
    return [
        Run(
            protocol=protocol,
            members=n,
            messages=1,
            network=network,
            workload=workloads.Script(lines=((0.0, 0, None, None),)),
            parameters={"idle_after": 3 * DELAY, "reading": reading},
        )
        for protocol, network in (
            ("po", networks.MultiChannel(low=DELAY, high=DELAY)),
            ("to", networks.OneChannel(low=DELAY, high=DELAY)),
        )
        for reading in READINGS
        for n in sizes
    ]


def frames(trace: Trace) -> Mapping[str, Any]:
    """PDUs in the sequence, statuses, and when the last entity knew that all know."""
    rows, names = trace.rows, trace.info.messages
    sent = [names[k] for k in rows["message"][rows["kind"] == SEND]]
    known = (rows["kind"] == REACH) & (rows["level"] == REACHES.index("known"))
    return {
        "pdus": sum(name in ("Data", "Empty") for name in sent),
        "statuses": sum(name == "Status" for name in sent),
        "known_at": float(rows["time"][known].max()) if known.any() else None,
        "acknowledged": int(known.sum()),
    }


def running(results: Sequence[Result]) -> Findings:
    rows, exact = [], []
    for run, values in ((result.point, result.values) for result in results):
        n, reading = run.members, run.parameters["reading"]
        formula = parallel(n, reading).pdus
        rows.append(
            (
                run.protocol,
                reading,
                n,
                values["pdus"],
                formula,
                values["statuses"],
                round(values["known_at"] / DELAY, 6),
            )
        )
        exact.append((reading, n, values["pdus"], values["pdus"] <= formula))
    columns = ("protocol", "reading", "n", "PDUs", "by the schedule", "statuses", "acknowledged after (delays)")
    above = [f"{pdus} at n = {n} ({reading})" for reading, n, pdus, fits in exact if not fits]
    return Findings(
        tables=[
            Table(name="alone", title="One PDU in an idle cluster, as the protocols run", columns=columns, rows=rows)
        ],
        claims=[
            claimed(
                "running",
                "The protocols as they run take no more PDUs than the best schedule (2n; as printed 3n).",
                not above if exact else None,
                "; ".join(above) or f"so it is at all {len(exact)} points",
            )
        ],
        notes="Most of the time is pauses: each wave of the schedule waits for that before empty PDUs, three delays.",
    )


# ------------------------------------------------------------------------------------ beside token protocols


def loads(quick: bool) -> list[Run]:
    """KK's Ethernet at a fixed load of the group: 100 broadcasts per second, whatever its size."""
    sizes, seeds, messages = ((4, 8), 1, 200) if quick else ((4, 8, 16, 32, 50), 2, 300)
    return [
        Run(
            protocol=protocol,
            members=n,
            messages=messages,
            network=networks.Bus(),
            workload=workloads.Poisson(interval=n / 100.0),
            seed=seed,
        )
        for protocol in ("po", "to", "dtp", "totem")
        for n in sizes
        for seed in range(seeds)
    ]


def cost(trace: Trace) -> Mapping[str, Any]:
    found = metrics(trace)
    return {
        "overhead": found.overhead_per_broadcast,
        "delivery_s": found.delivery_s,
        "stability_s": found.stability_s,
    }


def under_load(results: Sequence[Result]) -> Findings:
    names = (
        ("overhead", "frames without data per broadcast"),
        ("delivery_s", "delivery (s)"),
        ("stability_s", "stability (s)"),
    )
    found = {
        name: over_seeds(
            results,
            by=lambda result: (result.point.protocol, result.point.members),
            value=lambda result, name=name: result.values[name],  # type: ignore[misc]
        )
        for name, _ in names
    }
    rows = [
        (protocol, n, *(str(found[name][protocol, n]) if (protocol, n) in found[name] else "" for name, _ in names))
        for protocol, n in found["overhead"]
    ]
    panels = [
        Panel(
            x_label="members",
            y_label=label,
            log_y=True,
            curves=[
                Curve(
                    label=protocol.upper(),
                    x=[n for name_, n in found[name] if name_ == protocol],
                    y=[mean.mean for (name_, _), mean in found[name].items() if name_ == protocol],
                )
                for protocol in dict.fromkeys(protocol for protocol, _ in found[name])
            ],
        )
        for name, label in names
    ]
    columns = ("protocol", "members", *(label for _, label in names))
    return Findings(
        tables=[Table(name="load", title="Costs at 100 broadcasts per second", columns=columns, rows=rows)],
        figures=[Figure(name="load", title="Costs at 100 broadcasts per second on a 10 Mb/s bus", panels=panels)],
        notes="Delivery is at acknowledgment for PO and TO, which need a word of every member for that, twice.",
    )


PAPER = Paper(
    "NT",
    "Totally ordering (TO) and partially ordering (PO) broadcast protocol",
    [
        Experiment("counts", "PDU and time complexity of the schedules", "4", findings=counts),
        Experiment("alone", "The protocols as they run: one PDU in an idle cluster", "4", alone, frames, running),
        Experiment(
            "load",
            "Costs per message beside token protocols",
            "4",
            loads,
            cost,
            under_load,
            ("broadcast", "send", "receive", "deliver", "reach"),
            lambda run: (2e-5 if run.protocol in ("po", "to") else 1e-6) * run.messages * run.members**2,
        ),
    ],
)
