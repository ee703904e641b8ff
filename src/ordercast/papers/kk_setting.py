"""The setting of KK's section 5: the protocols, the Ethernet, and what a run costs to simulate."""

from typing import Any

from ordercast.sim import Run, networks, workloads

PROTOCOLS = {"cm": "CM", "pinwheel": "Pinwheel", "dtp": "DTP", "totem": "Totem"}
OTHERS = ("cm", "pinwheel")  # those that DTP is to beat
GROUPS = (5, 10, 15, 20, 25, 30, 35, 40)
INTERVALS = (0.05, 0.1, 0.2)  # 1/lambda, in seconds
SEEDS = 3
LARGE = 30

KINDS = ("broadcast", "send", "receive", "deliver", "reach")  # the rows that section 5's metrics read


def ethernet(protocol: str, members: int, interval: float, seed: int, messages: int = 10_000, **more: Any) -> Run:
    """A run of section 5."""
    return Run(
        protocol=protocol,
        members=members,
        messages=messages,
        size_bytes=500,
        control_bytes=64,
        network=networks.Bus(bandwidth=10e6),
        seed=seed,
        **{"workload": workloads.Poisson(interval=interval), **more},
    )


def effort(run: Run) -> float:
    """About the seconds that a run takes: Totem's token never rests, so its work goes with the time simulated."""
    assert isinstance(run.workload, workloads.Poisson | workloads.Hot)
    if run.protocol == "totem":
        return 3e-6 * run.messages * run.workload.interval / run.members / 52e-6
    return 5e-6 * run.messages * run.members
