"""What a protocol gives, as data: its entry in the catalog, and what its runs are judged by."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

Order: TypeAlias = Literal["none", "fifo", "causal", "total"]
Level: TypeAlias = Literal["reliable", "fifo", "causal", "agreed", "safe"]
Fault: TypeAlias = Literal[
    "loss", "duplication", "reordering", "delay", "pause", "outage", "partition", "crash", "restart", "leave"
]

# CH section 5.  R1: one order at those who work; R2: what was delivered otherwise is taken back; R3: none is.
Reliability: TypeAlias = Literal["R0", "R1", "R2", "R3"]

LEVELS: tuple[Level, ...] = ("reliable", "fifo", "causal", "agreed", "safe")
LINK_FAULTS: tuple[Fault, ...] = ("loss", "duplication", "reordering", "delay")
PASSING_FAULTS: tuple[Fault, ...] = (*LINK_FAULTS, "pause", "outage", "partition")  # nobody is gone for good

# The properties each order brings with it, by the names of the checker.
_BY_ORDER: dict[Order, tuple[str, ...]] = {
    "none": (),
    "fifo": ("fifo",),
    "causal": ("fifo", "causal"),
    "total": ("fifo", "total_order", "uniform_total_order", "single_order", "gap_free"),
}


class Contract(msgspec.Struct, frozen=True, kw_only=True):
    """A protocol's promise.  `levels` are what an application may ask for; `reports` what `reach` tells it.

    `reliability` says how far the order goes, in CH's words.
    """

    paper: str
    title: str
    order: Order
    levels: tuple[Level, ...]
    reports: tuple[Literal["stable", "known"], ...] = ()
    reliability: Reliability = "R0"
    safe_under: tuple[Fault, ...] = LINK_FAULTS
    live_under: tuple[Fault, ...] = LINK_FAULTS
    bounds: Mapping[str, str] = {}  # buffer -> its limit, in the paper's terms
    also: tuple[str, ...] = ()  # properties promised beyond those of `order`
    never: tuple[str, ...] = ()  # properties of `order` that this protocol does not promise
    needs: Mapping[str, str] = {}  # what it asks of the network: {"channel": "one"} for TO

    def promises(self) -> tuple[str, ...]:
        """The names of the properties that a run within `safe_under` must satisfy."""
        ends = ("validity", "agreement")
        causal = ("causal",) if "causal" in self.levels and self.order == "total" else ()
        safe = ("safe",) if "stable" in self.reports else ()
        bounded = ("bounded",) if self.bounds else ()
        wanted = ("integrity", *ends, *_BY_ORDER[self.order], *causal, *safe, *bounded, *self.also)
        return tuple(dict.fromkeys(name for name in wanted if name not in self.never))
