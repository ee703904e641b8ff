"""One member of `ordercast bench live`: keeps broadcasting, then broadcasts at a low rate, and reports."""

import asyncio
import struct
import time
import zlib
from typing import Any

from ordercast.net.group import Group
from ordercast.net.processes import Parent, Said, run_member

HEAD = struct.Struct("<IIQ")  # origin, phase, time of the broadcast in ns
LOAD, LATENCY = 1, 2


class Measures:
    """What the application of one member sees."""

    def __init__(self, me: int, schedule: dict[str, float]) -> None:
        self.me, self.schedule = me, schedule
        self.begin, self.end = int(schedule["begin"] * 1e9), int(schedule["end"] * 1e9)
        self.counted = self.total = self.order = 0
        self.own: list[int] = []
        self.others: list[int] = []

    async def read(self, group: Group) -> None:
        """Count all deliveries, and fold them into one number that tells orders apart."""
        async for batch in group.deliveries():
            now, order = time.monotonic_ns(), self.order
            for delivery in batch:
                order = zlib.crc32(delivery.payload, order)
            self.order = order
            self.total += len(batch)
            if self.begin <= now < self.end:
                self.counted += len(batch)
            elif now >= self.end:
                for delivery in batch:
                    origin, phase, then = HEAD.unpack_from(delivery.payload)
                    if phase == LATENCY:
                        (self.own if origin == self.me else self.others).append(now - then)

    def report(self) -> dict[str, Any]:
        """The member's result, as far as the application sees it."""
        seconds = (self.end - self.begin) / 1e9
        return {
            "messages_per_s": self.counted / seconds,
            "total": self.total,
            "order": self.order,
            "own": sorted(self.own),
            "others": sorted(self.others),
        }


async def work(said: Said, parent: Parent) -> None:
    """Join, wait for the schedule, measure, leave."""
    size, rate, low_rate = said["size_bytes"], said["rate"], said["low_rate"]
    members = {int(member): tuple(address) for member, address in said["members"].items()}
    group = await Group.join(said["me"], members, **said["group"])
    parent.say(joined=True)
    schedule = await parent.hear()
    measures = Measures(said["me"], schedule)
    reading = asyncio.create_task(measures.read(group))
    cpu = asyncio.create_task(_cpu_seconds(schedule["begin"], schedule["end"]))
    pad = bytes(size - HEAD.size)
    await _sleep_until(schedule["start"])
    next_due = schedule["start"]
    while (now := time.monotonic()) < schedule["end"]:
        await group.broadcast(HEAD.pack(group.me, LOAD, time.monotonic_ns()) + pad)
        if rate and (next_due := next_due + 1.0 / rate) > now:
            await _sleep_until(next_due)
    due = schedule["low_begin"]
    while group.me == min(members) and due < schedule["low_end"]:
        await _sleep_until(due)
        await group.broadcast(HEAD.pack(group.me, LATENCY, time.monotonic_ns()) + pad)
        due += 1.0 / low_rate
    await _sleep_until(schedule["low_end"])
    settled = await group.leave(drain=10.0)
    await reading
    parent.say(result={**measures.report(), "settled": settled, "cpu_s": await cpu, **group.counts()})


async def _cpu_seconds(begin: float, end: float) -> float:
    await _sleep_until(begin)
    before = time.process_time()
    await _sleep_until(end)
    return time.process_time() - before


async def _sleep_until(moment: float) -> None:
    await asyncio.sleep(max(0.0, moment - time.monotonic()))


if __name__ == "__main__":
    run_member(work)
