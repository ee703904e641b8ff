"""CH section 5, Table 4: levels of reliability, established from traces with losses, outages and crashes.

R1: the order is total among the correct members.  R2: it is uniform once what was withdrawn is struck.  R3: it is
uniform and nothing is withdrawn.  A node that was deaf and mute for a while and kept its memory is the paper's node
that failed and came back up; one that crashes never does.  Service: *agreed* when the order is causal and without gaps,
*safe* when besides nobody delivers what some other member of its view has not yet received; and *safe by report* when
that holds of what is reported stable, for which an application can wait.  A member that is dead or deaf at that time
is not asked; that one which was deaf delivers it in the end is judged too.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ordercast.papers.ch_forms import PROTOCOLS
from ordercast.papers.ch_setting import claimed
from ordercast.papers.paper import Experiment, Findings, Result, Table
from ordercast.sim import Run, faults, networks, workloads
from ordercast.spec import check
from ordercast.trace import Trace
from ordercast.trace.columns import BROADCAST, CRASH, DELIVER, OUTAGE, REACH, RECEIVE, VIEW, WITHDRAW

NAMES = {
    "centralized": "cm",
    "two-phase": "two_phase",
    "optimistic": "optimistic",
    "fast": "totem",
    "counter": "counter",
}
PRINTED = {
    "centralized": ("R3", "agreed"),
    "two-phase": ("R3", "agreed"),
    "optimistic": ("R2", "safe"),
    "fast": ("R3", "safe"),
    "counter": ("R3", "safe"),
}


def troubled(quick: bool) -> list[Run]:
    return [
        Run(
            protocol=NAMES[name],
            name=f"{name}-{trouble}-{seed}",
            members=5,
            messages=200,
            network=networks.Delay(low=0.001, high=0.02),
            workload=workloads.Poisson(interval=0.1),
            faults=(faults.Loss(rate=0.1), *planned(trouble, seed)),
            seed=seed,
            settle=3.0,
        )
        for name in PROTOCOLS
        for trouble in ("outage", "crash")
        for seed in range(3 if quick else 20)
    ]


def planned(trouble: str, seed: int) -> tuple[faults.AnyFault, ...]:
    at = 0.3 + 0.17 * (seed % 10)
    if trouble == "crash":
        return (faults.Crash(member=seed % 5, at=at), faults.Crash(member=(seed + 2) % 5, at=at + 1.5))
    return (
        faults.Outage(member=seed % 5, begin=at, end=at + 0.4),
        faults.Outage(member=(seed + 2) % 5, begin=at + 0.6, end=at + 2.6),
    )


def level(trace: Trace) -> Mapping[str, Any]:
    """What this one run is worth."""
    verdicts = {name: verdict.result for name, verdict in check(trace).items()}
    withdrawn = int(trace.rows["n"][trace.rows["kind"] == WITHDRAW].sum())
    reliability = "R0"
    if verdicts["total_order"] == "holds":
        reliability = "R1"
    if reliability == "R1" and verdicts["uniform_total_order"] == "holds":
        reliability = "R2" if withdrawn else "R3"
    agreed = all(verdicts[name] == "holds" for name in ("causal", "gap_free"))
    agreed = agreed and verdicts.get("safe", "holds") != "violated"
    return {
        "reliability": reliability,
        "agreed": agreed,
        "early": early(trace, DELIVER),
        "early_reports": early(trace, REACH),
        "withdrawn": withdrawn,
    }


def early(trace: Trace, kind: int) -> int | None:
    """How often something was delivered (or reported stable) while a member of the view had not received it.

    None: there was no such row.
    """
    rows = trace.rows
    size, never = len(trace.info.members), np.inf
    chosen = np.flatnonzero(rows["kind"] == kind)
    if not len(chosen):
        return None
    payloads = [
        trace.info.messages.index(each) for each in trace.info.facts["payload_kinds"] if each in trace.info.messages
    ]
    got = rows[((rows["kind"] == RECEIVE) & np.isin(rows["message"], payloads)) | (rows["kind"] == BROADCAST)]
    has: dict[tuple[int, int], list[float]] = {}
    for origin, n, member, time in zip(got["origin"], got["n"], got["member"], got["time"], strict=True):
        times = has.setdefault((int(origin), int(n)), [never] * size)
        times[member] = min(time, times[member])
    away: list[list[tuple[float, float]]] = [[] for _ in range(size)]
    for row in rows[(rows["kind"] == CRASH) | (rows["kind"] == OUTAGE)]:
        spells = away[row["member"]]
        if row["kind"] == CRASH or row["n"]:
            spells.append((float(row["time"]), never))
        else:
            spells[-1] = (spells[-1][0], float(row["time"]))
    views: dict[int, list[tuple[int, list[int]]]] = {}  # a view and the delivery before it may have one time
    for at in np.flatnonzero(rows["kind"] == VIEW):
        views.setdefault(int(rows["member"][at]), []).append((int(at), trace.info.sets[rows["to"][at]]))
    count = 0
    for at in chosen:
        row = rows[at]
        time, n = float(row["time"]), int(row["n"]) - (kind == REACH)
        known = [view for since, view in views.get(int(row["member"]), []) if since < at]
        members = known[-1] if known else range(size)
        received = has.get((int(row["origin"]), n), [never] * size)
        count += any(received[m] > time and not any(a <= time < b for a, b in away[m]) for m in members)
    return count


def table_4(results: Sequence[Result]) -> Findings:
    rows, claims = [], []
    for name, label in PROTOCOLS.items():
        mine = [
            (result.point.name.split("-")[-2], result.values)
            for result in results
            if result.point.name.startswith(name + "-")
        ]
        if not mine:
            continue
        worst = {trouble: min(v["reliability"] for t, v in mine if t == trouble) for trouble in ("outage", "crash")}
        agreed = all(values["agreed"] for trouble, values in mine if trouble == "outage")
        at_once = all(values["early"] == 0 for _, values in mine)
        reports = [values["early_reports"] for _, values in mine if values["early_reports"] is not None]
        told = bool(reports) and not any(reports)
        service = (
            "safe"
            if agreed and at_once
            else "agreed, safe by report"
            if agreed and told
            else "agreed"
            if agreed
            else "less"
        )
        withdrawn = sum(values["withdrawn"] for _, values in mine)
        rows.append((label, *PRINTED[name], worst["outage"], worst["crash"], service, withdrawn, len(mine)))
        level_, printed = PRINTED[name]
        found = f"{worst['outage']} with outages, {worst['crash']} with crashes for good, {len(mine)} runs"
        text = f"The {label} protocol reaches {level_}."
        claims.append(claimed(f"table4.{name}.reliability", "5", text, worst["outage"] == level_, found))
        offers = agreed if printed == "agreed" else service.startswith("safe") or (told and agreed)
        claims.append(
            claimed(f"table4.{name}.service", "5", f"The {label} protocol's service is {printed}.", offers, service)
        )
    columns = (
        "protocol",
        "printed",
        "printed service",
        "with outages",
        "with crashes",
        "service found",
        "deliveries withdrawn",
        "runs",
    )
    return Findings(
        tables=[Table(name="table4", title="Levels of reliability", columns=columns, rows=rows)],
        claims=claims,
        notes=NOTE,
    )


NOTE = (
    "A member that crashes for good takes nothing back, and with it the optimistic protocol's token stops: the others "
    "keep what they delivered in the hope for the best.  A member that was deaf gets all that it missed, except under "
    "the counter protocol when it was deleted meanwhile: what came after that belongs to views without it."
)

LEVELS = Experiment("table4", "Levels of reliability, from traces", "5", troubled, level, table_4)
