"""Fig. 1 of KK: five members, six messages, and what is known to be stable after each acknowledgment.

The figure itself is lost.  Senders 1, 3, 5, 1, 2, 4 satisfy every fact that the text states of it; members and their
token count from 1 there and from 0 here.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ordercast.papers.paper import Claim, Drawing, Experiment, Findings, Line, Result, Table, Text
from ordercast.sim import Run, networks, workloads
from ordercast.trace import Trace
from ordercast.trace.columns import REACH, REACHES, SEND

SENDERS = (0, 2, 4, 0, 1, 3)
EVERY_S = 0.01  # between one message and the next: long enough for it to be acknowledged, too short for a null ACK
STABLE = {  # after each of the six acknowledgments, as the text says or implies
    "cm": (0, 0, 0, 0, 1, 2),
    "pinwheel": (0, 0, 0, 2, 3, 3),
    "dtp": (0, 0, 1, 1, 2, 4),
}
NAMES = {"cm": "CM", "pinwheel": "Pinwheel", "dtp": "DTP"}


def examples(quick: bool) -> list[Run]:
    lines = tuple((0.001 + EVERY_S * k, sender, None, None) for k, sender in enumerate(SENDERS))
    script = workloads.Script(lines=lines)
    bus = networks.Bus(bandwidth=10e6)
    return [Run(protocol=name, members=5, messages=6, workload=script, network=bus, size_bytes=500) for name in STABLE]


def stages(trace: Trace) -> Mapping[str, Any]:
    """How many messages every member knows to be stable when the next one is about to be sent; and what was sent."""
    rows = trace.rows
    told = rows[(rows["kind"] == REACH) & (rows["level"] == REACHES.index("stable"))]
    counts = []
    for k in range(len(SENDERS)):
        known = [dict.fromkeys(range(5), 0) for _ in range(5)]
        for row in told[told["time"] < 0.001 + EVERY_S * (k + 1)]:
            origin = int(row["origin"])
            known[row["member"]][origin] = max(known[row["member"]][origin], int(row["n"]))
        counts.append(min(sum(each.values()) for each in known))
    sends = rows[(rows["kind"] == SEND) & (rows["time"] < 0.001 + EVERY_S * len(SENDERS))]
    names = trace.info.messages
    frames = [[float(row["time"]), int(row["member"]), names[row["message"]]] for row in sends]
    return {"stable": counts, "frames": frames}


def findings(results: Sequence[Result]) -> Findings:
    found = {result.point.protocol: result.values for result in results}
    claims = [
        Claim(
            id=f"KK.fig1.{name}",
            text=f"{NAMES[name]}: {', '.join(map(str, STABLE[name]))} messages are stable after each of six ACKs.",
            section="3",
            holds=tuple(found[name]["stable"]) == STABLE[name] if name in found else None,
            measured=", ".join(map(str, found[name]["stable"])) if name in found else "no run",
        )
        for name in STABLE
    ]
    columns = ("protocol", *(f"after ACK {k + 1}" for k in range(len(SENDERS))))
    rows = [(NAMES[name], *values["stable"]) for name, values in found.items()]
    table = Table(name="fig1", title="Messages known to be stable at every member", columns=columns, rows=rows)
    marks = [mark for k, (name, values) in enumerate(found.items()) for mark in _diagram(name, values, 8.0 * k)]
    figure = Drawing(name="fig1", title="Stability time: S is what every member knows to be stable", marks=marks)
    return Findings(claims=claims, tables=[table], figures=[figure] if marks else [])


def _diagram(name: str, values: Mapping[str, Any], left: float) -> Iterator[Line | Text]:
    """A space-time diagram: a line per member, time downwards, an arrow from each frame's sender to the others."""
    xs = [left + 1.2 * member for member in range(5)]
    frames = values["frames"]
    yield Text(at=(xs[2], -0.9), text=NAMES[name])
    for member, x in enumerate(xs):
        yield Text(at=(x, 0), text=f"LTM{member + 1}")
        yield Line(start=(x, 0.3), end=(x, 1.3 * len(frames) + 1))
    stable = iter(values["stable"])
    for k, (_, sender, kind) in enumerate(frames):
        y = 1.0 + 1.3 * k
        for member, x in enumerate(xs):
            if member != sender:
                yield Line(start=(xs[sender], y), end=(x, y + 0.5), arrow=True)
        yield Text(at=(xs[sender], y), text=kind.upper())
        if kind.lower() == "ack":
            yield Text(at=(xs[-1] + 1.0, y + 0.5), text=f"|S| = {next(stable, '')}")


EXAMPLE = Experiment("fig1", "Three protocols, one sequence of messages", "3", examples, stages, findings)
