"""A member process for trials: broadcasts at a steady pace until it is told to leave, and says what it delivers.

It leaves within the time that it is told, and is ended by a signal when its parent feels like it.
"""

import asyncio

from ordercast.net.group import Group
from ordercast.net.processes import run_member


async def work(said, parent):
    members = {int(member): tuple(address) for member, address in said["members"].items()}
    group = await Group.join(said["me"], members, **said["group"])
    parent.say(joined=True)
    delivered = 0

    async def read():
        nonlocal delivered
        async for batch in group.deliveries():
            delivered += len(batch)
            parent.say(delivered=delivered)

    async def send():
        while True:
            await group.broadcast(bytes(said["size_bytes"]))
            await asyncio.sleep(said["pace"])

    reading, sending = asyncio.create_task(read()), asyncio.create_task(send())
    order = await parent.hear()
    sending.cancel()
    settled = await group.leave(order["leave_within"], wait=True)
    await reading
    parent.say(left=True, settled=settled, delivered=delivered)


if __name__ == "__main__":
    run_member(work)
