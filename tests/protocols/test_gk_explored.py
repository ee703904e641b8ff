"""Every small schedule of the protocols of GK, with the number of worlds, exactly; and a mutant that is caught."""

import pytest

from ordercast.explore import Budget, explore
from ordercast.protocols.basic import Ack, Basic
from ordercast.protocols.tree import Tree

AT_ONCE = {"gather": 0.0}


@pytest.mark.parametrize(
    ("kind", "members", "budget", "worlds"),
    [
        (Tree, 2, Budget(broadcasts=2, losses=1, timeouts=2), 7186),
        (Tree, 3, Budget(broadcasts=1, losses=1, timeouts=2), 18927),
        (Tree, 3, Budget(broadcasts=1, timeouts=1, crashes=1), 2878),
        (Basic, 2, Budget(broadcasts=2, losses=1, timeouts=2), 354),
        (Basic, 3, Budget(broadcasts=2, losses=1, timeouts=1), 7924),
    ],
)
def test_every_schedule_keeps_the_promises(kind, members, budget, worlds):
    explored = explore(kind, members, budget, AT_ONCE if kind is Tree else None)
    assert explored.finding is None, explored.finding
    assert explored.complete
    assert explored.worlds == worlds


class DeliversAgain(Basic):
    def on_copy(self, src, message):
        self.port.send(src, Ack(message.n))
        self.port.deliver(src, message.n, message.payload)

    handlers = {**Basic.handlers, next(iter(Basic.handlers)): on_copy}


def test_a_repeated_copy_delivered_twice_is_found():
    explored = explore(DeliversAgain, 2, Budget(broadcasts=1, losses=1, timeouts=1))
    assert explored.finding is not None
    assert "integrity" in str(explored.finding)
