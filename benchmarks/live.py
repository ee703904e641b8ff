"""Live groups beside other systems, in one call on one machine, round by round.

    python benchmarks/live.py [--peers DIR] [--size BYTES] [--seconds S] [--rounds N] [--protocols dtp,totem] [--json]

DIR has a script `run_NAME.sh SIZE SECONDS` for each system, which measures MEMBERS members on this host in the same
way (all always ready to send, counted at the slowest member's application; then 200 messages per second from one) and
prints one line of `key=value`, among them `msgs_per_s`, `p50_us` and `remote_p50_us`.  A system whose script fails is
named and left out.  Medians over the rounds; each ratio stands beside its limit.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ordercast.net.bench import bench_live

FASTER_THAN_PYSYNCOBJ = 3.0  # at least, in messages per second
OF_PYSYNCOBJ_LATENCY = 0.1  # at most, in median latency at the sender


def ours(name: str, members: int, size: int, seconds: float) -> dict[str, float]:
    """One measurement of ours."""
    done = bench_live(name, members, size, seconds)
    assert done.same_order, "the members' orders differ"
    return {
        "messages_per_s": done.messages_per_s,
        "sender_p50_s": done.sender_p50_s,
        "others_p50_s": done.others_p50_s,
        "cpu_share": done.cpu_share,
    }


def theirs(script: Path, members: int, size: int, seconds: float) -> dict[str, float] | str:
    """One measurement of a peer, or why there is none."""
    try:
        done = subprocess.run(
            ["bash", str(script), str(size), str(round(seconds))],
            env={**os.environ, "MEMBERS": str(members)},
            capture_output=True,
            text=True,
            timeout=120 + seconds,
        )
    except subprocess.TimeoutExpired:
        return "it took too long"
    said = dict(word.split("=", 1) for word in done.stdout.split() if "=" in word)
    if "msgs_per_s" not in said or float(said["msgs_per_s"]) <= 0:
        return (done.stdout + done.stderr).strip().splitlines()[-1][:200] if done.stdout + done.stderr else "no output"
    return {
        "messages_per_s": float(said["msgs_per_s"]),
        "sender_p50_s": float(said["p50_us"]) / 1e6,
        "others_p50_s": float(said.get("remote_p50_us", -1e6)) / 1e6,
        "cpu_share": float(said.get("own_cpu", -1)),
    }


def measure(given: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Medians by name."""
    scripts = {}
    if given.peers is not None:
        scripts = {path.stem.removeprefix("run_"): path for path in sorted(given.peers.glob("run_*.sh"))}
        scripts = {name: path for name, path in scripts.items() if name in given.only.split(",")}
    rounds: dict[str, list[dict[str, float]]] = {}
    for turn in range(given.rounds):
        for name in given.protocols.split(","):
            rounds.setdefault(name, []).append(ours(name, given.members, given.size, given.seconds))
            show(turn, name, rounds[name][-1])
        for name, path in list(scripts.items()):
            got = theirs(path, given.members, given.size, given.seconds)
            if isinstance(got, str):
                print(f"{name} is left out: {got}", file=sys.stderr)
                del scripts[name]
                continue
            rounds.setdefault(name, []).append(got)
            show(turn, name, got)
    return {
        name: {key: statistics.median(each[key] for each in measured) for key in measured[0]}
        for name, measured in rounds.items()
    }


def show(turn: int, name: str, one: Mapping[str, float]) -> None:
    """One measurement, as it comes."""
    print(
        f"round {turn + 1}  {name:12}{one['messages_per_s']:10,.0f} messages/s   latency at the sender "
        f"{one['sender_p50_s'] * 1e3:8.3f} ms, at the others {one['others_p50_s'] * 1e3:8.3f} ms   "
        f"CPU {one['cpu_share']:.0%}",
        flush=True,
    )


def ratios(medians: Mapping[str, Mapping[str, float]], protocols: list[str]) -> list[dict[str, Any]]:
    """Ours against each peer, with the limits where there are any."""
    out = []
    for peer in medians:
        for name in protocols if peer not in protocols else []:
            faster = medians[name]["messages_per_s"] / medians[peer]["messages_per_s"]
            slower = medians[name]["sender_p50_s"] / medians[peer]["sender_p50_s"]
            held = None
            if peer == "pysyncobj":
                held = faster >= FASTER_THAN_PYSYNCOBJ and slower <= OF_PYSYNCOBJ_LATENCY
            out.append({"protocol": name, "peer": peer, "throughput": faster, "latency": slower, "held": held})
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", type=Path, default=os.environ.get("ORDERCAST_PEERS"), metavar="DIR")
    parser.add_argument("--only", default="pysyncobj,corosync,jgroups", help="of the peers in DIR")
    parser.add_argument("--protocols", default="dtp,totem")
    parser.add_argument("--members", type=int, default=3)
    parser.add_argument("--size", type=int, default=1_024)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    given.peers = Path(given.peers) if given.peers else None
    medians = measure(given)
    compared = ratios(medians, given.protocols.split(","))
    if given.json:
        print(json.dumps({"medians": medians, "ratios": compared}))
    load = os.getloadavg()[0]
    print(f"\nmedians of {given.rounds} rounds, {given.members} members, {given.size} bytes, load {load:.1f}")
    for name, median in medians.items():
        show(given.rounds - 1, name, median)
    for one in compared:
        limit = ""
        if one["held"] is not None:
            limit = f"  (limits {FASTER_THAN_PYSYNCOBJ:g} and {OF_PYSYNCOBJ_LATENCY:g}: "
            limit += "held)" if one["held"] else "MISSED)"
        print(
            f"{one['protocol']} / {one['peer']}: {one['throughput']:.2f} times the throughput, "
            f"{one['latency']:.3f} of the latency{limit}"
        )
    return 1 if any(one["held"] is False for one in compared if one["protocol"] == "dtp") else 0


if __name__ == "__main__":
    sys.exit(main())
