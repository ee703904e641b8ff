"""CH's delays, measured: from a broadcast to its commit, which the printed D is not; from a loss to its detection."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ordercast.papers.ch_forms import Setting, delay, printed_delay
from ordercast.papers.ch_setting import PP, claimed, of, simulation
from ordercast.papers.paper import Experiment, Findings, Result, Table
from ordercast.sim import Run
from ordercast.trace import Trace
from ordercast.trace.columns import BROADCAST, DELIVER, DROP, SEND


def delayed(quick: bool) -> list[Run]:
    points = [(10, 10.0, 1.0), (10, 20.0, 1.0), (10, 10.0, 5.0), (20, 10.0, 1.0), (5, 10.0, 1.0)]
    return [
        simulation(N, A, T, messages=40 * N * int(T) * int(A / 10) * 10, seed=7)
        for N, A, T in points[: 4 if quick else 5]
    ]


def commit_delay(trace: Trace) -> Mapping[str, Any]:
    """Mean seconds from a broadcast to its delivery at the last node, of the counted messages."""
    rows = trace.rows
    keys = rows["origin"].astype(np.int64) << 32 | rows["n"].astype(np.int64)
    asked, given = rows["kind"] == BROADCAST, rows["kind"] == DELIVER
    messages, at = np.unique(keys[asked], return_index=True)
    begin = rows["time"][asked][at]
    end = np.zeros(len(messages))
    np.maximum.at(end, np.searchsorted(messages, keys[given]), rows["time"][given])
    counted = np.argsort(begin)[: trace.info.facts["measured"]]
    return {"delay_s": float((end - begin)[counted].mean())}


def true_delay(results: Sequence[Result]) -> Findings:
    found = {of(result.point): result.values["delay_s"] for result in results}
    rows = [(s.N, s.A, s.T, value, delay(s), printed_delay(s)) for s, value in found.items()]
    columns = ("N", "A", "T", "measured (s)", "(2 N - 1/2)(T + P)", "D as printed")
    base = Setting(10, 10.0, 1.0, PP / 2)
    longer, faster, more = (Setting(*each, PP / 2) for each in ((10, 10.0, 5.0), (10, 20.0, 1.0), (20, 10.0, 1.0)))
    off = max(abs(value / delay(s) - 1) for s, value in found.items())
    at = [found[s] for s in (base, longer, faster, more)]
    claims = [
        claimed(
            "delay.printed",
            "4.1",
            "D = 2 exp(A, N) / N is the time from a broadcast to its commit.",
            abs(at[0] / printed_delay(base) - 1) < 0.1,
            f"{at[0]:.2f} s, where the formula gives {printed_delay(base):.3f} s",
        ),
        claimed(
            "delay.true",
            "4.1",
            "Not in the paper: the mean delay is (2 N - 1/2)(T + P) (read as within 5 %).",
            off < 0.05,
            f"off by at most {100 * off:.1f} %",
        ),
        claimed(
            "delay.T",
            "6",
            "The delay is the same no matter how T is changed.",
            abs(at[1] / at[0] - 1) < 0.1,
            f"T = 1: {at[0]:.2f} s, T = 5: {at[1]:.2f} s",
        ),
        claimed(
            "delay.A",
            "4.1",
            "A higher arrival rate has a smaller delay.",
            at[2] < 0.95 * at[0],
            f"A = 10: {at[0]:.2f} s, A = 20: {at[2]:.2f} s",
        ),
        claimed(
            "delay.N",
            "6",
            "As the number of nodes is increased, the delay is decreased.",
            at[3] < at[0],
            f"N = 10: {at[0]:.2f} s, N = 20: {at[3]:.2f} s",
        ),
    ]
    return Findings(
        tables=[Table(name="delay", title="The delay until commit", columns=columns, rows=rows)], claims=claims
    )


def lossy(quick: bool) -> list[Run]:
    return [simulation(10, 10.0, 1.0, 0.1, messages=1_000, seed=seed) for seed in range(1 if quick else 5)]


def detection(trace: Trace) -> Mapping[str, Any]:
    """The longest time from a broadcast message to the request of a node that lost it, in cycles."""
    rows, names = trace.rows, trace.info.messages
    key = (rows["member"].astype(np.int64) << 48) | (rows["origin"].astype(np.int64) << 32) | rows["n"].astype(np.int64)
    dropped = (rows["kind"] == DROP) & (rows["message"] == names.index("Msg"))
    requested = (rows["kind"] == SEND) & (rows["message"] == names.index("Req"))
    lost, at = np.unique(key[dropped], return_index=True)
    first, when = np.unique(key[requested], return_index=True)
    where = np.searchsorted(first, lost)
    known = np.isin(lost, first)
    waits = rows["time"][requested][when][where[known]] - rows["time"][dropped][at][known]
    cycle = 10 * (1.0 + PP / 2)
    return {"cycles": float(waits.max()) / cycle, "losses": int(known.sum()), "unasked": int((~known).sum())}


def two_cycles(results: Sequence[Result]) -> Findings:
    longest = max(result.values["cycles"] for result in results)
    losses = sum(result.values["losses"] for result in results)
    claim = claimed(
        "detection",
        "1",
        "A loss is detected in at most two cycles.",
        longest <= 2,
        f"at most {longest:.2f} cycles over {losses} losses, N = 10, T = 1, E = 0.1",
    )
    return Findings(claims=[claim])


DELAYS = [
    Experiment("delay", "The delay until commit", "4.1", delayed, commit_delay, true_delay, ("broadcast", "deliver")),
    Experiment("detection", "A loss is detected within two cycles", "1", lossy, detection, two_cycles),
]
