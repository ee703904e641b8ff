"""What a run must satisfy: functions from the columns of a run to verdicts, each with a witness.

The same functions judge a unit test, a world of the explorer and a run of a Spark task.
"""

from ordercast.spec.check import Judgement, check, judge
from ordercast.spec.history import History
from ordercast.spec.verdict import FURTHER, PROPERTIES, Verdict, strongest

__all__ = ["FURTHER", "PROPERTIES", "History", "Judgement", "Verdict", "check", "judge", "strongest"]
