"""A lock and an atomic update, by one broadcast each, in a group that loses the lock's holder.

    python examples/lock_and_update.py

Four members of a group with Total's order share accounts and a lock.  A claim of the lock is one broadcast; so is its
release; so is a transfer between accounts.  Everybody applies the same commands in the same order, so everybody agrees
who holds the lock and which transfers had the money, without another message.  One member is killed while it holds the
lock; somebody who has waited long enough says so, and from that place in the order on its claims count no more.
"""

import asyncio
import json
import socket
import subprocess
import sys
import time

import ordercast

MEMBERS = 4
ROUNDS = 5  # that each member takes the lock
VICTIM = 2  # is killed while it holds the lock
PATIENCE = 2.0  # seconds that a holder may keep the lock before it is given up for dead


class Bank:
    """What every member keeps: a sequential program, fed in the group's order."""

    def __init__(self):
        self.balance = {"alice": 10, "bob": 0}
        self.queue = []  # claims of the lock, (member, ticket), oldest first
        self.gone = set()
        self.history = []  # (holder, whether its transfer had the money)

    def apply(self, origin, command):
        if origin in self.gone:
            return  # it was given up; whatever it still says comes too late for everybody alike
        match command:
            case {"claim": ticket}:
                self.queue.append((origin, ticket))
            case {"release": ticket} if self.holder() == (origin, ticket):
                self.queue.pop(0)
            case {"transfer": amount, "source": source, "target": target}:
                covered = self.balance[source] >= amount
                if covered:
                    self.balance[source] -= amount
                    self.balance[target] += amount
                self.history.append([origin, covered])
            case {"gone": member}:
                self.gone.add(member)
                self.queue = [claim for claim in self.queue if claim[0] != member]

    def holder(self):
        return self.queue[0] if self.queue else None


async def member(me, addresses):
    bank, changed = Bank(), asyncio.Event()

    async def follow():
        async for message in group:
            bank.apply(message.origin, json.loads(message.payload))
            changed.set()

    async def say(**command):
        await group.broadcast(json.dumps(command).encode())

    async def until(condition):
        while not condition():
            holder, since = bank.holder(), time.monotonic()
            while not condition() and bank.holder() == holder:
                changed.clear()
                try:
                    await asyncio.wait_for(changed.wait(), 0.05)
                except TimeoutError:
                    if holder is not None and holder[0] != me and time.monotonic() - since > PATIENCE:
                        await say(gone=holder[0])
                        since = time.monotonic()

    group = await ordercast.Group.join(me, addresses, "total")
    following = asyncio.create_task(follow())
    for ticket in range(ROUNDS):
        await say(claim=ticket)
        await until(lambda ticket=ticket: bank.holder() == (me, ticket))
        print(json.dumps({"holds": ticket}), flush=True)
        if me == VICTIM and ticket == 1:
            await asyncio.sleep(60)  # it is killed here
        await say(transfer=1, source="alice", target="bob")
        await say(release=ticket)
    expected = (MEMBERS - 1) * ROUNDS + 1  # the victim's first transfer counts
    await until(lambda: len(bank.history) == expected)
    print(json.dumps({"balance": bank.balance, "history": bank.history, "gone": sorted(bank.gone)}), flush=True)
    await asyncio.sleep(1.0)  # others may still ask for what they missed
    following.cancel()


def main():
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(MEMBERS)]
    for sock in sockets:
        sock.bind(("127.0.0.1", 0))
    addresses = json.dumps({me: sock.getsockname() for me, sock in enumerate(sockets)})
    for sock in sockets:
        sock.close()
    crowd = [
        subprocess.Popen([sys.executable, __file__, str(me), addresses], stdout=subprocess.PIPE, text=True)
        for me in range(MEMBERS)
    ]
    try:
        for line in crowd[VICTIM].stdout:
            if json.loads(line) == {"holds": 1}:
                break
        crowd[VICTIM].kill()
        print(f"member {VICTIM} was killed while it held the lock")
        ends = [process.communicate(timeout=30)[0].splitlines()[-1] for me, process in enumerate(crowd) if me != VICTIM]
    finally:
        for process in crowd:
            process.kill()
            process.wait()
    assert len(set(ends)) == 1, "the members disagree"
    end = json.loads(ends[0])
    print("holders in order:", *(holder for holder, _ in end["history"]))
    print("transfers that had the money:", sum(covered for _, covered in end["history"]), "of", len(end["history"]))
    print(f"alice has {end['balance']['alice']}, bob {end['balance']['bob']}, at every survivor")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        given = {int(key): tuple(value) for key, value in json.loads(sys.argv[2]).items()}
        asyncio.run(member(int(sys.argv[1]), given))
    else:
        main()
