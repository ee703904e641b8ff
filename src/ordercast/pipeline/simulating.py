"""One simulated run on a worker: run it, stamp where it comes from, measure it."""

import hashlib
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from ordercast.core import Process
from ordercast.sim import Outcome, Run, simulate
from ordercast.trace import Recorder, Trace

_EVENTS_PER_S = 400_000  # roughly, with a trace


def named(run: Run) -> Run:
    """The run under a name that depends on nothing but its values: the same run in any plan has the same name."""
    plain = msgspec.structs.replace(run, name="")
    digest = hashlib.sha256(msgspec.json.encode(plain, order="deterministic")).hexdigest()[:10]
    return msgspec.structs.replace(plain, name=f"{run.protocol}-n{run.members}-s{run.seed}-{digest}")


def seconds(run: Run) -> float:
    """About how long a run takes: a broadcast reaches every member, and so does what orders it."""
    return 2.5 * run.messages * run.members / _EVENTS_PER_S


class Simulated(NamedTuple):
    outcome: Outcome
    trace: Trace
    took_s: float


def simulated(kind: type[Process], run: Run, code: str, kinds: Sequence[str] | None = None) -> Simulated:
    """Simulate a run; its trace says which code made it.

    With `kinds`, only those rows are recorded, and of `receive` only those of frames with a payload.
    """
    began = time.perf_counter()
    outcome = simulate(kind, run, Recorder(kinds, control_receipts=kinds is None))
    trace = outcome.trace()
    trace.info.provenance = {"code": code, "seed": str(run.seed)}
    return Simulated(outcome, trace, time.perf_counter() - began)


def settings(run: Run) -> dict[str, Any]:
    """What a run was made from, flat: the columns by which a table of facts is read."""
    plain = msgspec.to_builtins(run)
    network, workload = plain["network"], plain["workload"]
    return {
        "protocol": run.protocol,
        "members": run.members,
        "messages": run.messages,
        "size_bytes": run.size_bytes,
        "interval_s": workload.get("interval"),
        "network": network["kind"],
        "faults": len(run.faults),
        "seed": run.seed,
        "run_json": msgspec.json.encode(plain, order="deterministic").decode(),
    }
