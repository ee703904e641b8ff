"""Named streams of random numbers: a draw depends on the seed and the stream's name, never on who asks first."""

import hashlib
from math import log
from random import Random


def stream(seed: int, name: str) -> Random:
    """The stream of that name in the run of that seed."""
    return Random(int.from_bytes(hashlib.sha256(f"{seed}/{name}".encode()).digest()[:16], "big"))


def exponential(draw: float, mean: float) -> float:
    """An exponential variate from a uniform draw, rounded to a nanosecond so that every platform's `log` agrees."""
    return round(-log(1.0 - draw) * mean, 9)
