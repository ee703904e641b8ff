"""What Spark costs: a sweep beside a pool of processes, verdicts beside DuckDB, and a hundred million deliveries.

    python benchmarks/pipeline.py [sweep] [verify] [large] [--scale S] [--keep DIR]

All that is compared runs in one call on the same machine, on the same files; each ratio is printed beside its limit.
`--scale 0.05` is a small form for a first look: its ratios say little, because the fixed costs weigh more.
"""

import argparse
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from ordercast.pipeline.session import session, stop
from ordercast.pipeline.simulating import named, seconds
from ordercast.pipeline.sweep import _simulate, sweep
from ordercast.pipeline.tasks import Piece, each
from ordercast.pipeline.verify import verify
from ordercast.protocols.catalog import protocol
from ordercast.sim import Run, workloads
from ordercast.trace import ROW, Member, RunInfo, Trace, write_trace
from ordercast.trace.columns import BROADCAST, DELIVER

CORES = os.cpu_count() or 1
SWEEP_S, SWEEP_LIMIT, VERIFY_LIMIT = 150.0, 1.25, 3.0

# The order check alone: each run's messages joined between members, positions compared.
ORDER_IN_SQL = """
SELECT delivered.filename AS run, count(*) AS displaced
FROM read_parquet('{files}', filename = true) AS delivered
JOIN read_parquet('{files}', filename = true) AS reference
  ON delivered.filename = reference.filename
 AND delivered.origin = reference.origin
 AND delivered.n = reference.n
WHERE delivered.kind = {deliver} AND reference.kind = {deliver} AND reference.member = 0
  AND delivered.position <> reference.position
GROUP BY ALL
"""


def timed(work):
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


# ------------------------------------------------------------------------------------------ sweep against a pool


def runs_worth(wanted_s):
    """Runs of four sizes and two protocols, as many as keep all cores busy for so long."""

    def some(seeds):
        return [
            named(Run(protocol=name, members=n, messages=2_000, workload=workloads.Poisson(interval=0.1), seed=seed))
            for name in ("dtp", "cm")
            for n in (5, 10, 20, 40)
            for seed in range(seeds)
        ]

    directory = Path(tempfile.mkdtemp(prefix="calibrate-"))
    one = some(1)
    took, _ = timed(lambda: [in_a_process((run, directory)) for run in one])
    shutil.rmtree(directory)
    return some(max(1, round(wanted_s * CORES / took)))


def in_a_process(load):
    run, out = load
    return dict(_simulate((protocol(run.protocol), run), out=out, code="bench", keep_traces=True))


def bench_sweep(spark, scratch, scale):
    runs = runs_worth(SWEEP_S * scale)
    longest_first = sorted(runs, key=seconds, reverse=True)
    with multiprocessing.get_context("spawn").Pool(CORES) as pool:
        pool.map(abs, range(CORES))  # the workers are up, as Spark's are
        work = [(run, scratch / "pool") for run in longest_first]
        pool_s, rows = timed(lambda: list(pool.imap_unordered(in_a_process, work, chunksize=1)))
    spark_s, swept = timed(lambda: sweep(spark, runs, scratch / "spark"))
    assert not swept.errors
    assert {row["trace_hash"] for row in rows} == {row["trace_hash"] for row in swept.rows.values()}
    return {
        "what": f"sweep of {len(runs)} runs, {CORES} workers",
        "spark_s": spark_s,
        "pool_s": pool_s,
        "ratio": spark_s / pool_s,
        "limit": SWEEP_LIMIT,
    }


# ------------------------------------------------------------------------------------------ verdicts against DuckDB


