"""CH 4.3: Num and D of five protocols in a broadcast and in a point-to-point network, by formula and measured.

Num is counted over the frames that are sent while the counted messages are; D from the first sending of a message to
its last delivery that stays (`ch_rivals` says how each protocol runs).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ordercast.papers.ch_forms import DELAY, NUM_BROADCAST, NUM_POINT_TO_POINT, PROTOCOLS, Setting, tokens
from ordercast.papers.ch_rivals import NODES, ROWS, A, P, T, costs, run_of
from ordercast.papers.ch_setting import claimed, falls, said
from ordercast.papers.paper import Claim, Curve, Experiment, Figure, Findings, Panel, Result, Table
from ordercast.sim import Run


def comparison(quick: bool) -> list[Run]:
    return [
        run_of(name, N, direct)
        for direct in (False, True)
        for name in PROTOCOLS
        for N in (NODES[:2] if quick else NODES)
    ]


def found_in(results: Sequence[Result]) -> dict[tuple[str, int, bool], Mapping[str, Any]]:
    out = {}
    for result in results:
        name, N, way, _ = result.point.name.rsplit("-", 3)
        out[name, int(N), way == "p"] = result.values
    return out


def setting(N: int) -> Setting:
    return Setting(N, A, T, P)


def tables(results: Sequence[Result]) -> Findings:
    found = found_in(results)
    made, claims = [], []
    for number, direct, forms in ((1, False, NUM_BROADCAST), (2, True, NUM_POINT_TO_POINT)):
        rows = [
            (
                PROTOCOLS[name],
                N,
                forms[name](setting(N)),
                values["num"],
                DELAY[name](setting(N)),
                values["delay_s"],
                values["stable_s"],
            )
            for (name, N, way), values in found.items()
            if way == direct
        ]
        columns = (
            "protocol",
            "N",
            "Num, formula",
            "Num, measured",
            "D as printed (s)",
            "delivered everywhere (s)",
            "known stable everywhere (s)",
        )
        network = "point-to-point" if direct else "broadcast"
        made.append(
            Table(name=f"table{number}", title=f"Performance in a {network} network", columns=columns, rows=rows)
        )
        for name in PROTOCOLS:
            pairs = [
                (forms[name](setting(N)), values["num"])
                for (who, N, way), values in found.items()
                if (who, way) == (name, direct)
            ]
            off = max(abs(measured / formula - 1) for formula, measured in pairs)
            claims.append(
                claimed(
                    f"table{number}.{name}",
                    "4.3",
                    f"Num of the {PROTOCOLS[name]} protocol (read as within 5 %).",
                    off < 0.05,
                    "; ".join(f"{measured:.3f} for {formula:.3f}" for formula, measured in pairs),
                )
            )
    claims += delays(found)
    return Findings(tables=made, claims=claims, notes=NOTES)


NOTES = (
    "Totem's token goes to its successor alone, so in a point-to-point network it costs one frame and not the N - 1 "
    "that the paper counts.  The printed D of the counter-based protocol is no delay (CH.delay.printed); that of the "
    "optimistic one is the time per message again, (T + P) / N.  It delivers as soon as a message arrives, but here, "
    "where one's own copy comes at once and the others' after P, it takes most of that back: the time given is that of "
    "the last delivery that stays.  On a bus all copies arrive in one order and nothing is withdrawn without a loss."
)


def delays(found: Mapping[tuple[str, int, bool], Mapping[str, Any]]) -> list[Claim]:
    at = {(name, N): values["delay_s"] for (name, N, direct), values in found.items() if not direct}
    sizes = sorted({N for _, N in at})
    constant = {name: [at[name, N] for N in sizes] for name in ("centralized", "two-phase", "fast")}
    others = [at[name, sizes[-1]] for name in PROTOCOLS if name != "counter"]
    return [
        claimed(
            "fig6.shortest",
            "4.3",
            "The counter-based protocol has the shortest delay, measured.",
            at["counter", sizes[-1]] < min(others),
            f"N = {sizes[-1]}: {at['counter', sizes[-1]]:.2f} s, the others {said(others)} s",
        ),
        claimed(
            "fig6.constant",
            "4.3",
            "The delay of the other three is constant in N, measured (read as within 10 %).",
            all(max(values) < 1.1 * min(values) for values in constant.values()),
            "; ".join(f"{PROTOCOLS[name]}: {said(values)} s" for name, values in constant.items()),
        ),
        claimed(
            "fig6.two-phase",
            "4.3",
            "The two-phase protocol takes 3 P (read as within 5 %).",
            all(abs(value / (3 * P) - 1) < 0.05 for value in constant["two-phase"]),
            f"{said(constant['two-phase'])} s, P = {P:g} s",
        ),
    ]


# ------------------------------------------------------------------------------------ Figures 5, 6, 7: against N

SHOWN = ("centralized", "optimistic", "fast")  # Num of two-phase is off the scale of Figs 5 and 7


def curves(
    forms: Mapping[str, Any], names: Sequence[str], measured: Mapping[str, list[tuple[int, float]]]
) -> list[Curve]:
    sizes = list(range(2, 51))
    out = []
    for name in names:
        out.append(Curve(label=PROTOCOLS[name], x=sizes, y=[forms[name](setting(N)) for N in sizes], dashed=True))
        points = measured.get(name, [])
        out.append(Curve(label=PROTOCOLS[name], x=[N for N, _ in points], y=[y for _, y in points]))
    for rate in (10.0, 20.0):
        y = [forms["counter"](Setting(N, rate, T, P)) for N in sizes]
        out.append(Curve(label=f"counter-based, A = {rate:g}", x=sizes, y=y, dashed=True))
    points = measured.get("counter", [])
    out.append(Curve(label=f"counter-based, A = {A:g}", x=[N for N, _ in points], y=[y for _, y in points]))
    return out


def by_formula() -> list[Claim]:
    """What the text reads off Figs 5, 6 and 7, on the formulas."""
    every = [setting(N) for N in range(2, 51)]

    def values(forms: Mapping[str, Any], *names: str) -> list[list[float]]:
        return [[forms[name](s) for name in names] for s in every]

    counter, others = values(NUM_BROADCAST, "counter"), values(NUM_BROADCAST, *SHOWN)
    slower = [
        s.N
        for s, mine, theirs in zip(every, values(DELAY, "counter"), values(DELAY, *SHOWN, "two-phase"), strict=True)
        if mine[0] >= min(theirs)
    ]
    cheap = values(NUM_POINT_TO_POINT, "counter", "optimistic")
    dear = values(NUM_POINT_TO_POINT, "centralized", "fast")
    range_ = "by formula, N = 2 to 50"
    return [
        claimed(
            "fig5.fewest",
            "4.3",
            "The counter-based protocol requires the fewest Num.",
            all(mine[0] <= min(theirs) for mine, theirs in zip(counter, others, strict=True)),
            range_,
        ),
        claimed(
            "fig5.optimistic",
            "4.3",
            "As N is increased, Num falls in the optimistic protocol.",
            falls([each for (each,) in values(NUM_BROADCAST, "optimistic")]),
            range_,
        ),
        claimed(
            "fig6.formula",
            "4.3",
            "The counter-based protocol requires the shortest delay.",
            not slower,
            f"by formula, but for N = {slower}" if slower else range_,
        ),
        claimed(
            "fig7.fewest",
            "4.3",
            "The counter-based and the optimistic protocol require the fewest Num.",
            all(max(two) <= min(rest) for two, rest in zip(cheap, dear, strict=True)),
            range_,
        ),
    ]


def in_measure(found: Mapping[tuple[str, int, bool], Mapping[str, Any]]) -> Claim:
    seen = [
        (values["num"], found[name, N, False]["num"])
        for (who, N, way), values in found.items()
        if who == "counter" and not way
        for name in SHOWN
    ]
    return claimed(
        "fig5.fewest-measured",
        "4.3",
        "The counter-based protocol requires the fewest Num, measured.",
        all(mine < other for mine, other in seen),
        "; ".join(f"{mine:.3f} < {other:.3f}" for mine, other in seen),
    )


def figures(results: Sequence[Result]) -> Findings:
    found = found_in(results)
    made = []
    for number, direct, forms, value, names, label in (
        (5, False, NUM_BROADCAST, "num", SHOWN, "Num"),
        (6, False, DELAY, "delay_s", (*SHOWN, "two-phase"), "D (s)"),
        (7, True, NUM_POINT_TO_POINT, "num", SHOWN, "Num"),
    ):
        measured: dict[str, list[tuple[int, float]]] = {}
        for (name, N, way), values in found.items():
            if way == direct:
                measured.setdefault(name, []).append((N, values[value]))
        panel = Panel(x_label="N", y_label=label, curves=curves(forms, names, measured), log_y=number == 6)
        network = "point-to-point" if direct else "broadcast"
        made.append(
            Figure(
                name=f"fig{number}",
                title=f"{label} in a {network} network, T = 1 s (dashed: the formula)",
                panels=[panel],
            )
        )
    return Findings(figures=made, claims=[*by_formula(), in_measure(found)])


def table_3(results: Sequence[Result]) -> Findings:
    found = found_in(results)
    rows: list[tuple[Any, ...]] = []
    for N in (2, 5, 10, 20, 30, 40, 50):
        mine, theirs = (found.get((name, N, True), {}).get("num") for name in ("counter", "optimistic"))
        forms = [NUM_POINT_TO_POINT["counter"](Setting(N, rate, T, P)) for rate in (10.0, 20.0)]
        rows.append((N, *forms, NUM_POINT_TO_POINT["optimistic"](setting(N)), mine, theirs))
    columns = (
        "N",
        "counter-based, A = 10",
        "counter-based, A = 20",
        "optimistic",
        f"counter-based measured, A = {A:g}",
        "optimistic measured",
    )
    both = [(row[4], row[5]) for row in rows if row[4] is not None and row[5] is not None]
    claims = [
        claimed(
            "table3",
            "4.3",
            "The counter-based protocol requires fewer Num than the optimistic one.",
            all(row[1] < row[3] for row in rows),
            f"by formula: 1/A < T + P, {1 / A:g} < {T + P:g}",
        ),
        claimed(
            "table3.measured",
            "4.3",
            "The same, measured.",
            all(mine < other for mine, other in both) if both else None,
            "; ".join(f"{mine:.3f} < {other:.3f}" for mine, other in both),
        ),
    ]
    return Findings(
        tables=[Table(name="table3", title="Num, point to point", columns=columns, rows=rows)], claims=claims
    )


# ------------------------------------------------------------------------------------ when errors occur


def with_errors(quick: bool) -> list[Run]:
    return [run_of(name, N, False, 0.1) for name in PROTOCOLS for N in ((5,) if quick else (5, 10))]


def errors(results: Sequence[Result]) -> Findings:
    found = found_in(results)
    sizes = sorted({N for _, N, _ in found})
    rows = [
        (
            PROTOCOLS[name],
            N,
            values["control"],
            values["num"],
            values["lost"],
            values["withdrawn"] / max(1, values["lost"]),
        )
        for (name, N, _), values in found.items()
    ]
    columns = ("protocol", "N", "control frames per message", "Num", "copies lost", "deliveries withdrawn per loss")
    more = [
        found[name, N, False]["control"] > found["counter", N, False]["control"]
        for name in ("centralized", "two-phase")
        for N in sizes
    ]
    discarded = [
        found["optimistic", N, False]["withdrawn"] / max(1, found["optimistic", N, False]["lost"]) for N in sizes
    ]
    batch = tokens(setting(sizes[-1]))
    claims = [
        claimed(
            "errors.num",
            "4.3",
            "When errors occur, the pessimistic protocols need more control messages.",
            all(more),
            f"E = 0.1, N = {sizes}; the counter protocol's requests counted as `formula`",
        ),
        claimed(
            "errors.rollback",
            "4.3",
            "On a loss the optimistic protocol discards a lot received before.",
            all(each > 2 for each in discarded),
            f"{said(discarded)} deliveries withdrawn per lost copy",
        ),
    ]
    note = f"Without errors the counter protocol's control is {batch:.4f} tokens per message at N = {sizes[-1]}."
    return Findings(
        tables=[Table(name="errors", title="With errors, E = 0.1", columns=columns, rows=rows)],
        claims=claims,
        notes=note,
    )


COMPARISON = [
    Experiment("table1", "Tables 1 and 2: five protocols", "4.3", comparison, costs, tables, ROWS),
    Experiment("fig5", "Figs 5, 6 and 7: against N", "4.3", comparison, costs, figures, ROWS),
    Experiment("table3", "Counter-based and optimistic, point to point", "4.3", comparison, costs, table_3, ROWS),
    Experiment("errors", "When errors occur", "4.3", with_errors, costs, errors, ROWS),
]
