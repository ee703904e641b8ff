"""What GK's section 6 compares, measured: one run of `tree` or `basic` over a generated network, looked at in phases.

Two sites, the source at the near one, and one critical link, `slow`, between them.  The far site has k hosts.  Every
case counts frames per link, before the repair of what failed and after it.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from ordercast.parts.assignment import members_lists
from ordercast.protocols.catalog import protocol
from ordercast.sim import Run, Simulation, networks, workloads
from ordercast.sim.faults import Down
from ordercast.sim.switched import SwitchedChannel
from ordercast.sim.topologies import Family, TwoSites
from ordercast.trace import Recorder
from ordercast.trace.columns import BROADCAST, DELIVER, SEND

NEAR = 4  # hosts at the source's site, itself included
NAMES = {"tree": "coordinator trees", "basic": "basic algorithm"}


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """`messages` from `begin` on, one per `interval`; `failures`; a look at `repair`, and one at `end`."""

    protocol: str
    family: Family
    messages: int
    interval: float = 0.05
    begin: float = 1.0
    failures: tuple[Down, ...] = ()
    repair: float = 0.0
    end: float = 60.0
    parameters: Mapping[str, Any] = {}
    seed: int = 0


def cut_off(name: str, far: int, messages: int, loss: float = 0.0, bandwidth: float = 256e3, seed: int = 0) -> Case:
    """The far site misses everything until its link is repaired."""
    repair = 2.0 + 0.05 * messages
    return Case(
        protocol=name,
        family=TwoSites(near=NEAR, far=far, bandwidth=bandwidth, loss=loss),
        messages=messages,
        failures=(Down(what="slow", begin=0.5, end=repair),),
        repair=repair,
        end=repair + 30.0 + far * messages * 0.05,
        seed=seed,
    )


def begin(case: Case) -> Simulation:
    """The case's simulation, started."""
    topology = case.family.topology()
    lines = tuple((case.begin + case.interval * k, 0, None, None) for k in range(case.messages))
    parameters = dict(case.parameters)
    if case.protocol == "tree":
        parameters = {"sources": (0,), "lists": members_lists(topology, topology.hosts[0]), **parameters}
    run = Run(
        protocol=case.protocol,
        members=len(topology.hosts),
        messages=max(1, case.messages),
        network=networks.Switched(topology=topology),
        workload=workloads.Script(lines=lines),
        faults=case.failures,
        parameters=parameters,
        seed=case.seed,
    )
    simulation = Simulation(protocol(case.protocol), run, Recorder(("broadcast", "send", "deliver")))
    simulation.begin()
    return simulation


def delivered(simulation: Simulation) -> list[int]:
    """How much each host has been given."""
    return [member.delivered for member in simulation.members]


def recovery(case: Case) -> Mapping[str, Any]:
    """Frames over the critical link and from the source, before the repair and after it; and how long recovery took."""
    simulation = begin(case)
    simulation.advance(case.repair)
    before, sent_before = links(simulation), own_link(simulation)["payload"]
    recovered = None
    while simulation.now < case.end:
        simulation.advance(min(simulation.now + 0.05, case.end))
        if recovered is None and min(delivered(simulation)) == case.messages:
            recovered = simulation.now - case.repair
    after = links(simulation)
    return {
        "critical": after["slow"]["payload"] - before["slow"]["payload"],
        "critical_control": after["slow"]["control"] - before["slow"]["control"],
        "source_before": sent_before,
        "recovery_s": recovered,
        "busiest": busiest(after),
        **totals(simulation),
    }


def links(simulation: Simulation) -> dict[str, dict[str, float]]:
    channel = simulation.channel
    assert isinstance(channel, SwitchedChannel)
    found: dict[str, dict[str, float]] = channel.facts()["links"]
    return found


def busiest(found: Mapping[str, Mapping[str, float]], count: int = 12) -> list[list[Any]]:
    """The links that carried most bytes: name, payload frames, control frames, bytes, longest wait."""
    order = sorted(found, key=lambda name: (-found[name]["bytes"], name))[:count]
    return [
        [name, *(found[name][each] for each in ("payload", "control", "bytes", "longest_wait_s"))] for name in order
    ]


def own_link(simulation: Simulation) -> dict[str, float]:
    """What the source's link to its server carried."""
    channel = simulation.channel
    assert isinstance(channel, SwitchedChannel)
    source = channel.topology.hosts[0]
    return links(simulation)[next(link.name for link in channel.topology.links if source in (link.a, link.b))]


