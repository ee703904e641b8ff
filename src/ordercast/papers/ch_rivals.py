"""Runs of CH's five protocols, each as 4.3 counts it, and what a run costs.

The optimistic and the fast message protocol send one message in each token-owner period or visit, as fast as the token
lets them; the centralized one goes by way of the token node in a point-to-point network, and it and the two-phase one
have one message at a time to order, which is when D is a number of P.  Every delay is P.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ordercast.papers.ch_setting import NO_LIMIT
from ordercast.sim import Run, faults, networks, workloads
from ordercast.trace import Trace
from ordercast.trace.columns import DELIVER, DROP, REACH, SEND, WITHDRAW

P, T, A = 0.05, 1.0, 10.0
NODES = (5, 10, 20)
ROWS = ("broadcast", "send", "deliver", "reach", "drop", "withdraw")
LATE = 1e3  # a time-out that no run without losses meets


def run_of(name: str, N: int, direct: bool, E: float = 0.0) -> Run:
    """One of the five, as the paper counts it; with errors, its time-outs are short enough to matter."""
    timeout = LATE if E == 0 else 0.25
    usual, light = workloads.Poisson(interval=1 / A), workloads.Poisson(interval=2.0 * N)
    always = workloads.Saturated(window=1)
    kind: dict[str, tuple[str, Mapping[str, Any], workloads.AnyWorkload]] = {
        "centralized": (
            "cm",
            {
                "via": "token" if direct else "all",
                "T": LATE if E == 0 else 2.0,
                "timeout": 1.0 if E == 0 else timeout,
                "token_timeout": timeout,
            },
            light if E == 0 else usual,
        ),
        "two-phase": ("two_phase", {"timeout": timeout, "window": NO_LIMIT}, light),
        "optimistic": (
            "optimistic",
            {"token_time": T, "token_timeout": 2 * T + 1, "request_timeout": timeout, "burst": 1, "window": NO_LIMIT},
            always,
        ),
        "fast": ("totem", {"visit": 1, "token_timeout": LATE if E == 0 else 4 * N * P}, always),
        "counter": (
            "counter",
            {
                "token_time": T,
                "token_timeout": 2 * T + 1,
                "request_timeout": 0.25,
                "window": NO_LIMIT,
                "overload": NO_LIMIT,
                "batch_requests": False,
                "multicast_repairs": False,
            },
            usual,
        ),
    }
    protocol, parameters, workload = kind[name]
    payloads = ("Msg", "Numbered", "Placed")
    return Run(
        protocol=protocol,
        name=f"{name}-{N}-{'p' if direct else 'b'}-{E:g}",
        members=N,
        messages=60 * N if name != "counter" else int(4 * N * A * N),
        network=networks.Delay(low=P, high=P, point_to_point=direct),
        workload=workload,
        faults=(faults.Loss(rate=E, on=payloads),) if E else (),
        parameters=parameters,
        settle=20 * N,
        seed=1,
    )


def costs(trace: Trace) -> Mapping[str, Any]:
    rows = trace.rows
    keys = rows["origin"].astype(np.int64) << 32 | rows["n"].astype(np.int64)
    payload = np.isin(
        rows["message"],
        [trace.info.messages.index(k) for k in trace.info.facts["payload_kinds"] if k in trace.info.messages],
    )
    sent = rows["kind"] == SEND
    # First frames with each message, and the interval in which the counted ones are sent, without the first fifth.
    messages, at = np.unique(keys[sent & payload], return_index=True)
    begin = rows["time"][sent & payload][at]
    order = np.argsort(begin, kind="stable")
    counted = trace.info.facts["measured"]
    first, last = begin[order[counted // 5]], begin[order[counted - 1]]
    during = sent & (rows["time"] >= first) & (rows["time"] < last)
    number = int(((begin >= first) & (begin < last)).sum())
    chosen = (begin >= first) & (begin < last)
    given = (rows["kind"] == DELIVER) & np.isin(keys, messages)
    end = np.zeros(len(messages))
    np.maximum.at(end, np.searchsorted(messages, keys[given]), rows["time"][given])
    out: dict[str, Any] = {
        "num": int(during.sum()) / number,
        "delay_s": float((end - begin)[chosen].mean()),
        "stable_s": _stable(trace, messages, begin, chosen),
        "control": int((sent & ~payload).sum()) / len(messages),
        "withdrawn": int(rows["n"][rows["kind"] == WITHDRAW].sum()),
        "lost": int(((rows["kind"] == DROP) & payload).sum()),
    }
    return out


def _stable(trace: Trace, messages: Any, begin: Any, chosen: Any) -> float | None:
    """The mean time until the last node knows a message to be held by all; None where nobody is told."""
    rows = trace.rows[trace.rows["kind"] == REACH]
    if not len(rows):
        return None
    waits = []
    for origin in range(len(trace.info.members)):
        mine = np.flatnonzero((messages >> 32 == origin) & chosen)
        end = np.zeros(len(mine))
        for member in range(len(trace.info.members)):
            told = rows[(rows["origin"] == origin) & (rows["member"] == member)]
            if not len(told):
                return None
            place = np.searchsorted(told["n"], (messages[mine] & 0xFFFFFFFF) + 1)
            known = place < len(told)
            end[known] = np.maximum(end[known], told["time"][place[known]])
            end[~known] = np.nan
        waits.append(end - begin[mine])
    return float(np.nanmean(np.concatenate(waits)))
