"""Chang & Hwang, "An ordered and reliable broadcast protocol for distributed systems", sections 4 and 5.

4.1 gives closed forms (`ch_forms`), 4.2 simulates 30,000 broadcasts among 10 and 20 nodes, 4.3 compares with four other
protocols (`ch_compare`), 5 with their levels of reliability (`ch_levels`).  Delays are uniform on (0, PP), PP = 0.1 s;
a broadcast message is lost for a node with probability E, and nothing else is ever lost.

What the paper leaves open, and the reading taken here.  Tokens per message are counted over the interval in which the
counted messages are sent: draining the last ones adds about 2 N + 1 tokens to a finite run.  Requests per message
depend on what is asked for and how it is answered, so each number of requests names its variant:

- `formula`: each node asks for each message on its own and is answered alone, (N - 1) E / (1 - E);
- `multicast repairs`: each asks for each, but a retransmission goes to all and repairs all losers at once;
- `batch requests`: a node asks once for all that it lacks of a sender's cycle, and repairs go to all.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ordercast.papers.ch_compare import COMPARISON
from ordercast.papers.ch_delay import DELAYS
from ordercast.papers.ch_forms import (
    Setting,
    control_broadcast,
    control_point_to_point,
    delay,
    printed_delay,
    tokens,
)
from ordercast.papers.ch_levels import LEVELS
from ordercast.papers.ch_setting import PP, VARIANTS, claimed, falls, of, said, simulation
from ordercast.papers.ch_token import TOKEN
from ordercast.papers.paper import Curve, Experiment, Figure, Findings, Panel, Paper, Result, Table
from ordercast.sim import Run
from ordercast.trace import Trace
from ordercast.trace.columns import BROADCAST, SEND

CONTROL_ROWS = ("broadcast", "send")


def control(trace: Trace) -> Mapping[str, Any]:
    """Control messages per broadcast message: tokens while the counted ones are sent, requests over the whole run.

    Tokens come at the end of turns; a run of few turns would count the first one only in part.
    """
    rows, names = trace.rows, trace.info.messages
    sent = rows["kind"] == SEND
    asked = np.sort(rows["time"][rows["kind"] == BROADCAST])
    counted = trace.info.facts["measured"]
    end = asked[counted - 1]
    of_kind = {name: sent & (rows["message"] == k) for k, name in enumerate(names)}
    passes = rows["time"][of_kind["T"] & (rows["time"] <= end)]
    per_second = (len(passes) - (passes == passes[0]).sum()) / (passes[-1] - passes[0])  # whole turns alone
    token = float(per_second * end / counted)
    request = int(of_kind["Req"].sum()) / len(asked) if "Req" in of_kind else 0.0
    return {"tokens": token, "requests": request, "control": token + request}


# ------------------------------------------------------------------------------------ 4.1: the closed forms

ERRORS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
SIZES = (2, 5, 10, 20, 30, 40, 50)
RATES = (10.0, 20.0)
TIMES = (1.0, 5.0)


def forms(results: Sequence[Result]) -> Findings:
    grid = [Setting(N, A, T, PP / 2, E) for N in SIZES for A in RATES for T in TIMES for E in ERRORS]
    rows = [
        (s.N, s.A, s.T, s.E, control_broadcast(s), control_point_to_point(s), printed_delay(s), delay(s)) for s in grid
    ]
    columns = ("N", "A", "T", "E", "C, broadcast", "C, point to point", "D as printed (s)", "mean delay, E = 0 (s)")
    by_T = [tokens(Setting(10, 10, T)) for T in range(1, 6)]
    by_N = [tokens(Setting(N)) for N in range(2, 51)]
    by_E = [control_broadcast(Setting(20, E=E / 100)) for E in range(51)]
    with_E = [control_broadcast(Setting(N, E=0.1)) for N in range(2, 51)]
    D_by_T = {printed_delay(Setting(10, 10, T)) for T in TIMES}
    D_by_A = [printed_delay(Setting(10, A)) for A in RATES]
    D_by_N = [printed_delay(Setting(N)) for N in range(2, 51)]
    smallest = next((N for N in range(2, 51) if falls(with_E[: N - 1][::-1])), 0)
    claims = [
        claimed("forms.C-T", "4.1", "As T is increased, C is decreased.", falls(by_T), f"T = 1 to 5: {said(by_T)}"),
        claimed("forms.C-N", "4.1", "As N is increased, C is decreased (E = 0).", falls(by_N), "N = 2 to 50"),
        claimed("forms.D-T", "4.1", "D is the same no matter how T is changed.", len(D_by_T) == 1, "as printed"),
        claimed(
            "forms.D-A", "4.1", "A higher arrival rate needs a smaller D.", falls(D_by_A), f"{said(D_by_A)}, as printed"
        ),
        claimed("forms.D-N", "4.1", "As N is increased, D is decreased.", falls(D_by_N), "as printed, N = 2 to 50"),
        claimed("forms.C-E", "4.1", "As E is increased, C is increased.", falls(by_E[::-1]), "E = 0 to 0.5, N = 20"),
        claimed(
            "forms.C-N-E",
            "4.1",
            "As N is increased, C is increased, when E is considered.",
            falls(with_E[::-1]),
            f"E = 0.1, A = 10, T = 1, N = 2 to 50; rises from N = {smallest}",
        ),
    ]
    return Findings(
        tables=[Table(name="forms", title="C and D of section 4.1", columns=columns, rows=rows)], claims=claims
    )


# ------------------------------------------------------------------------------------ Figure 3: C without errors


def without_errors(quick: bool) -> list[Run]:
    times, messages = ((1.0, 5.0), 6_000) if quick else ((1.0, 2.0, 3.0, 4.0, 5.0), 30_000)
    return [simulation(N, A, T, messages=messages) for N in (10, 20) for A in RATES for T in times]


def figure_3(results: Sequence[Result]) -> Findings:
    found = [(of(result.point), result.values["control"]) for result in results]
    panels, claims = [], []
    for part, N in zip("ab", (10, 20), strict=True):
        curves = []
        for A in RATES:
            points = [(s, value) for s, value in found if (s.N, s.A) == (N, A)]
            x = [s.T for s, _ in points]
            curves.append(Curve(label=f"A = {A:g}", x=x, y=[value for _, value in points]))
            curves.append(Curve(label=f"A = {A:g}", x=x, y=[tokens(s) for s, _ in points], dashed=True))
        panels.append(Panel(x_label="T (s)", y_label="C", curves=curves, title=f"({part}) N = {N}"))
    rising = {(s.N, s.A): [value for other, value in found if (other.N, other.A) == (s.N, s.A)] for s, _ in found}
    ratios = [
        value / next(half for other, half in found if (other.N, other.A, other.T) == (20, s.A, s.T))
        for s, value in found
        if s.N == 10
    ]
    worst = max(abs(value / tokens(s) - 1) for s, value in found)
    claims = [
        claimed(
            "fig3.T",
            "4.2",
            "As T increases, C decreases.",
            all(falls(values) for values in rising.values()),
            "; ".join(said(values) for values in rising.values()),
        ),
        claimed(
            "fig3.half",
            "4.2",
            "C with N = 10 is about twice that with N = 20 (read as 1.6 to 2.4).",
            all(1.6 <= ratio <= 2.4 for ratio in ratios),
            f"ratios {said(ratios)}",
        ),
        claimed(
            "fig3.tenth",
            "4.2",
            "In the normal condition the cost is below 0.1 in all cases.",
            all(value < 0.1 for _, value in found),
            f"at most {max(value for _, value in found):.4g}",
        ),
        claimed(
            "fig3.formula",
            "4.1",
            "C is exp(A, N) / (N (T + P)) (read as within 5 %).",
            worst < 0.05,
            f"the simulation is off by at most {100 * worst:.1f} %, P = {PP / 2:g} on average",
        ),
    ]
    figure = Figure(
        name="fig3",
        title="Control messages per broadcast, no error, broadcast network (dashed: the formula)",
        panels=panels,
    )
    columns = ("N", "A", "T", "C measured", "C by formula")
    table = Table(
        name="fig3", title="C without errors", columns=columns, rows=[(s.N, s.A, s.T, v, tokens(s)) for s, v in found]
    )
    return Findings(figures=[figure], tables=[table], claims=claims)


# ------------------------------------------------------------------------------------ Figure 4: C with errors


def with_errors(quick: bool) -> list[Run]:
    errors, messages = ((0.0, 0.1, 0.3), 2_000) if quick else (ERRORS, 30_000)
    lines = [(20, A, T) for A in RATES for T in TIMES] if not quick else [(20, 10.0, 1.0)]
    return [
        simulation(N, A, T, E, point_to_point=direct, messages=messages)
        for direct in (False, True)
        for N, A, T in [*lines, (10, 10.0, 1.0)]
        for E in errors
    ]


def figure_4(results: Sequence[Result]) -> Findings:
    found = [(of(result.point), result.point.network.point_to_point, result.values["control"]) for result in results]
    panels = []
    for part, direct, title in (("a", False, "broadcast"), ("b", True, "point to point")):
        form = control_point_to_point if direct else control_broadcast
        curves = []
        for A, T in dict.fromkeys((s.A, s.T) for s, _, _ in found):
            points = [(s, value) for s, way, value in found if (s.N, s.A, s.T, way) == (20, A, T, direct)]
            x = [s.E for s, _ in points]
            if points:
                curves.append(Curve(label=f"{A:g}-{T:g}", x=x, y=[value for _, value in points]))
                curves.append(Curve(label=f"{A:g}-{T:g}", x=x, y=[form(s) for s, _ in points], dashed=True))
        panels.append(Panel(x_label="E", y_label="C", curves=curves, title=f"({part}) N = 20, {title}"))
    lines: dict[Any, list[float]] = {}
    for s, way, value in found:
        lines.setdefault((s.N, s.A, s.T, way), []).append(value)
    value_at = {(s, way): value for s, way, value in found}
    larger = [
        value_at[s, way] > value_at[Setting(10, s.A, s.T, s.P, s.E), way]
        for s, way in value_at
        if s.N == 20 and s.E > 0 and (Setting(10, s.A, s.T, s.P, s.E), way) in value_at
    ]
    both = [abs(value_at[s, True] / value - 1) for (s, way), value in value_at.items() if not way and s.E > 0]
    off = [
        abs(value / (control_point_to_point if way else control_broadcast)(s) - 1)
        for (s, way), value in value_at.items()
        if s.E > 0
    ]
    claims = [
        claimed(
            "fig4.E",
            "4.2",
            "The cost increases as the error rate increases.",
            all(falls(values[::-1]) for values in lines.values()),
            "; ".join(said(values) for values in lines.values()),
        ),
        claimed(
            "fig4.N",
            "4.2",
            "When N is increased, the cost is also increased (E > 0).",
            all(larger) if larger else None,
            f"N = 20 above N = 10 at {sum(larger)} of {len(larger)} points",
        ),
        claimed(
            "fig4.networks",
            "4.2",
            "For the same N the cost is almost the same in both networks (read as within 10 %).",
            all(each < 0.1 for each in both),
            f"for E > 0 they differ by at most {100 * max(both):.1f} %",
        ),
        claimed(
            "fig4.formula",
            "4.1",
            "C is exp / (N (T + P)(1 - E)) + (N - 1) E / (1 - E) (read as within 5 %).",
            all(each < 0.05 for each in off),
            f"off by at most {100 * max(off):.1f} %; requests counted as `formula`: one each, answered alone",
        ),
    ]
    figure = Figure(
        name="fig4",
        title="Control messages per broadcast with errors (dashed, and how requests are counted: the formula)",
        panels=panels,
    )
    columns = ("N", "A", "T", "E", "network", "C measured", "C by formula", "requests counted as")
    rows = [
        (
            s.N,
            s.A,
            s.T,
            s.E,
            "point to point" if way else "broadcast",
            value,
            (control_point_to_point if way else control_broadcast)(s),
            "formula",
        )
        for s, way, value in found
    ]
    return Findings(
        figures=[figure], tables=[Table(name="fig4", title="C with errors", columns=columns, rows=rows)], claims=claims
    )


# ------------------------------------------------------------------------------------ what a request is


def variants(quick: bool) -> list[Run]:
    messages = 2_000 if quick else 10_000
    return [
        simulation(20, 10.0, 1.0, E, variant=v, messages=messages)
        for v in VARIANTS
        for E in ((0.1,) if quick else (0.1, 0.3))
    ]


def count_requests(results: Sequence[Result]) -> Findings:
    rows = []
    for result in results:
        s, variant = of(result.point), result.point.name.split("-")[4]
        rows.append((variant, s.N, s.E, result.values["requests"], (s.N - 1) * s.E / (1 - s.E), (s.N - 1) * s.E))
    columns = ("variant", "N", "E", "requests per message", "(N - 1) E / (1 - E)", "(N - 1) E")
    return Findings(
        tables=[
            Table(
                name="requests",
                title="Requests per broadcast message, by how they are counted",
                columns=columns,
                rows=rows,
            )
        ],
        notes="The first variant is the formula's; a group that wants few control messages takes the last.",
    )


PAPER = Paper(
    "CH",
    "An ordered and reliable broadcast protocol for distributed systems",
    [
        Experiment("forms", "The closed forms", "4.1", findings=forms),
        Experiment("fig3", "Control messages without errors", "4.2", without_errors, control, figure_3, CONTROL_ROWS),
        Experiment("fig4", "Control messages with errors", "4.2", with_errors, control, figure_4, CONTROL_ROWS),
        Experiment("requests", "What a request is", "4.1", variants, control, count_requests, CONTROL_ROWS),
        *DELAYS,
        TOKEN,
        *COMPARISON,
        LEVELS,
    ],
)
