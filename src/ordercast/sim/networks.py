"""Networks: what becomes of a frame between its sender and its receivers (`channel` says what each must do)."""

from collections.abc import Sequence
from heapq import heappush
from math import inf
from typing import TYPE_CHECKING, Any, TypeAlias

from ordercast.core import Message
from ordercast.sim.channel import Channel, Network
from ordercast.sim.sequenced import MultiChannel, OneChannel
from ordercast.sim.switched import Switched

__all__ = ["AnyNetwork", "Bus", "Channel", "Delay", "MultiChannel", "Network", "OneChannel", "Switched"]

if TYPE_CHECKING:
    from ordercast.sim.member import Member
    from ordercast.sim.simulation import Simulation


class Bus(Network, frozen=True, kw_only=True):
    """One shared medium (KK's Ethernet): frames go one after another, in the order of request, to all at once.

    No priority, contention, gap or propagation; a frame takes its size over the bandwidth.
    """

    bandwidth: float = 10e6  # bits per second
    gives = {"channel": "one"}

    def __post_init__(self) -> None:
        if not 0 < self.bandwidth < inf:
            raise ValueError(f"bandwidth must be above 0 and finite, in bits per second, not {self.bandwidth}")

    def channel(self, simulation: "Simulation") -> Channel:
        return _BusChannel(self, simulation)


class _BusChannel:
    point_to_point = False

    def __init__(self, bus: Bus, simulation: "Simulation") -> None:
        self.simulation = simulation
        self.seconds_per_byte = 8.0 / bus.bandwidth
        self.free = 0.0  # when the medium is next idle

    def transmit(self, src: "Member", to: Sequence["Member"], message: Message, size: int, stamp: Any) -> None:
        simulation = self.simulation
        now = simulation.now
        start = self.free if self.free > now else now
        self.free = end = start + size * self.seconds_per_byte
        if simulation.links:
            simulation.schedule(end, self.arrive_spread, src, (to, message), stamp)
        else:
            simulation.schedule(end, self.arrive, src.pid, (to, message), stamp)
        if src.composes_late:
            simulation.schedule(end, src.cleared)

    def arrive(self, src: int, frame: tuple[Sequence["Member"], Message], stamp: Any) -> None:
        to, message = frame
        for member in to:
            member.arrive(src, message, stamp)

    def arrive_spread(self, src: "Member", frame: tuple[Sequence["Member"], Message], stamp: Any) -> None:
        to, message = frame
        if src in to and self.simulation.one_channel:
            self.simulation.in_turn(self.simulation.now, src, src, message, stamp)
        elif src in to:
            src.arrive(src.pid, message, stamp)
        self.simulation.spread(src, to, message, stamp)


class Delay(Network, frozen=True, kw_only=True):
    """An independent delay for every copy, uniform on [low, high], so that copies overtake one another (CH's network).

    `point_to_point`: a multicast is counted, and recorded, as its single sends.
    """

    low: float = 0.001
    high: float = 0.010
    point_to_point: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.high < inf:
            raise ValueError(f"a delay wants 0 <= low <= high, not {self.low} and {self.high}")

    def channel(self, simulation: "Simulation") -> Channel:
        return _DelayChannel(self, simulation)


class _DelayChannel:
    def __init__(self, delay: Delay, simulation: "Simulation") -> None:
        self.simulation = simulation
        self.low, self.span = delay.low, delay.high - delay.low
        self.point_to_point = delay.point_to_point
        self.random = simulation.stream("network").random

    def transmit(self, src: "Member", to: Sequence["Member"], message: Message, size: int, stamp: Any) -> None:
        simulation = self.simulation
        now, low, span, random = simulation.now, self.low, self.span, self.random
        if simulation.links:
            if src in to:
                simulation.schedule(now, src.arrive, src.pid, message, stamp)
            simulation.spread(src, to, message, stamp, lambda: low + random() * span)
        else:
            queue, tick, pid = simulation.queue, simulation.tick, src.pid  # the hot loop: `schedule`, unfolded
            for member in to:
                when = now if member is src else now + low + random() * span
                heappush(queue, (when, next(tick), member.arrive, pid, message, stamp))
        if src.composes_late:
            simulation.schedule(now, src.cleared)


AnyNetwork: TypeAlias = Bus | Delay | Switched | OneChannel | MultiChannel
