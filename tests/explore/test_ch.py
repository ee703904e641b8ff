"""Every small schedule of the counter protocol and its rivals, and wrong ones that the explorer must find."""

import pytest

from ordercast.explore import Budget, explore
from ordercast.protocols.counter import Counter
from ordercast.protocols.optimistic import Optimistic
from ordercast.protocols.two_phase import TwoPhase
from tests.protocols.test_optimistic import Hasty, Stubborn
from tests.protocols.test_two_phase import Eager


@pytest.mark.parametrize(
    ("kind", "members", "budget", "worlds"),
    [
        (Counter, 2, Budget(broadcasts=1, timeouts=3), 20180),
        (Counter, 2, Budget(broadcasts=2, timeouts=2), 9532),
        (Counter, 2, Budget(broadcasts=1, timeouts=2, crashes=1), 2469),
        (Counter, 3, Budget(broadcasts=1, timeouts=1), 1923),
        (TwoPhase, 2, Budget(broadcasts=2, timeouts=1), 1951),
        (TwoPhase, 3, Budget(broadcasts=2), 4198),
        (Optimistic, 2, Budget(broadcasts=2, timeouts=2), 1295),
        (Optimistic, 2, Budget(broadcasts=2, timeouts=3), 8292),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_every_promise_is_kept_in_every_world(kind, members, budget, worlds):
    explored = explore(kind, members, budget, {})
    assert explored.complete
    assert explored.finding is None
    assert explored.worlds == worlds


@pytest.mark.parametrize(
    ("mutant", "broken"), [(Eager, "fifo"), (Stubborn, "integrity"), (Hasty, "safe")], ids=lambda each: str(each)
)
def test_a_wrong_one_is_found(mutant, broken):
    found = explore(mutant, 2, Budget(broadcasts=2, timeouts=2), {}).finding
    assert found is not None
    assert found.broken == broken
