"""Networks that keep an order: NT's one-channel and multi-channel services (section 2)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ordercast.core import Message
from ordercast.sim.channel import Channel, Network

if TYPE_CHECKING:
    from ordercast.sim.member import Member
    from ordercast.sim.simulation import Simulation


class OneChannel(Network, frozen=True, kw_only=True, tag="one-channel"):
    """NT's one-channel service: frames have one sequence, in which every member hears those that it hears.

    Each copy takes a delay of its own, uniform on [low, high], but none overtakes another, whatever faults make late
    or double: a second copy keeps its frame's place.  The sender's own copy has its place in the sequence as well.
    With a bandwidth (bits per second) frames enter the channel one after another.
    """

    low: float = 0.001
    high: float = 0.010
    bandwidth: float | None = None
    gives = {"channel": "one"}

    def __post_init__(self) -> None:
        _delays(self.low, self.high)
        if self.bandwidth is not None and not self.bandwidth > 0:
            raise ValueError(f"bandwidth must be above 0 bits per second, not {self.bandwidth}")

    def channel(self, simulation: "Simulation") -> Channel:
        return _SequencedChannel(self, simulation, self.bandwidth, per_sender=False)


class MultiChannel(Network, frozen=True, kw_only=True, tag="multi-channel"):
    """NT's multi-channel service: like `OneChannel`, but each sender has a sequence of its own."""

    low: float = 0.001
    high: float = 0.010
    gives = {"channel": "many"}

    def __post_init__(self) -> None:
        _delays(self.low, self.high)

    def channel(self, simulation: "Simulation") -> Channel:
        return _SequencedChannel(self, simulation, None, per_sender=True)


class _SequencedChannel:
    point_to_point = False

    def __init__(
        self, network: OneChannel | MultiChannel, simulation: "Simulation", bandwidth: float | None, per_sender: bool
    ) -> None:
        self.simulation = simulation
        self.low, self.span = network.low, network.high - network.low
        self.seconds_per_byte = 0.0 if bandwidth is None else 8.0 / bandwidth
        self.per_sender = per_sender
        self.random = simulation.stream("network").random
        self.free = 0.0  # when the medium is next idle
        self.latest: dict[tuple[int, int], float] = {}  # (sequence, receiver) -> when its last frame arrives

    def transmit(self, src: "Member", to: Sequence["Member"], message: Message, size: int, stamp: Any) -> None:
        simulation = self.simulation
        entered = simulation.now
        if self.seconds_per_byte:
            entered = self.free = max(self.free, entered) + size * self.seconds_per_byte
        sequence = src.index if self.per_sender else -1
        if src in to:
            self.arrive(sequence, src, src, entered, 0.0, message, stamp)
        for member, late in simulation.copies(src, to, message, stamp):
            self.arrive(sequence, src, member, entered, late, message, stamp)  # type: ignore[arg-type]
        if src.composes_late:
            simulation.schedule(entered, src.cleared)

    def arrive(
        self, sequence: int, src: "Member", to: "Member", entered: float, late: float, message: Message, stamp: Any
    ) -> None:
        when = entered
        if to is not src or not self.per_sender:
            when = max(
                entered + late + self.low + self.random() * self.span, self.latest.get((sequence, to.index), 0.0)
            )
            self.latest[sequence, to.index] = when
        self.simulation.schedule(when, to.arrive, src.pid, message, stamp)


def _delays(low: float, high: float) -> None:
    if not 0 <= low <= high:
        raise ValueError(f"a delay wants 0 <= low <= high, not {low} and {high}")