def totals(simulation: Simulation) -> dict[str, float]:
    """Over the whole run: transmissions over links, what they cost, and the longest wait for the source's own link."""
    found, cost = links(simulation), _costs(simulation)
    own = own_link(simulation)
    return {
        "payload": sum(link["payload"] for link in found.values()),
        "control": sum(link["control"] for link in found.values()),
        "payload_cost": sum(cost[name] * link["payload"] for name, link in found.items()),
        "control_cost": sum(cost[name] * link["control"] for name, link in found.items()),
        "source_frames": own["payload"],
        "source_wait_s": own["longest_wait_s"],
    }


def _costs(simulation: Simulation) -> dict[str, float]:
    channel = simulation.channel
    assert isinstance(channel, SwitchedChannel)
    return {link.name: link.cost for link in channel.topology.links}


def whole(case: Case) -> Mapping[str, Any]:
    """A run without phases: what it cost, the mean delay of a delivery, and what redelivery cost."""
    simulation = begin(case)
    simulation.advance(case.end)
    return {
        "complete": min(delivered(simulation)) == case.messages,
        "uplinks": sum(link["payload"] for name, link in links(simulation).items() if name.startswith("up")),
        "delay_s": mean_delay(simulation),
        **redeliveries(simulation),
        **totals(simulation),
    }


def spread(case: Case) -> Mapping[str, Any]:
    """How many hosts other than the source have everything at the end."""
    simulation = begin(case)
    simulation.advance(case.end)
    return {"have": sum(count == case.messages for count in delivered(simulation)[1:])}


def at_the_repair(case: Case) -> Mapping[str, Any]:
    """What the hosts of the far site have when the link returns, of what any of them has.

    And the control frames of the two times ten seconds before that, when nothing new happens any more.
    """
    simulation = begin(case)
    control = []
    for moment in (case.repair - 20.0, case.repair - 10.0, case.repair):
        simulation.advance(moment)
        control.append(totals(simulation)["control"])
    rows = _rows(simulation)
    got: dict[int, set[int]] = {member: set() for member in range(NEAR, len(simulation.members))}
    for row in rows[rows["kind"] == DELIVER]:
        got.get(int(row["member"]), set()).add(int(row["n"]))
    any_has = set().union(*got.values())
    return {
        "union": len(any_has),
        "least": min(len(mine) for mine in got.values()),
        "control_first": control[1] - control[0],
        "control_second": control[2] - control[1],
        "source_frames": own_link(simulation)["payload"],
    }


def mean_delay(simulation: Simulation) -> float | None:
    """From the broadcast to the delivery at another host."""
    rows = _rows(simulation)
    asked = {int(row["n"]): float(row["time"]) for row in rows[rows["kind"] == BROADCAST]}
    others = rows[(rows["kind"] == DELIVER) & (rows["member"] != 0)]
    if not len(others):
        return None
    return float(sum(float(row["time"]) - asked[int(row["n"])] for row in others) / len(others))


def redeliveries(simulation: Simulation) -> dict[str, float | None]:
    """How many payload frames were sent a second time, how many by the source, and the mean cost of their paths."""
    channel = simulation.channel
    assert isinstance(channel, SwitchedChannel)
    hosts, costs = channel.topology.hosts, []
    by_source = 0
    first: set[tuple[int, int]] = set()
    rows = _rows(simulation)
    payload = _payload_kinds(simulation)
    assert simulation.recorder is not None
    sets = list(simulation.recorder.sets)
    for row in rows[rows["kind"] == SEND]:
        if int(row["message"]) not in payload:
            continue
        to = int(row["to"])
        goes = sets[to] if to >= 0 else tuple(k for k in range(len(hosts)) if k != row["member"])
        copies = {(int(row["n"]), host) for host in goes}
        if row["member"] == 0 and not copies & first:
            first |= copies
            continue
        by_source += int(row["member"] == 0)
        path = channel.paths.multicast(hosts[row["member"]], [hosts[host] for host in goes])
        costs.append(sum(link.cost for link in path))
    mean = sum(costs) / len(costs) if costs else None
    return {"redeliveries": len(costs), "by_source": by_source, "redelivery_cost": mean}


def _payload_kinds(simulation: Simulation) -> set[int]:
    assert simulation.recorder is not None
    carry = {kind.__name__ for kind in simulation.kind.handlers if kind.carries == "payload"}
    return {index for name, index in simulation.recorder.messages.items() if name in carry}


def _rows(simulation: Simulation) -> Any:
    assert simulation.recorder is not None
    return simulation.recorder.rows()
