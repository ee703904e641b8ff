"""What is measured of a run, as flat columns of a row of facts."""

from collections.abc import Mapping
from typing import Any

import msgspec

from ordercast.measure import metrics
from ordercast.trace import Trace

NUMBERS = (  # in the order in which tables show them
    "delivery_s",
    "delivery_p50_s",
    "delivery_p90_s",
    "delivery_p99_s",
    "stability_s",
    "stability_p50_s",
    "stability_p90_s",
    "stability_p99_s",
    "stability_times_rate",
    "buffer_messages",
    "overhead_per_broadcast",
    "retransmissions_per_broadcast",
    "evenness",
)


def flat(trace: Trace) -> Mapping[str, Any]:
    """The metrics of a run, one column each: percentiles and kinds of message spelled out, the load as a list."""
    found = msgspec.to_builtins(metrics(trace))
    out: dict[str, Any] = {}
    for name, value in found.items():
        if name in ("delivery", "stability"):
            for percentile in ("p50", "p90", "p99", "max"):
                out[f"{name}_{percentile}_s"] = None if value is None else value[percentile]
        elif name == "control":
            out |= {f"control_{kind.lower()}": share for kind, share in sorted(value.items())}
        elif name == "interval_s":
            out["realised_interval_s"] = value
        else:
            out[name] = value
    return out
