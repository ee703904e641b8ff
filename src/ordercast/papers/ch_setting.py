"""CH's setting: the simulation of 4.2, the ways to count a request, and how a claim is written down."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import ceil

from ordercast.papers.ch_forms import Setting
from ordercast.papers.paper import Claim
from ordercast.sim import Run, faults, networks, workloads

PP = 0.1
VARIANTS: Mapping[str, Mapping[str, bool]] = {
    "formula": {"batch_requests": False, "multicast_repairs": False},
    "multicast repairs": {"batch_requests": False, "multicast_repairs": True},
    "batch requests": {"batch_requests": True, "multicast_repairs": True},
}
NO_LIMIT = 1 << 30


def simulation(
    N: int,
    A: float,
    T: float,
    E: float = 0.0,
    *,
    point_to_point: bool = False,
    variant: str = "formula",
    messages: int = 30_000,
    seed: int = 0,
) -> Run:
    """A run of 4.2.  Load goes on a little after the counted messages, so that the last of them meet a usual system."""
    lossy = (faults.Loss(rate=E, on=("Msg",)),) if E else ()
    return Run(
        protocol="counter",
        name=f"{N}-{A:g}-{T:g}-{E:g}-{variant}-{'p' if point_to_point else 'b'}-{seed}",
        members=N,
        messages=messages,
        network=networks.Delay(low=0.0, high=PP, point_to_point=point_to_point),
        workload=workloads.Poisson(interval=1 / A, each=ceil(1.15 * messages / N)),
        faults=lossy,
        parameters={
            "token_time": T,
            "token_timeout": 2 * T + 1,
            "request_timeout": 2.5 * PP,
            "window": NO_LIMIT,
            "overload": NO_LIMIT,
            **VARIANTS[variant],
        },
        settle=10 * N * T,
        seed=seed,
    )


def of(run: Run) -> Setting:
    """The closed forms' setting of a run."""
    loss = [fault.rate for fault in run.faults if isinstance(fault, faults.Loss)]
    assert isinstance(run.workload, workloads.Poisson)
    return Setting(run.members, 1 / run.workload.interval, run.parameters["token_time"], PP / 2, sum(loss))


def claimed(name: str, section: str, text: str, holds: bool | None, measured: str) -> Claim:
    return Claim(id=f"CH.{name}", text=text, section=section, holds=holds, measured=measured)


def falls(values: Sequence[float]) -> bool:
    return all(a > b for a, b in pairwise(values))


def said(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.4g}" for value in values)
