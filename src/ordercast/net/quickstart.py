"""The live part of `ordercast quickstart`: a group of processes of this host that loses datagrams on purpose.

Every member records its own trace, `RUN.member-M.part-K.trace.parquet` in one directory; `ordercast.trace.read_run`
merges them.  No process is left when the function returns or raises, also on Ctrl-C.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ordercast.net.errors import GroupError
from ordercast.net.processes import MemberProcess, free_addresses, running

# KK's times suit a bus of 10 Mb/s; on one host an answer takes less than a millisecond.
QUICK: Mapping[str, Mapping[str, Any]] = {"dtp": {"timeout": 0.01, "token_timeout": 0.03, "T": 0.02}}


class LiveGroup(msgspec.Struct, frozen=True, kw_only=True):
    """What happened."""

    directory: Path
    run: str
    protocol: str
    members: int
    messages: int  # that the members broadcast, all together
    seconds: float  # from the first broadcast to the last delivery
    drop: float
    lost: int  # frames dropped on purpose, at all members
    settled: bool  # every member has every message


def live_group(
    directory: Path | str,
    *,
    members: int = 5,
    messages: int = 4_000,
    size_bytes: int = 200,
    drop: float = 0.05,
    protocol: str = "dtp",
    run: str = "live",
    seconds: float = 4.0,
    limit: float = 60.0,
    group: Mapping[str, Any] = {},
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> LiveGroup:
    """Run a group that broadcasts `messages` within about `seconds`, and record it.

    `progress` is called with the deliveries of the slowest member and those expected of it.  `GroupError` says what
    went wrong, also if the group has not finished after `limit` seconds.
    """
    each = -(-messages // members)
    common = {
        "members": free_addresses(members),
        "messages": each,
        "size_bytes": size_bytes,
        "rate": each / seconds,
        "group": {
            "protocol": protocol,
            "parameters": QUICK.get(protocol, {}),
            "drop": drop,
            "trace": str(directory),
            "run": run,
            "frame_bytes": 1_400,
            **group,
        },
    }
    settings = [{"me": me, **common} for me in range(members)]
    try:
        results, took = asyncio.run(_run(settings, limit, each * members, progress))
    except TimeoutError:
        raise GroupError(f"the live group did not finish within {limit:g} s") from None
    return LiveGroup(
        directory=Path(directory),
        run=run,
        protocol=protocol,
        members=members,
        messages=each * members,
        seconds=took,
        drop=drop,
        lost=sum(result["lost"] for result in results),
        settled=all(result["settled"] for result in results),
    )


async def _run(
    settings: list[dict[str, Any]], limit: float, expected: int, progress: Callable[[int, int], None]
) -> tuple[list[dict[str, Any]], float]:
    delivered, joined = [0] * len(settings), 0.0

    async def follow(place: int, process: MemberProcess) -> dict[str, Any]:
        nonlocal joined
        await process.hear_until("joined")
        joined = joined or time.monotonic()
        while "result" not in (said := await process.hear()):
            if "delivered" in said:
                delivered[place] = said["delivered"]
                progress(min(delivered), expected)
        result: dict[str, Any] = said["result"]
        return result

    async with asyncio.timeout(limit), running("ordercast.net.quickstart_member", settings) as processes:
        results = await asyncio.gather(*(follow(place, process) for place, process in enumerate(processes)))
        return results, time.monotonic() - joined
