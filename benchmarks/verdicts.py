"""CPU seconds for the verdict of each property on one run, of 10 members and 2 million deliveries unless told else.

Three runs: all logs equal, but for one that ends early; logs with gaps everywhere, in one order; and messages to four
members each, in one order.  Equal logs are seen at a glance, so the second and third are what the kernels cost.
"""

import argparse
import time

import numpy as np

from ordercast.spec import PROPERTIES, History, check
from ordercast.trace import Member, RunInfo, Trace
from ordercast.trace.columns import BROADCAST, DELIVER, ROW

LATE = 20.0  # a message is delivered so many messages after it was asked for


def run(kind: str, members: int, deliveries: int) -> Trace:
    """A run as columns, in the order of time."""
    rng = np.random.default_rng(1)
    count = deliveries // (4 if kind == "parts" else members)
    origin = rng.integers(0, members, count).astype(np.int32)
    n = np.zeros(count, np.int32)
    for o in range(members):
        n[origin == o] = np.arange((origin == o).sum())
    sets = [sorted(rng.choice(members, 4, replace=False).tolist()) for _ in range(60)] if kind == "parts" else []
    to = rng.integers(0, len(sets), count).astype(np.int32) if sets else np.full(count, -1, np.int32)
    parts = [_rows(BROADCAST, np.arange(count), origin, origin, n, to)]
    for p in range(members):
        mine = np.arange(count)
        if sets:
            mine = mine[np.array([p in some for some in sets])[to]]
        elif kind == "gaps":
            mine = mine[rng.random(count) > 0.01]
        elif p == 0:
            mine = mine[: count // 2]
        parts.append(_rows(DELIVER, mine + LATE, np.full(len(mine), p), origin[mine], n[mine], None))
    rows = np.concatenate(parts)
    rows = rows[np.argsort(rows["time"], kind="stable")]
    return Trace(RunInfo(run=kind, members=[Member(str(p)) for p in range(members)], sets=sets), rows)


def _rows(kind, time, member, origin, n, to):
    rows = np.zeros(len(time), ROW)
    rows["time"], rows["member"], rows["origin"], rows["n"], rows["kind"] = time, member, origin, n, kind
    rows["to"] = -1 if to is None else to
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deliveries", type=int, default=2_000_000)
    parser.add_argument("--members", type=int, default=10)
    options = parser.parse_args()
    kinds = ("prefixes", "gaps", "parts")
    spent: dict[str, list[str]] = {name: [] for name in ("(reading the columns)", *PROPERTIES)}
    for kind in kinds:
        trace = run(kind, options.members, options.deliveries)
        begin = time.process_time()
        History.from_trace(trace)
        spent["(reading the columns)"].append(f"{time.process_time() - begin:8.3f}          ")
        for name in PROPERTIES:
            history = History.from_trace(trace)
            begin = time.process_time()
            verdict = check(history, [name])[name]
            spent[name].append(f"{time.process_time() - begin:8.3f} {verdict.result:9}")
    print(f"{options.deliveries:,} deliveries, {options.members} members; CPU seconds and verdicts")
    print(" " * 24 + "".join(f"{kind:>8}          " for kind in kinds))
    for name, cells in spent.items():
        print(f"{name:24}" + "".join(cells).rstrip())


if __name__ == "__main__":
    main()
