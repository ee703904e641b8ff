"""Configurations: runs that differ in nothing but the seed, by what they differ from one another, and their curves."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from ordercast.papers import Curve, Estimate, Figure, Panel

METRICS = {  # those of the figures and of the table, with their scale and their heading
    "delivery_s": (1000, "delivery (ms)"),
    "delivery_p99_s": (1000, "delivery, 99 % (ms)"),
    "stability_s": (1000, "stability (ms)"),
    "overhead_per_broadcast": (1, "overhead per broadcast"),
    "retransmissions_per_broadcast": (1, "retransmissions per broadcast"),
    "buffer_messages": (1, "buffer (messages)"),
    "evenness": (1, "evenness of load"),
}
_PLOTTED = ("delivery_s", "stability_s", "overhead_per_broadcast", "buffer_messages")
_AXES = {"members": "group size", "interval_s": "1/λ (s)", "size_bytes": "message size (bytes)"}
_WORDS = {
    "members": "{} members",
    "messages": "{} messages",
    "size_bytes": "{} bytes",
    "interval_s": "1/λ {} s",
    "faults": "faults: {}",
    "parameters": "{} parameters",
}


class Group(NamedTuple):
    settings: Mapping[str, Any]
    runs: int
    metrics: Mapping[str, Estimate]


class Configured(Protocol):
    @property
    def settings(self) -> Mapping[str, Any]: ...


def simulated(group: Configured) -> bool:
    """Of a live group, or a foreign system, no more is known than the protocol and the members."""
    return group.settings.get("network") is not None


def varying(groups: Sequence[Configured]) -> list[str]:
    """The settings by which the groups differ; the protocol in any case."""
    names = dict.fromkeys(name for group in groups for name in group.settings)
    return [name for name in names if name == "protocol" or len({group.settings.get(name) for group in groups}) > 1]


def shared(groups: Sequence[Configured]) -> str:
    """In words, what the groups have in common."""
    different = varying(groups)
    common = groups[0].settings.items() if groups else ()
    return ", ".join(said(name, value) for name, value in common if name not in different and value is not None)


def said(name: str, value: Any) -> str:
    """A setting in words."""
    if (name, value) == ("faults", "none"):
        return "no faults"
    named = name == "parameters" and value != "default"
    return str(value) if named else _WORDS.get(name, "{}").format(value)


def figure(groups: Sequence[Group]) -> Figure | None:
    """The metrics of simulated runs against what they vary most; of live ones, when there are no others.

    A live run has settings of its own, known to nobody: between simulated ones it would be a curve of one point.
    """
    groups = [group for group in groups if simulated(group)] or groups
    axis = _axis(groups)
    if axis is None:
        return None
    panels = []
    for metric in _PLOTTED:
        curves = _curves(groups, metric, axis)
        if curves:
            wide = _spread(curves) > 100
            panels.append(Panel(x_label=_AXES[axis], y_label=METRICS[metric][1], curves=curves, log_y=wide))
    common = shared(groups)
    title = f"Metrics against {_AXES[axis]}" + (f" ({common})" if common else "")
    return Figure(name="metrics", title=title, panels=panels) if panels else None


def _axis(groups: Sequence[Group]) -> str | None:
    """What the figures' x-axis shows: the numeric setting with the most values."""
    counts = {name: len({group.settings.get(name) for group in groups} - {None}) for name in _AXES}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] > 1 else None


def _curves(groups: Sequence[Group], metric: str, axis: str) -> list[Curve]:
    telling = _telling(groups, axis)
    by_label: dict[str, list[tuple[float, Estimate]]] = {}
    for group in groups:
        found = group.metrics.get(metric)
        if found is not None and group.settings.get(axis) is not None:
            more = [said(name, value) for name in telling if (value := group.settings.get(name)) is not None]
            by_label.setdefault(", ".join([str(group.settings["protocol"]), *more]), []).append(
                (group.settings[axis], found)
            )
    scale = METRICS[metric][0]
    curves = []
    for label, points in by_label.items():
        points.sort(key=lambda point: point[0])
        certain = all(found.seeds > 1 for _, found in points)
        curves.append(
            Curve(
                label=label,
                x=[x for x, _ in points],
                y=[scale * found.mean for _, found in points],
                half=[scale * found.half for _, found in points] if certain else (),
            )
        )
    return curves


def _telling(groups: Sequence[Group], axis: str) -> list[str]:
    """The settings that tell the curves of one protocol from one another."""
    by_protocol: dict[Any, list[Group]] = {}
    for group in groups:
        by_protocol.setdefault(group.settings["protocol"], []).append(group)
    found = dict.fromkeys(name for same in by_protocol.values() for name in varying(same))
    return [name for name in found if name not in (axis, "protocol")]


def _spread(curves: Sequence[Curve]) -> float:
    positive = [y for curve in curves for y in curve.y if y > 0]
    return max(positive) / min(positive) if len(positive) == sum(len(curve.y) for curve in curves) else 1.0
