"""The deterministic simulator: clock and queue, networks, faults as composable values, workloads."""

from ordercast.sim import faults, networks, workloads
from ordercast.sim.run import Run
from ordercast.sim.simulation import Outcome, Simulation, simulate

__all__ = ["Outcome", "Run", "Simulation", "faults", "networks", "simulate", "workloads"]
