"""How GK's claims are judged: of every point, or of every pair of protocols at the same point."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ordercast.papers.gk_case import Case
from ordercast.papers.paper import Claim, Result
from ordercast.sim.topologies import TwoSites

PROTOCOLS = ("tree", "basic")
Verdict: TypeAlias = tuple[bool | None, str]


def claimed(name: str, section: str, text: str, verdict: Verdict) -> Claim:
    return Claim(id=f"GK.{name}", text=text, section=section, holds=verdict[0], measured=verdict[1])


def of(results: Sequence[Result], name: str) -> list[Result]:
    return [result for result in results if result.point.protocol == name]


def each(results: Sequence[Result], holds: Callable[[Result], bool], says: Callable[[Result], str]) -> Verdict:
    """Does something hold of every result?  The first that breaks it, or the last."""
    if not results:
        return None, "no points"
    wrong = [result for result in results if not holds(result)]
    shown = wrong or results[-1:]
    return not wrong, says(shown[0]) + (f"; {len(wrong)} of {len(results)} points break it" if wrong else "")


def beside(results: Sequence[Result], holds: Callable[[Any, Any], bool], says: Callable[[Any, Any], str]) -> Verdict:
    """Does something hold of every pair (tree, basic) of the same point?"""
    found = {(str(_but(result.point)), result.point.protocol): result for result in results}
    pairs = [
        (found[key, "tree"], found[key, "basic"]) for key, name in found if name == "tree" and (key, "basic") in found
    ]
    if not pairs:
        return None, "no points"
    wrong = [pair for pair in pairs if not holds(pair[0].values, pair[1].values)]
    tree, basic = (wrong or pairs[-1:])[0]
    said: str = says(tree.values, basic.values)
    return not wrong, f"{said} ({where(tree.point)})" + (f"; {len(wrong)} of {len(pairs)} points" if wrong else "")


def _but(case: Case) -> tuple[Any, ...]:
    return case.family, case.messages, case.failures, case.seed


def where(case: Case) -> str:
    far = f"k = {case.family.far}, " if isinstance(case.family, TwoSites) else ""
    return f"{far}m = {case.messages}"
