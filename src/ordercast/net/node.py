"""`ordercast node`: a member for the terminal.  Lines in are broadcast; deliveries come out as JSON lines.

    {"origin": 0, "n": 17, "text": "hello"}

A payload that is not UTF-8 comes as `"base64"` in place of `"text"`.  At the end of its input a member sees to it that
what it broadcast is handed over, waits for the others to finish too, and leaves.
"""

import asyncio
import base64
import contextlib
import json
import os
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from ordercast.net.errors import GroupError
from ordercast.net.group import Delivery, Group
from ordercast.net.settings import address_of, members_of, read_settings

LEAVE_WITHIN = 3600.0  # seconds for the others to finish, at the end of the input


def node(
    config: Path | None = None,
    *,
    me: int | None = None,
    member: Sequence[str] = (),
    linger: float = LEAVE_WITHIN,
    **more: Any,
) -> int:
    """Run a member until its input ends; the exit status.  What is given here goes before what the file says.

    `member` has entries `0=127.0.0.1:7000`.  An error is one line on standard error, and a status that is not 0.
    """
    try:
        given = _given(config, me, member, more)
        return asyncio.run(_node(given, linger, sys.stdin.buffer, sys.stdout.buffer))
    except GroupError as error:
        print(f"ordercast node: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Nobody reads what we would say; nor may the interpreter say it when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _given(config: Path | None, me: int | None, member: Sequence[str], more: Mapping[str, Any]) -> dict[str, Any]:
    given = read_settings(config) if config is not None else {}
    try:
        pairs = [_pair(each, "0=127.0.0.1:7000") for each in member]
        listed = members_of(dict(pairs))
        if len(listed) < len(pairs):
            raise ValueError("--member names a member twice")
        if isinstance(more.get("multicast"), str):
            more = {**more, "multicast": address_of(more["multicast"])}
    except ValueError as error:
        raise GroupError(str(error)) from None
    given |= {name: value for name, value in more.items() if value is not None and value != {}}
    if listed:
        given["members"] = listed
    if me is not None:
        given["me"] = me
    for name in ("me", "members"):
        if not given.get(name) and given.get(name) != 0:
            raise GroupError(f"no {name!r}: say --{name.removesuffix('s')}, or name a file that does")
    return given


def _pair(text: str, example: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign:
        raise ValueError(f"{text!r} is not of the form {example}")
    return name, value


async def _node(given: dict[str, Any], linger: float, lines: BinaryIO, out: BinaryIO) -> int:
    loop = asyncio.get_running_loop()
    joining = asyncio.create_task(Group.join(**given))
    if not (await asyncio.wait({joining}, timeout=1.0))[0]:
        print(f"member {given['me']} waits for the others", file=sys.stderr)
    group = await joining
    print(f"member {group.me} of {len(group.members)} has joined", file=sys.stderr)
    stopped = asyncio.Event()
    for sign in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(sign, stopped.set)
    printing = asyncio.create_task(_print(group, out))
    finishing = asyncio.create_task(_broadcast_lines_and_leave(group, lines, linger))
    stopping = asyncio.create_task(stopped.wait())
    done, _ = await asyncio.wait({finishing, printing, stopping}, return_when=asyncio.FIRST_COMPLETED)
    await group.leave(drain=2.0)
    finishing.cancel()
    stopping.cancel()
    await printing
    if finishing in done:
        finishing.result()
    return 130 if stopping in done else 0


async def _broadcast_lines_and_leave(group: Group, lines: BinaryIO, linger: float) -> None:
    # Reading may block for ever, and an executor's thread would keep the process from ending then.
    chunks: asyncio.Queue[bytes] = asyncio.Queue()
    loop, taken = asyncio.get_running_loop(), threading.Semaphore(1)

    def read() -> None:
        chunk = b"-"
        while chunk:
            taken.acquire()
            chunk = os.read(lines.fileno(), 1 << 16)
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(chunks.put_nowait, chunk)

    threading.Thread(target=read, daemon=True).start()
    rest = b""
    while chunk := await chunks.get():
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            await group.broadcast(line.removesuffix(b"\r"))
        taken.release()
    if rest:
        await group.broadcast(rest)
    await group.leave(drain=linger, wait=True)


async def _print(group: Group, out: BinaryIO) -> None:
    async for batch in group.deliveries():
        out.write(b"".join(map(as_line, batch)))
        out.flush()


def as_line(delivery: Delivery) -> bytes:
    """A delivery as a line of JSON."""
    said: dict[str, Any] = {"origin": delivery.origin, "n": delivery.n}
    try:
        said["text"] = delivery.payload.decode()
    except UnicodeDecodeError:
        said["base64"] = base64.b64encode(delivery.payload).decode()
    return json.dumps(said, ensure_ascii=False).encode() + b"\n"
