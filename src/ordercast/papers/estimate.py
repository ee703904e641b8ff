"""A mean over seeds, and how far it may be off."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from math import floor, isnan, log10, sqrt
from typing import NamedTuple, TypeVar

# The 0.975 quantile of Student's t for 1, 2, ... degrees of freedom.
_T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120)
_T_MORE = ((120, 1.980), (60, 2.000), (40, 2.021), (30, 2.042), (25, 2.060), (20, 2.086), (16, 2.120))

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)


class Estimate(NamedTuple):
    mean: float
    half: float  # half the width of the 95 % confidence interval; nan from a single value
    seeds: int

    def __str__(self) -> str:
        if isnan(self.half):
            return f"{self.mean:.4g}"
        if self.half <= 1e-9 * abs(self.mean):
            return f"{self.mean:.4g} ± 0"
        digits = max(0, 1 - floor(log10(self.half)))  # two of the half-width, and as many decimals of the mean
        return f"{self.mean:,.{digits}f} ± {self.half:,.{digits}f}"


def estimate(values: Iterable[float | None]) -> Estimate | None:
    """The mean with its 95 % confidence interval; what was not measured (`None`) is left out; `None` of nothing."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    count = len(known)
    mean = sum(known) / count
    if count == 1:
        return Estimate(mean, float("nan"), 1)
    deviation = sqrt(sum((value - mean) ** 2 for value in known) / (count - 1))
    return Estimate(mean, _quantile(count - 1) * deviation / sqrt(count), count)


def _quantile(freedom: int) -> float:
    if freedom <= len(_T):
        return _T[freedom - 1]
    return next(value for bound, value in _T_MORE if freedom >= bound)


def over_seeds(
    items: Sequence[Item], by: Callable[[Item], Key], value: Callable[[Item], float | None]
) -> dict[Key, Estimate]:
    """The estimates of `value`, one per `by`, in the order of first appearance."""
    groups: dict[Key, list[float | None]] = {}
    for item in items:
        groups.setdefault(by(item), []).append(value(item))
    found = {key: estimate(values) for key, values in groups.items()}
    return {key: value for key, value in found.items() if value is not None}
