"""Every schedule of a small group, within a budget: the worlds they lead to, and the first that breaks a promise."""

from ordercast.explore.counterexample import Lived, counterexample
from ordercast.explore.search import Explored, Finding, explore, rests
from ordercast.explore.worlds import Budget

__all__ = ["Budget", "Explored", "Finding", "Lived", "counterexample", "explore", "rests"]
