"""The metrics of one run, from its rows; the same kernel serves `simulate`, a Spark task and a live group's trace.

Conventions (KK section 5, made exact).  Measured are the first M broadcasts asked for; times skip the first 2 % of
them.  Delivery: from the request, waiting included, until the last other destination has it.  Stability: until the
last member knows it stable.  Buffer: unstable messages that a member holds, over time, its own from their first
transmission, others' from receipt.  Overhead: frames without a payload, per measured broadcast, until the last of
these was asked for.  What a trace does not hold is None.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from ordercast.trace import Trace
from ordercast.trace.columns import BROADCAST, DELIVER, REACH, RECEIVE, SEND

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SKIPPED = 0.02  # share of the measured messages that times and buffers leave out: the group starts empty
STABLE = 1


class Spread(msgspec.Struct, frozen=True):
    """Percentiles of a time, in seconds."""

    p50: float
    p90: float
    p99: float
    max: float


class Metrics(msgspec.Struct, frozen=True, kw_only=True):
    """Of one run.  Times in seconds; `control` and `load` per measured broadcast."""

    broadcasts: int
    deliveries: int
    duration_s: float | None
    interval_s: float | None  # realised mean time between one member's broadcasts
    delivery_s: float | None
    delivery: Spread | None
    stability_s: float | None
    stability: Spread | None
    stability_times_rate: float | None
    buffer_messages: float | None
    overhead_per_broadcast: float | None
    control: Mapping[str, float]  # by kind of message
    retransmissions_per_broadcast: float | None
    load: list[float]  # frames without a payload that each member sent
    evenness: float | None  # Jain's index of that load: 1 when all carry the same, 1/n when one carries all


class _Messages:
    """The measured broadcasts of a run and the dense numbers of all its messages."""

    def __init__(self, trace: Trace) -> None:
        rows = trace.rows
        self.members = len(trace.info.members)
        asks = rows[rows["kind"] == BROADCAST]
        seen = rows[np.isin(rows["kind"], (BROADCAST, DELIVER))]
        highest = np.full(self.members + 1, -1, dtype=np.int64)
        np.maximum.at(highest, seen["origin"], seen["n"].astype(np.int64))
        self.base = np.concatenate([[0], np.cumsum(highest[: self.members] + 1)])
        self.count = int(self.base[-1])
        self.asked = np.full(self.count, np.nan)
        numbers = self.number(asks)
        self.asked[numbers] = asks["time"]
        self.measured = numbers[: int(trace.info.facts.get("measured", len(numbers)))]
        self.judged = self.measured[int(SKIPPED * len(self.measured)) :]
        self.last_ask = float(self.asked[self.measured[-1]]) if len(self.measured) else 0.0
        self.wanted = self._wanted(trace, asks, numbers)

    def number(self, rows: npt.NDArray[Any]) -> Ints:
        numbers: Ints = self.base[rows["origin"]] + rows["n"]
        return numbers

    def _wanted(self, trace: Trace, asks: npt.NDArray[Any], numbers: Ints) -> Ints:
        """How many correct members other than its origin each message is for."""
        correct = [member.status == "correct" for member in trace.info.members]
        wanted = np.full(self.count, sum(correct), dtype=np.int64)
        sizes = np.array([sum(correct[member] for member in chosen) for chosen in trace.info.sets] or [0])
        partial = asks["to"] >= 0
        wanted[numbers[partial]] = sizes[asks["to"][partial]]
        for origin in range(self.members):
            mine = slice(self.base[origin], self.base[origin + 1])
            wanted[mine] -= correct[origin]
        return wanted


def metrics(trace: Trace) -> Metrics:
    """The metrics of one run."""
    rows, info = trace.rows, trace.info
    messages = _Messages(trace)
    measured = len(messages.measured)
    clock = info.common_clock
    delivered = rows[rows["kind"] == DELIVER]
    delivery = _delivery(messages, delivered) if clock else None
    stable_at = _stable_at(messages, trace) if clock else None
    stability = None if stable_at is None else _judged(messages, _last(stable_at, trace) - messages.asked)
    payload = np.array([name in info.facts.get("payload_kinds", ()) for name in info.messages] or [False])
    sends = rows[(rows["kind"] == SEND) & (rows["message"] >= 0)]
    control = sends[~payload[sends["message"]] & (sends["time"] <= messages.last_ask)]
    by_kind = np.bincount(control["message"], minlength=len(info.messages)) / max(1, measured)
    load = np.bincount(control["member"], minlength=messages.members) / max(1, measured)
    interval = messages.last_ask * _askers(rows) / measured if measured and messages.last_ask else None
    mean_stability = None if stability is None or not len(stability) else float(stability.mean())
    known = bool(len(sends)) and measured > 0
    return Metrics(
        broadcasts=measured,
        deliveries=len(delivered),
        duration_s=float(rows["time"].max()) if len(rows) and clock else None,
        interval_s=interval,
        delivery_s=None if delivery is None or not len(delivery) else float(delivery.mean()),
        delivery=_spread(delivery),
        stability_s=mean_stability,
        stability=_spread(stability),
        stability_times_rate=None if mean_stability is None or not interval else mean_stability / interval,
        buffer_messages=None if stable_at is None else _buffer(messages, trace, stable_at, payload),
        overhead_per_broadcast=len(control) / measured if known else None,
        control={name: float(by_kind[k]) for k, name in enumerate(info.messages) if by_kind[k]},
        retransmissions_per_broadcast=_again(messages, sends[payload[sends["message"]]]) if known else None,
        load=[float(each) for each in load],
        evenness=float(load.sum() ** 2 / (messages.members * (load**2).sum())) if load.any() else None,
    )


def _askers(rows: npt.NDArray[Any]) -> int:
    return len(np.unique(rows["member"][rows["kind"] == BROADCAST]))


def _judged(messages: _Messages, times: Floats) -> Floats:
    judged = times[messages.judged]
    return judged[~np.isnan(judged)]


def _delivery(messages: _Messages, delivered: npt.NDArray[Any]) -> Floats:
    others = delivered[delivered["member"] != delivered["origin"]]
    numbers = messages.number(others)
    last = np.full(messages.count, np.nan)
    np.fmax.at(last, numbers, others["time"])
    last[np.bincount(numbers, minlength=messages.count) < messages.wanted] = np.nan
    return _judged(messages, last - messages.asked)


def _stable_at(messages: _Messages, trace: Trace) -> Floats | None:
    """When each member (row) learned that each message (column) is stable; infinite: never."""
    reached = trace.rows[(trace.rows["kind"] == REACH) & (trace.rows["level"] == STABLE)]
    if not len(reached):
        return None
    out = np.full((messages.members, messages.count), np.inf)
    pair = reached["member"].astype(np.int64) * messages.members + reached["origin"]
    order = np.argsort(pair, kind="stable")
    pair, reached = pair[order], reached[order]
    bounds = np.flatnonzero(np.diff(pair)) + 1
    for part in np.split(reached, bounds):
        member, origin = int(part["member"][0]), int(part["origin"][0])
        below = np.maximum.accumulate(part["n"].astype(np.int64))
        size = int(messages.base[origin + 1] - messages.base[origin])
        at = np.searchsorted(below, np.arange(size), side="right")
        known = at < len(below)
        times = np.full(size, np.inf)
        times[known] = part["time"][at[known]]
        out[member, messages.base[origin] : messages.base[origin + 1]] = times
    return out


def _last(stable_at: Floats, trace: Trace) -> Floats:
    correct = [k for k, member in enumerate(trace.info.members) if member.status == "correct"]
    last: Floats = stable_at[correct].max(axis=0) if correct else np.full(stable_at.shape[1], np.nan)
    last[np.isinf(last)] = np.nan
    return last


def _buffer(messages: _Messages, trace: Trace, stable_at: Floats, payload: npt.NDArray[np.bool_]) -> float | None:
    rows = trace.rows
    moved = rows[np.isin(rows["kind"], (SEND, RECEIVE)) & (rows["message"] >= 0) & (rows["origin"] >= 0)]
    moved = moved[payload[moved["message"]]]
    moved = moved[messages.base[moved["origin"]] + moved["n"] < messages.base[moved["origin"] + 1]]
    window = messages.judged
    if not len(moved) or not len(window):
        return None
    held = np.full(stable_at.shape, np.inf)
    np.fmin.at(held, (moved["member"], messages.number(moved)), moved["time"])
    begin, end = messages.asked[window[0]], messages.last_ask
    if not end > begin:
        return None
    time_held = np.clip(stable_at, begin, end) - np.clip(held, begin, end)
    return float(np.maximum(time_held, 0).sum() / (end - begin) / messages.members)


def _again(messages: _Messages, sends: npt.NDArray[Any]) -> float | None:
    measured = np.zeros(messages.count, dtype=bool)
    measured[messages.measured] = True
    sends = sends[sends["origin"] >= 0]
    if not len(sends):
        return None  # a live frame holds many messages, and its row names none
    sends = sends[messages.base[sends["origin"]] + sends["n"] < messages.base[sends["origin"] + 1]]
    numbers = messages.number(sends)
    numbers = numbers[measured[numbers]]
    return (len(numbers) - len(np.unique(numbers))) / len(messages.measured)


def _spread(times: Floats | None) -> Spread | None:
    if times is None or not len(times):
        return None
    p50, p90, p99 = np.percentile(times, (50, 90, 99))
    return Spread(float(p50), float(p90), float(p99), float(times.max()))
