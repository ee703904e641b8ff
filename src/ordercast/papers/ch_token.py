"""What CH's token carries: its state is bounded, and this is how it grows with the group and the load (2.2, 3.2)."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ordercast.core import codec
from ordercast.papers.ch_setting import PP, simulation
from ordercast.papers.paper import Experiment, Findings, Result, Table
from ordercast.protocols.counter import Counter
from ordercast.sim import simulate


class Load(msgspec.Struct, frozen=True):
    """N nodes that each broadcast A messages a second, of which each node loses E; `window` messages each at most."""

    N: int
    A: float
    E: float
    window: int


def loads(quick: bool) -> list[Load]:
    sizes = (5, 10) if quick else (5, 10, 20, 40)
    unbounded = [Load(N, A, E, 1 << 30) for N in sizes for A in (10.0, 20.0) for E in (0.0, 0.1)]
    return [*unbounded, *(Load(N, 20.0, 0.1, 50) for N in sizes)]


def weigh(load: Load) -> Mapping[str, Any]:
    """Every token that is passed on in a run, once the ring has filled up."""
    encode, _ = codec(Counter)
    entries, messages, size = [], [], []

    class Weighed(Counter):
        def pass_on(self) -> None:
            super().pass_on()
            entries.append(len(self.token.S))
            messages.append(sum(entry.below - entry.first for entry in self.token.S))
            size.append(len(encode(self.token)))

    cycles = 8
    run = simulation(
        load.N, load.A, 1.0, load.E, variant="batch requests", messages=int(cycles * load.N * load.N * load.A), seed=3
    )
    simulate(Weighed, msgspec.structs.replace(run, parameters={**run.parameters, "window": load.window}))
    full = slice(3 * load.N, cycles * load.N)
    return {
        "entries": sum(entries[full]) / len(entries[full]),
        "most_entries": max(entries),
        "messages": sum(messages[full]) / len(messages[full]),
        "most_messages": max(messages),
        "bytes": sum(size[full]) / len(size[full]),
        "most_bytes": max(size),
    }


def grows(results: Sequence[Result]) -> Findings:
    columns = (
        "N",
        "A",
        "E",
        "window",
        "entries of S",
        "most entries",
        "messages named",
        "most messages",
        "bytes",
        "most bytes",
        "N window",
    )
    rows = []
    for result in results:
        load, found = result.point, result.values
        bound = load.N * load.window if load.window < 1 << 30 else None
        rows.append((load.N, load.A, load.E, load.window if bound else "none", *found.values(), bound))
    note = (
        "T = 1 s, delays uniform on (0, 0.1 s).  An entry names a run of messages by its ends, so a token's size grows "
        "with N, and with the cycles that a loss keeps an entry in S, but hardly with the load.  Without a window S "
        "names what a cycle and a half of broadcasts makes; with one, never more than N windows."
    )
    return Findings(
        tables=[Table(name="token", title=f"The token, PP = {PP:g} s", columns=columns, rows=rows)], notes=note
    )


def effort(load: Load) -> float:
    return 8e-6 * 8 * load.N**3 * load.A


TOKEN = Experiment("token", "The size of the token", "2.2", loads, weigh, grows, seconds=effort)
