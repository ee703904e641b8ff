"""What the options about a topology mean to a simulated run: its network, who broadcasts, what fails."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from ordercast.cli import options
from ordercast.core import Process
from ordercast.parts.assignment import members_lists
from ordercast.parts.topology import Topology, decode
from ordercast.sim import Run, faults, networks, workloads


def read_topology(path: Path) -> Topology:
    """A topology file; what is wrong with it is said with its name."""
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        return decode(text, path.suffix)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def switchboard(
    path: Path | None, network: str, sources: Sequence[str], failures: Sequence[str]
) -> "Switchboard | None":
    """What `--topology`, `--network`, `--source` and `--fail` make together; none: no topology is meant."""
    if path is not None:
        return Switchboard(path, sources, failures)
    if network == "switched":
        raise ValueError("--network switched wants --topology FILE")
    if sources or failures:
        raise ValueError("--source and --fail name things of a topology: give --network switched --topology FILE")
    return None


class Switchboard:
    """A topology, the hosts that broadcast on it, and what fails there and when (WHAT@A:B)."""

    def __init__(self, path: Path, sources: Sequence[str], failures: Sequence[str]) -> None:
        self.topology = read_topology(path)
        self.sources = [self.topology.origin(name) for name in sources or [""]]
        self.failures = [_failure(text) for text in failures]

    def rewire(self, run: Run, kind: type[Process]) -> Run:
        """The run over this network: its workload at the sources where it can be told so, and the lists for them."""
        members = tuple(self.topology.hosts.index(name) for name in self.sources)
        workload = run.workload
        if isinstance(workload, workloads.Poisson | workloads.Saturated):
            workload = msgspec.structs.replace(workload, senders=members)
        known = {field.name for field in msgspec.structs.fields(kind.Parameters)}
        settings = {"sources": members, "lists": members_lists(self.topology, *self.sources)}
        return msgspec.structs.replace(
            run,
            members=len(self.topology.hosts),
            network=networks.Switched(topology=self.topology),
            workload=workload,
            faults=(*run.faults, *self.failures),
            parameters={**{name: value for name, value in settings.items() if name in known}, **run.parameters},
        )


def _failure(text: str) -> faults.Down:
    what, at, times = text.rpartition("@")
    if not at:
        raise ValueError(f"--fail wants LINK@A:B, not {text!r}")
    begin, end = options.span("--fail", times)
    return faults.Down(what=what, begin=begin, end=end)
