"""A run's plan: everything that determines a simulated run, as one frozen value."""

from collections.abc import Mapping
from math import inf
from typing import Any

import msgspec

from ordercast.sim.faults import AnyFault
from ordercast.sim.networks import AnyNetwork, Bus
from ordercast.sim.workloads import AnyWorkload, Poisson

MOST_MEMBERS = 1000  # memory grows with the square


class Run(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Times in seconds, sizes in bytes.  Members count from 0, times from the start of the run."""

    protocol: str
    members: int = 5
    messages: int = 1000  # measured broadcasts of the group; load goes on until they are stable
    size_bytes: int = 500  # a frame that carries a payload, headers included
    control_bytes: int = 64  # any other frame
    network: AnyNetwork = Bus()
    workload: AnyWorkload = Poisson()
    faults: tuple[AnyFault, ...] = ()
    parameters: Mapping[str, Any] = {}
    consume: float | None = None  # payload frames a member's receiver takes per second; None: at once
    buffer: int = 64  # payload frames that a receiver holds while they wait to be taken
    settle: float = 5.0  # seconds without progress after which a run is given up
    max_events: int | None = None  # entries of the queue after which a run is given up, too: it ran away
    live_within: float | None = None  # seconds after the last planned fault in which all is to be delivered
    watch_buffers: bool = False  # look at every buffer after every verb, for the property `bounded`
    name: str = ""
    seed: int = 0

    def __post_init__(self) -> None:
        for field in ("members", "messages", "size_bytes", "control_bytes", "buffer"):
            if getattr(self, field) < 1:
                raise ValueError(f"{field} must be at least 1, not {getattr(self, field)}")
        if not 0 < self.settle < inf:
            raise ValueError(f"settle must be above 0 seconds and finite, not {self.settle}")
        if self.consume is not None and not 0 < self.consume < inf:
            raise ValueError(f"consume must be above 0 frames per second and finite, not {self.consume}")
        if self.members > MOST_MEMBERS:
            raise ValueError(f"members must be at most {MOST_MEMBERS}, not {self.members}")
        for member in self.workload.names():
            if not 0 <= member < self.members:
                raise ValueError(f"the workload names member {member}: members are 0 to {self.members - 1}")
        for fault in self.faults:
            for member in fault.names():
                if not 0 <= member < self.members:
                    raise ValueError(f"{fault.fault} of member {member}: members are 0 to {self.members - 1}")

    def key(self) -> str:
        """What identifies the run: its name, or its protocol and seed."""
        return self.name or f"{self.protocol}-{self.seed}"
