"""`ordercast bench live`: what a group of processes of this host achieves, as KK measured theirs.

Every member is always ready to send.  After a warm-up, messages are counted where they count: at the application of
the slowest member.  Then, with the load gone, one member broadcasts at a low rate, and what passes until a message is
handed over is measured at the sender and at the others (they share the host's clock).  At the end every member
has every message, and the members' deliveries, folded into one number in their order, are compared.
"""

import asyncio
import os
import time
from collections.abc import Mapping
from typing import Any

import msgspec

from ordercast.net.bench_member import HEAD
from ordercast.net.errors import GroupError
from ordercast.net.processes import free_addresses, running

LOW_RATE, LOW_SECONDS = 200.0, 2.0
SETTLE = 1.0  # between the load and the low rate, at least
LEAD = 0.2  # before the load begins


class LiveBench(msgspec.Struct, frozen=True, kw_only=True):
    """One measurement.  Times in seconds; a percentile is -1.0 where nothing was measured."""

    protocol: str
    members: int
    size_bytes: int
    seconds: float
    rate: float | None  # broadcasts per second and member that were offered; None: as many as it takes
    messages_per_s: float  # at the slowest member's application
    fastest_member_per_s: float
    megabytes_per_s: float
    same_order: bool  # all members delivered the same messages in the same order
    delivered: int
    sender_p50_s: float
    sender_p99_s: float
    others_p50_s: float  # of the slowest other member
    others_p99_s: float
    cpu_share: float  # of all processors, by the members, while they were measured
    processors: int
    rejected: Mapping[str, int]
    unsent: int

    def line(self) -> str:
        """The measurement in a line for people."""
        order = "same order" if self.same_order else "ORDERS DIFFER"
        return (
            f"{self.protocol}, {self.members} members, {self.size_bytes} bytes: "
            f"{self.messages_per_s:,.0f} messages/s ({self.megabytes_per_s:.1f} MB/s), {order}; "
            f"latency at the sender {self.sender_p50_s * 1e3:.2f} ms (99 %: {self.sender_p99_s * 1e3:.2f} ms), "
            f"at the others {self.others_p50_s * 1e3:.2f} ms; CPU {self.cpu_share:.0%} of {self.processors}"
        )


def bench_live(
    protocol: str = "dtp",
    members: int = 3,
    size_bytes: int = 1_000,
    seconds: float = 5.0,
    rate: float | None = None,
    *,
    warm_up: float = 1.0,
    group: Mapping[str, Any] = {},
) -> LiveBench:
    """Measure a protocol.  `group` has more settings of `Group.join`.  `GroupError` says what is wrong."""
    if members < 2:
        raise GroupError("a group to measure has at least 2 members")
    if size_bytes < HEAD.size:
        raise GroupError(f"a message to measure has at least {HEAD.size} bytes")
    if seconds <= 0 or (rate is not None and rate <= 0):
        raise GroupError("seconds and rate are above 0")
    return asyncio.run(_bench(protocol, members, size_bytes, seconds, rate, warm_up, group))


async def _bench(
    protocol: str,
    members: int,
    size_bytes: int,
    seconds: float,
    rate: float | None,
    warm_up: float,
    group: Mapping[str, Any],
) -> LiveBench:
    common = {
        "members": free_addresses(members),
        "size_bytes": size_bytes,
        "rate": rate,
        "low_rate": LOW_RATE,
        "group": {"protocol": protocol, **group},
    }
    async with running("ordercast.net.bench_member", [{"me": me, **common} for me in range(members)]) as processes:
        for process in processes:
            await process.hear_until("joined")
        start = time.monotonic() + LEAD
        begin, end = start + warm_up, start + warm_up + seconds
        low = end + SETTLE
        for process in processes:
            process.say({"start": start, "begin": begin, "end": end, "low_begin": low, "low_end": low + LOW_SECONDS})
        results = [(await process.hear_until("result"))["result"] for process in processes]
    rates = [result["messages_per_s"] for result in results]
    own = results[0]["own"]
    others = [result["others"] for result in results[1:]]
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    rejected: dict[str, int] = {}
    for result in results:
        for reason, times in result["rejected"].items():
            rejected[reason] = rejected.get(reason, 0) + times
    return LiveBench(
        protocol=protocol,
        members=members,
        size_bytes=size_bytes,
        seconds=seconds,
        rate=rate,
        messages_per_s=min(rates),
        fastest_member_per_s=max(rates),
        megabytes_per_s=min(rates) * size_bytes / 1e6,
        same_order=len({(result["total"], result["order"]) for result in results}) == 1,
        delivered=min(result["total"] for result in results),
        sender_p50_s=_percentile(own, 0.5),
        sender_p99_s=_percentile(own, 0.99),
        others_p50_s=max(_percentile(each, 0.5) for each in others),
        others_p99_s=max(_percentile(each, 0.99) for each in others),
        cpu_share=sum(result["cpu_s"] for result in results) / seconds / processors,
        processors=processors,
        rejected=rejected,
        unsent=sum(result["unsent"] for result in results),
    )


def _percentile(ordered_ns: list[int], share: float) -> float:
    return ordered_ns[int(share * (len(ordered_ns) - 1))] / 1e9 if ordered_ns else -1.0
