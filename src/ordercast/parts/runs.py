"""Sets of numbers as ascending half-open runs: what a host has received of a stream (GK, Appendix I).

GK describes the same set as M = <h, g>, the highest number and the gaps below it; runs say it without the subtraction.
Everything here is a value: runs can be hashed, compared, sent and kept without a copy.
"""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

Runs: TypeAlias = tuple[tuple[int, int], ...]  # ascending, not empty, not touching one another

NOTHING: Runs = ()


def runs(numbers: Iterable[int]) -> Runs:
    """The runs of some numbers."""
    out: list[tuple[int, int]] = []
    for n in sorted(set(numbers)):
        if out and out[-1][1] == n:
            out[-1] = (out[-1][0], n + 1)
        else:
            out.append((n, n + 1))
    return tuple(out)


def numbers(of: Runs) -> Iterator[int]:
    """Each number, ascending."""
    for start, end in of:
        yield from range(start, end)


def size(of: Runs) -> int:
    """How many numbers there are."""
    return sum(end - start for start, end in of)


def has(of: Runs, n: int) -> bool:
    """Is `n` among them?  Looks from the end, where streams grow."""
    for start, end in reversed(of):
        if n >= start:
            return n < end
    return False


def add(to: Runs, n: int) -> Runs:
    """With `n`, too."""
    if not to or n > to[-1][1]:
        return (*to, (n, n + 1))
    if n == to[-1][1]:
        return (*to[:-1], (to[-1][0], n + 1))
    return union(to, ((n, n + 1),))


def union(a: Runs, b: Runs) -> Runs:
    """What is in either."""
    if not a or not b or a == b:
        return a or b
    out: list[tuple[int, int]] = []
    for start, end in sorted(a + b):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((start, end))
    return tuple(out)


def minus(a: Runs, b: Runs) -> Runs:
    """What is in `a` and not in `b`."""
    if not b or a == b:
        return a if not b else NOTHING
    out: list[tuple[int, int]] = []
    k = 0
    for start, end in a:
        while k < len(b) and b[k][1] <= start:
            k += 1
        here = k
        while here < len(b) and b[here][0] < end:
            if start < b[here][0]:
                out.append((start, b[here][0]))
            start = max(start, b[here][1])
            here += 1
        if start < end:
            out.append((start, end))
    return tuple(out)


def common(a: Runs, b: Runs) -> Runs:
    """What is in both."""
    return minus(a, minus(a, b))


def below(of: Runs) -> int:
    """One more than the highest number; 0 when there is none."""
    return of[-1][1] if of else 0


def prefix(of: Runs) -> int:
    """Every number below it is there, and it is not."""
    return of[0][1] if of and of[0][0] == 0 else 0
