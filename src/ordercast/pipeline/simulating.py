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
    workload = msgspec.to_builtins(run.workload)
    return {
        "protocol": run.protocol,
        "members": run.members,
        "messages": run.messages,
        "size_bytes": run.size_bytes,
        "interval_s": workload.get("interval"),
        "workload": in_words(run.workload),
        "network": in_words(run.network),
        "faults": "; ".join(map(in_words, run.faults)) or "none",
        "parameters": ", ".join(f"{name}={value}" for name, value in sorted(run.parameters.items())) or "default",
        "seed": run.seed,
        "run_json": msgspec.json.encode(run, order="deterministic").decode(),
    }


def in_words(value: msgspec.Struct) -> str:
    """A network, workload or fault with what is not as by default: `loss(rate=0.05)`."""
    plain = {field.encode_name: getattr(value, field.name) for field in msgspec.structs.fields(value)}
    defaults = {field.encode_name: field.default for field in msgspec.structs.fields(value)}
    given = [
        f"{name}={item:g}" if isinstance(item, float) else f"{name}={item}"
        for name, item in plain.items()
        if item != defaults[name]
    ]
    kind = str(type(value).__name__).lower()
    return f"{kind}({', '.join(given)})" if given else kind
