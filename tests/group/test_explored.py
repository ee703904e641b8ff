"""Every small schedule of a layered protocol."""

import pytest

from ordercast.explore import Budget, explore
from ordercast.group import Safe, packed
from ordercast.group.layer import around
from ordercast.protocols.catalog import CATALOG

BUDGET = Budget(broadcasts=2, losses=1, timeouts=1)


def test_packing_leads_to_the_worlds_of_the_protocol_inside_and_to_no_other():
    plain = explore(CATALOG["dtp"], 2, BUDGET, {})
    layered = explore(packed(CATALOG["dtp"], 400, members=2), 2, BUDGET, {})
    assert (plain.complete, plain.finding) == (layered.complete, layered.finding) == (True, None)
    assert plain.worlds == layered.worlds > 300


@pytest.mark.parametrize("name", ["dtp", "totem"])
def test_no_schedule_makes_a_safe_protocol_break_a_promise(name):
    explored = explore(around(Safe, CATALOG[name]), 2, BUDGET, {}, most_worlds=20_000)
    assert explored.finding is None
    assert explored.worlds > 300
