"""What is measured of a run, as flat columns."""

from collections.abc import Mapping

from ordercast.trace import Trace


def flat(trace: Trace) -> Mapping[str, float | None]:
    return {}
