"""Trans and Total in every small schedule, with the exact number of worlds."""

import pytest

from ordercast.explore import Budget, explore
from ordercast.protocols.total import Total
from ordercast.protocols.trans import Trans
from tests.protocols.test_mma_campaign import MUTANTS


@pytest.mark.parametrize(
    ("kind", "members", "budget", "worlds"),
    [
        (Trans, 3, Budget(broadcasts=2), 667),
        (Trans, 2, Budget(broadcasts=2, timeouts=1, crashes=1, duplicates=1), 4493),
        (Trans, 2, Budget(broadcasts=2, timeouts=2), 7471),
        (Trans, 3, Budget(broadcasts=2, timeouts=1), 49354),
        (Total, 2, Budget(broadcasts=2, timeouts=2), 8455),
        (Total, 3, Budget(broadcasts=3), 28934),
        (Total, 4, Budget(broadcasts=2), 5897),
        pytest.param(Total, 4, Budget(broadcasts=3, arrivals=4), 131477, marks=pytest.mark.campaign),
    ],
    ids=lambda given: getattr(given, "name", None) or str(given).replace("arrivals=None, ", ""),
)
def test_every_promise_is_kept_in_every_schedule(kind, members, budget, worlds):
    explored = explore(kind, members=members, budget=budget)
    assert explored.finding is None
    assert explored.complete
    assert explored.worlds == worlds


@pytest.mark.parametrize(
    ("wrong", "members", "budget", "broken"),
    [
        ("candidates as they arrive", 4, Budget(broadcasts=2), "gap_free"),
        ("let go when half have it", 3, Budget(broadcasts=3), "safe"),
        ("negative acknowledgments ignored in the order", 3, Budget(broadcasts=3), "safe"),
    ],
)
def test_a_wrong_protocol_is_found(wrong, members, budget, broken):
    finding = explore(MUTANTS[wrong], members=members, budget=budget).finding
    assert finding is not None
    assert finding.broken == broken
