"""What the options about a topology mean to a simulated run: its network, who broadcasts, what fails."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from ordercast.cli import options
from ordercast.core import Process
from ordercast.parts.assignment import members_lists
from ordercast.parts.topology import Topology, decode
from ordercast.sim import faults, networks, workloads


def read_topology(path: Path) -> Topology:
    """A topology file; what is wrong with it is said with its name."""
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        return decode(text, path.suffix)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


class Switchboard:
    """A topology and the hosts that broadcast on it."""

    def __init__(self, path: Path | None, sources: Sequence[str]) -> None:
        if path is None:
            raise ValueError("--network switched wants --topology FILE")
        self.topology = read_topology(path)
        self.sources = [self.topology.origin(name) for name in sources or [""]]

    def members(self) -> tuple[int, ...]:
        return tuple(self.topology.hosts.index(name) for name in self.sources)

    def network(self) -> networks.AnyNetwork:
        return networks.Switched(topology=self.topology)

    def workload(self, text: str, interval: float) -> workloads.AnyWorkload:
        """The workload that was asked for, at the sources alone where it can be told so."""
        found = options.workload(text, interval)
        if isinstance(found, workloads.Poisson | workloads.Saturated):
            return msgspec.structs.replace(found, senders=self.members())
        return found

    def parameters(self, kind: type[Process]) -> dict[str, Any]:
        """The sources and their priority lists, for a protocol that knows such parameters."""
        known = {field.name for field in msgspec.structs.fields(kind.Parameters)}
        all_of_them = {"sources": self.members(), "lists": members_lists(self.topology, *self.sources)}
        return {name: value for name, value in all_of_them.items() if name in known}

    def failures(self, texts: Sequence[str]) -> list[faults.AnyFault]:
        """WHAT@A:B, several times."""
        out: list[faults.AnyFault] = []
        for text in texts:
            what, at, times = text.rpartition("@")
            if not at:
                raise ValueError(f"--fail wants LINK@A:B, not {text!r}")
            begin, end = options.span("--fail", times)
            out.append(faults.Down(what=what, begin=begin, end=end))
        return out
