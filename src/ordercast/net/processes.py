"""Members as separate processes of this host, for measurements and trials: started, spoken to, never left behind.

Parent and member exchange JSON lines over the member's standard input and output.  A member whose input ends, because
its parent went in whatever way, goes as well.
"""

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from ordercast.core import Pid
from ordercast.net.errors import GroupError
from ordercast.net.sockets import Address

Said: TypeAlias = dict[str, Any]
TERMINATE_AFTER = 2.0  # seconds for a member to go by itself
LINE_BYTES = 1 << 22


class MemberProcessFailed(GroupError):
    """A member process ended before it was done; its last words are in the message."""


def free_addresses(members: int) -> dict[Pid, Address]:
    """Addresses on the loopback interface that nobody uses at this moment."""
    with contextlib.ExitStack() as stack:
        socks = [stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for _ in range(members)]
        for sock in socks:
            sock.bind(("127.0.0.1", 0))
        return {member: sock.getsockname() for member, sock in enumerate(socks)}


class MemberProcess:
    """A running member, as its parent sees it."""

    def __init__(self, name: str, process: asyncio.subprocess.Process) -> None:
        self.name, self.process = name, process
        self.pid = process.pid

    def say(self, said: Mapping[str, Any]) -> None:
        """Tell the member something."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.write(json.dumps(said).encode() + b"\n")

    async def hear(self) -> Said:
        """What the member says next."""
        assert self.process.stdout is not None
        line = await self.process.stdout.readline()
        if not line:
            raise MemberProcessFailed(f"member {self.name} ended: {await self._last_words()}")
        said: Said = json.loads(line)
        if "error" in said:
            raise MemberProcessFailed(f"member {self.name}: {said['error']}")
        return said

    async def hear_until(self, key: str) -> Said:
        """The next thing said that has this key."""
        while key not in (said := await self.hear()):
            pass
        return said

    def signal(self, number: int) -> None:
        """Send it a signal, if it lives."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)

    async def _last_words(self) -> str:
        assert self.process.stderr is not None
        text = (await self.process.stderr.read()).decode(errors="replace").strip()
        return text.splitlines()[-1] if text else f"exit status {await self.process.wait()}"


@contextlib.asynccontextmanager
async def running(module: str, settings: Sequence[Mapping[str, Any]]) -> AsyncIterator[list[MemberProcess]]:
    """Processes that run `python -m module`, each told its settings; at the end of the block none is left."""
    members: list[MemberProcess] = []
    # The child runs the code of its parent, wherever that was imported from.
    source = str(Path(__file__).parent.parent.parent)
    path = os.pathsep.join([source, *filter(None, [os.environ.get("PYTHONPATH")])])
    try:
        for place, said in enumerate(settings):
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                module,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=LINE_BYTES,
                env={**os.environ, "PYTHONPATH": path},
            )
            members.append(MemberProcess(str(place), process))
            members[-1].say(said)
        yield members
    finally:
        await asyncio.shield(_end(members))


async def _end(members: Sequence[MemberProcess]) -> None:
    for member in members:
        assert member.process.stdin is not None
        member.process.stdin.close()
        member.signal(signal.SIGCONT)  # it may have been paused
    for sign in (signal.SIGTERM, signal.SIGKILL):
        if any(member.process.returncode is None for member in members):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(TERMINATE_AFTER):
                    await asyncio.gather(*(member.process.wait() for member in members))
        for member in members:
            if member.process.returncode is None:
                member.signal(sign)
    for member in members:
        await member.process.wait()


# ---------------------------------------------------------------------- in the member


class Parent:
    """The parent, as a member process sees it."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self.reader = reader

    def say(self, **said: Any) -> None:
        """Tell the parent something."""
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()

    async def hear(self) -> Said:
        """What the parent says next; `EOFError`: it is gone."""
        line = await self.reader.readline()
        if not line:
            raise EOFError
        said: Said = json.loads(line)
        return said


def run_member(work: Callable[[Said, Parent], Awaitable[None]]) -> None:
    """The main function of a member process: do `work` with the settings that the parent says."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which ends its members
    asyncio.run(_run_member(work))


async def _run_member(work: Callable[[Said, Parent], Awaitable[None]]) -> None:
    reader = asyncio.StreamReader(limit=LINE_BYTES)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    parent = Parent(reader)
    try:
        await work(await parent.hear(), parent)
    except GroupError as error:
        parent.say(error=str(error))
        sys.exit(1)
    except (EOFError, BrokenPipeError):
        sys.exit(1)
