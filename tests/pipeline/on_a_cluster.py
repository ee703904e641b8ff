"""A small sweep on the master named on the command line: prints where the workers found the library, and the digests.

It is a process of its own: one process has one Spark context.  Arguments: MASTER OUT [RUNS].
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from ordercast.pipeline.session import session, ship
from ordercast.pipeline.sweep import sweep
from ordercast.pipeline.verify import verify
from ordercast.sim import Run, networks
from toys import Flood


def plan(runs):
    return [
        Run(protocol="flood", members=4, messages=10_000, network=networks.Delay(), seed=seed) for seed in range(runs)
    ]


def found_at(batches):
    import pyarrow as pa

    import ordercast

    for batch in batches:
        yield pa.record_batch({"file": [ordercast.__file__] * batch.num_rows})


if __name__ == "__main__":
    master, out, runs = sys.argv[1], sys.argv[2], int(sys.argv[3])
    spark = session(master, {"spark.executor.memory": "512m", "spark.cores.max": "2"})
    spark.sparkContext.addPyFile(str(Path(__file__).parent.parent / "toys.py"))
    ship(spark)
    files = {row.file for row in spark.range(0, 4, 1, 4).mapInArrow(found_at, "file string").collect()}
    swept = sweep(spark, plan(runs), out, protocols={"flood": Flood})
    judged = verify(spark, out, protocols={"flood": Flood})
    print(
        json.dumps(
            {
                "files": sorted(files),
                "errors": swept.errors,
                "digests": {run: row["trace_hash"] for run, row in swept.rows.items()},
                "verdicts": {run["run"]: run["verdicts"] for run in judged.runs},
            }
        )
    )
