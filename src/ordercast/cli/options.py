"""What options mean: texts such as `1@2.5`, `0.1:0.2` or `T=0.1` as values.  Every mistake is named with its option."""

from collections.abc import Sequence
from math import isfinite, nan

from ordercast.sim import faults, networks, workloads


def number(option: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = nan
    if not isfinite(value):
        raise ValueError(f"{option}: {text!r} is not a number")
    return value


def whole(option: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{option}: {text!r} is not a whole number") from None


def span(option: str, text: str) -> tuple[float, float]:
    """A:B in seconds."""
    first, colon, last = text.partition(":")
    if not colon:
        raise ValueError(f"{option} wants A:B, in seconds, not {text!r}")
    begin, end = number(option, first), number(option, last)
    if not 0 <= begin <= end:
        raise ValueError(f"{option} wants 0 <= A <= B, not {text!r}")
    return begin, end


def member_at(option: str, text: str) -> tuple[int, float]:
    """MEMBER@S."""
    member, at, time = text.partition("@")
    if not at:
        raise ValueError(f"{option} wants MEMBER@SECONDS, not {text!r}")
    return whole(option, member), number(option, time)


def member_span(option: str, text: str) -> tuple[int, float, float]:
    """MEMBER@A:B."""
    member, at, times = text.partition("@")
    if not at:
        raise ValueError(f"{option} wants MEMBER@A:B, not {text!r}")
    return (whole(option, member), *span(option, times))


def partition(option: str, text: str) -> faults.Partition:
    """A:B:0,1/2,3,4."""
    parts = text.split(":")
    if len(parts) != 3:
        raise ValueError(f"{option} wants A:B:0,1/2,3,4, not {text!r}")
    begin, end = span(option, ":".join(parts[:2]))
    groups = tuple(tuple(whole(option, member) for member in side.split(",")) for side in parts[2].split("/"))
    return faults.Partition(begin=begin, end=end, groups=groups)


def link_faults(loss: float, duplicate: float, reorder: float) -> list[faults.AnyFault]:
    """Those with a probability above zero; a negative one is refused where it is read."""
    given = (("--loss", loss, faults.Loss), ("--duplicate", duplicate, faults.Duplication))
    out: list[faults.AnyFault] = []
    for option, rate, kind in (*given, ("--reorder", reorder, faults.Reordering)):
        if not 0 <= rate < 1:
            raise ValueError(f"{option} is a probability, from 0 to below 1, not {rate:g}")
        if rate:
            out.append(kind(rate=rate))
    return out


def member_faults(
    crash: Sequence[str], restart: Sequence[str], leave: Sequence[str], pause: Sequence[str], outage: Sequence[str]
) -> list[faults.AnyFault]:
    """What the options of the same names plan."""
    out: list[faults.AnyFault] = []
    for text in crash:
        member, at = member_at("--crash", text)
        out.append(faults.Crash(member=member, at=at))
    for text in restart:
        member, at = member_at("--restart", text)
        out.append(faults.Restart(member=member, at=at))
    for text in leave:
        member, at = member_at("--leave", text)
        out.append(faults.Leave(member=member, at=at))
    for text in pause:
        member, begin, end = member_span("--pause", text)
        out.append(faults.Pause(member=member, begin=begin, end=end))
    for text in outage:
        member, begin, end = member_span("--outage", text)
        out.append(faults.Outage(member=member, begin=begin, end=end))
    return out


def settings(option: str, texts: Sequence[str]) -> dict[str, str]:
    """NAME=VALUE, several times."""
    out = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"{option} wants NAME=VALUE, not {text!r}")
        out[name.strip()] = value.strip()
    return out


def workload(text: str, interval: float) -> workloads.AnyWorkload:
    """poisson, bursts[:SIZE], hot[:MEMBER[:TIMES]], saturated[:WINDOW], or a file's path."""
    kind, *more = text.split(":")
    option = "--workload"
    match kind:
        case "poisson" if not more:
            return workloads.Poisson(interval=interval)
        case "bursts" if len(more) <= 1:
            return workloads.Bursts(interval=interval, size=whole(option, more[0]) if more else 10)
        case "hot" if len(more) <= 2:
            member = whole(option, more[0]) if more else 0
            times = number(option, more[1]) if len(more) > 1 else 10.0
            return workloads.Hot(interval=interval, member=member, times=times)
        case "saturated" if len(more) <= 1:
            return workloads.Saturated(window=whole(option, more[0]) if more else 1)
    with open(text, encoding="utf-8", errors="replace") as file:
        return workloads.parse_script(file.read(), text)


def network(kind: str, bandwidth: float, delay: str, point_to_point: bool) -> networks.AnyNetwork:
    """bus, delay, one-channel or multi-channel."""
    if kind == "bus":
        return networks.Bus(bandwidth=bandwidth)
    low, high = span("--delay", delay)
    if kind == "delay":
        return networks.Delay(low=low, high=high, point_to_point=point_to_point)
    if kind == "one-channel":
        return networks.OneChannel(low=low, high=high)
    if kind == "multi-channel":
        return networks.MultiChannel(low=low, high=high)
    raise ValueError(f"--network: {kind!r} is not a network; there are: bus, delay, one-channel, multi-channel")
