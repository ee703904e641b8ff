"""One member of the quickstart's live group: broadcasts its share at a steady pace, records what happens, leaves."""

import asyncio
import contextlib
from typing import Any

from ordercast.net.group import Group
from ordercast.net.processes import Parent, Said, run_member

REPORT_EVERY = 0.1  # seconds between words of progress


async def work(said: Said, parent: Parent) -> None:
    """Join; broadcast; read until everybody's messages are there."""
    members = {int(member): tuple(address) for member, address in said["members"].items()}
    group = await Group.join(said["me"], members, **said["group"])
    parent.say(joined=True)
    reading = asyncio.create_task(_read(group, len(members) * said["messages"], parent))
    gone = asyncio.create_task(_until_parent_goes(parent))
    sending = asyncio.create_task(_send(group, said["messages"], said["size_bytes"], said["rate"]))
    done: asyncio.Future[tuple[None, int]] = asyncio.gather(sending, reading)
    either: set[asyncio.Future[Any]] = {done, gone}
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    if gone.done():
        raise EOFError
    settled = await group.leave(drain=10.0, wait=True)
    parent.say(result={"delivered": reading.result(), "settled": settled, **group.counts()})


async def _send(group: Group, messages: int, size_bytes: int, rate: float) -> None:
    loop = asyncio.get_running_loop()
    due = loop.time()
    for n in range(messages):
        await group.broadcast(f"{group.me}:{n}".encode().ljust(size_bytes, b"."))
        due += 1.0 / rate
        await asyncio.sleep(max(0.0, due - loop.time()))


async def _read(group: Group, expected: int, parent: Parent) -> int:
    loop = asyncio.get_running_loop()
    delivered, said = 0, 0.0
    async for batch in group.deliveries():
        delivered += len(batch)
        if loop.time() - said > REPORT_EVERY:
            said = loop.time()
            parent.say(delivered=delivered)
        if delivered >= expected:
            break
    parent.say(delivered=delivered)
    return delivered


async def _until_parent_goes(parent: Parent) -> None:
    with contextlib.suppress(EOFError):
        while True:
            await parent.hear()


if __name__ == "__main__":
    run_member(work)
