"""Every small schedule of PO and TO, and wrong ones that the explorer must find."""

import pytest

from ordercast.explore import Budget, explore
from ordercast.protocols.po import PO
from ordercast.protocols.to import TO, TOMerged
from tests.parts.test_receipt_logs import AnyInsteadOfAll, IndicesExchanged
from tests.protocols.test_nt_mutants import AgainWithoutReset, GoesBackTooLittle, LogPerSource, NoEmptyPdus, on


@pytest.mark.parametrize(
    ("kind", "members", "budget", "worlds"),
    [
        (PO, 2, Budget(broadcasts=2, timeouts=3), 4349),
        (PO, 3, Budget(broadcasts=2, timeouts=1), 6007),
        (TO, 2, Budget(broadcasts=2, losses=2, timeouts=2), 9656),
        (TO, 3, Budget(broadcasts=2, losses=1), 1396),
        (TOMerged, 2, Budget(broadcasts=2, timeouts=2), 3063),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_every_promise_is_kept_in_every_world(kind, members, budget, worlds):
    explored = explore(kind, members, budget, {"deliver_at": "packed"})
    assert explored.complete
    assert explored.finding is None
    assert explored.worlds == worlds


@pytest.mark.parametrize(
    ("mutant", "broken"),
    [
        (on(PO, IndicesExchanged), "safe"),
        (on(PO, AnyInsteadOfAll), "safe"),
        (NoEmptyPdus, "validity"),
        (on(TO, IndicesExchanged), "safe"),
        (on(TO, AnyInsteadOfAll), "safe"),
        (AgainWithoutReset, "total_order"),
        (GoesBackTooLittle, "safe"),
        (LogPerSource, "gap_free"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_wrong_one_is_found(mutant, broken):
    found = explore(mutant, 2, Budget(broadcasts=2, losses=1, timeouts=2), {"deliver_at": "packed"}).finding
    assert found is not None
    assert found.broken == broken
