"""The names of the properties, what a verdict is, and which property implies which."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

Result: TypeAlias = Literal["holds", "violated", "not_measured"]

PROPERTIES = (
    "integrity",
    "validity",
    "agreement",
    "uniform_agreement",
    "fifo",
    "causal",
    "total_order",
    "uniform_total_order",
    "single_order",
    "gap_free",
)
FURTHER = ("safe", "bounded", "live")  # they need more of a trace than who broadcast and delivered what
AT_THE_END = ("validity", "agreement", "uniform_agreement", "safe", "live")  # they speak of a run that has finished

IMPLIES: Mapping[str, tuple[str, ...]] = {
    "uniform_agreement": ("agreement",),
    "causal": ("fifo",),
    "uniform_total_order": ("total_order",),
    "single_order": ("uniform_total_order", "total_order"),
    "gap_free": ("uniform_total_order", "total_order"),
}


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was found; when violated, the smallest witness, as a sentence and as what the sentence is about."""

    result: Result
    witness: str | None = None  # why, in one sentence
    messages: tuple[tuple[str, int], ...] = ()  # (origin's name, number), in the order of the sentence
    members: tuple[str, ...] = ()  # names; of a cycle, who orders each message before the next one


HOLDS = Verdict("holds")


def not_measured(why: str) -> Verdict:
    """A verdict for want of evidence."""
    return Verdict("not_measured", why)


def strongest(verdicts: Mapping[str, Verdict]) -> list[str]:
    """The properties that hold, without those that another one of them implies."""
    holding = [name for name, verdict in verdicts.items() if verdict.result == "holds"]
    implied = {weaker for name in holding for weaker in IMPLIES.get(name, ())}
    return [name for name in holding if name not in implied]