def synthetic(run, members, messages, seed):
    """A run in one order: every member delivers every message, slightly after one another."""
    random = np.random.default_rng(seed)
    origin = random.integers(0, members, messages)
    n = np.zeros(messages, dtype=np.int64)
    for member in range(members):
        mine = origin == member
        n[mine] = np.arange(mine.sum())
    asked = np.cumsum(random.exponential(0.001, messages))
    copies = [asked] + [asked + 0.002 + 1e-5 * member for member in range(members)]
    columns = {
        "time": np.concatenate(copies),
        "position": np.concatenate([np.zeros(messages), *([np.arange(messages)] * members)]),
        "member": np.concatenate([origin, np.repeat(np.arange(members), messages)]),
        "origin": np.tile(origin, members + 1),
        "n": np.tile(n, members + 1),
        "kind": np.repeat([BROADCAST, *([DELIVER] * members)], messages),
    }
    rows = np.zeros(messages * (members + 1), dtype=ROW)
    rows["to"] = rows["cause"] = rows["message"] = -1
    order = np.argsort(columns["time"], kind="stable")
    for name, values in columns.items():
        rows[name] = values[order]
    return Trace(RunInfo(run=run, members=[Member(str(k)) for k in range(members)]), rows)


def many(directory, runs, messages, members=10):
    for k in range(runs):
        write_trace(synthetic(f"run-{k:04d}", members, messages, k), directory)
    return runs * messages * members


def bench_verify(spark, scratch, scale):
    import duckdb

    directory = scratch / "twenty"
    deliveries = many(directory, max(2, round(100 * scale)), 20_000)
    many(scratch / "warm", 2 * CORES, 10)
    verify(spark, scratch / "warm")  # the workers are up
    sql = ORDER_IN_SQL.format(files=directory / "*.parquet", deliver=DELIVER)
    duck_s, displaced = timed(lambda: duckdb.connect(config={"threads": CORES}).execute(sql).fetchall())
    spark_s, found = timed(lambda: verify(spark, directory))
    duck_again_s, _ = timed(lambda: duckdb.connect(config={"threads": CORES}).execute(sql).fetchall())
    assert displaced == []
    assert found.exit_code() == 0
    assert sum(run["deliveries"] for run in found.runs) == deliveries
    best = min(duck_s, duck_again_s)
    return {
        "what": f"all properties of {deliveries:,} deliveries beside DuckDB's order check alone",
        "spark_s": spark_s,
        "duckdb_s": best,
        "ratio": spark_s / best,
        "limit": VERIFY_LIMIT,
    }


def bench_large(scratch, scale):
    directory = scratch / "hundred"
    deliveries = many(directory, max(2, round(100 * scale)), 100_000)
    size = sum(path.stat().st_size for path in directory.iterdir())
    command = [sys.executable, "-m", "ordercast", "verify", str(directory)]
    took, done = timed(lambda: subprocess.run(command, capture_output=True, text=True))
    assert done.returncode == 0, done.stderr
    return {
        "what": f"`ordercast verify` of {deliveries:,} deliveries, {size / 1e6:.0f} MB, Spark's start included",
        "spark_s": took,
        "deliveries_per_s": deliveries / took,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=["sweep", "verify", "large", []], default=[])
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    wanted = given.what or ["sweep", "verify", "large"]
    scratch = Path(tempfile.mkdtemp(prefix="ordercast-bench-"))
    results = []
    try:
        if "sweep" in wanted or "verify" in wanted:
            spark = session(f"local[{CORES},4]")
            if "sweep" in wanted:
                each(spark, [Piece(str(k), 1.0, k) for k in range(CORES)], lambda k: {"k": k})  # the workers are up
                results.append(bench_sweep(spark, scratch, given.scale))
            if "verify" in wanted:
                results.append(bench_verify(spark, scratch, given.scale))
            stop()
        if "large" in wanted:
            results.append(bench_large(scratch, given.scale))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    for result in results:
        print(json.dumps(result) if given.json else in_words(result))


def in_words(result):
    times = ", ".join(
        f"{name[:-2]} {result[name]:.2f} s" for name in ("spark_s", "pool_s", "duckdb_s") if name in result
    )
    more = f": ratio {result['ratio']:.2f} (at most {result['limit']})" if "ratio" in result else ""
    rate = f", {result['deliveries_per_s']:,.0f} deliveries/s" if "deliveries_per_s" in result else ""
    return f"{result['what']}: {times}{rate}{more}"


if __name__ == "__main__":
    main()
