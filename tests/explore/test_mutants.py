"""One wrong line in a protocol of KK, and the explorer finds the schedule in which it shows."""

import pytest

from ordercast.explore import Budget, counterexample, explore
from ordercast.trace.listing import listing
from tests.explore.mutants import mutant

SHARED = "parts.token_passing"
TOTEM = "protocols.totem"

MUTANTS = {
    "a late pass of the token moves it": (
        "dtp",
        SHARED,
        "if ack.turn > self.turn:",
        "if ack.turn >= 0:",
    ),
    "one member's holding is enough for stable": (
        "dtp",
        SHARED,
        "self.known = self.lowest",
        "self.known = max(self.R.values())",
    ),
    "the holder numbers before it has recovered": (
        "dtp",
        SHARED,
        "or not self.unacked or self.R[self.me] < self.passed:",
        "or not self.unacked:",
    ),
    "the silent holder passes before it has recovered": (
        "dtp",
        SHARED,
        "if self.R[self.me] < self.passed or self.in_turn():",
        "if self.in_turn():",
    ),
    "a pass is counted too many": (
        "cm",
        "protocols.cm",
        "- len(self.members) + 1",
        "- len(self.members) + 2",
    ),
    "places are given as messages arrive": (
        "pinwheel",
        SHARED,
        "if n == following[origin]:",
        "if True:",
    ),
    "all updates of an ACK have its first place": (
        "pinwheel",
        SHARED,
        "pop(ack.updates[held - ack.gsn], None)",
        "pop(ack.updates[0], None)",
    ),
    "a repeated token is used again": (
        "totem",
        TOTEM,
        "token.turn <= self.token.turn",
        "token.turn <= 0",
    ),
    "the token's aru is believed on the first visit": (
        "totem",
        TOTEM,
        "self.settle(min(self.passed_aru, token.aru))",
        "self.settle(token.aru)",
    ),
    "a member that lags leaves aru as it is": (
        "totem",
        TOTEM,
        "if self.have < aru or aru_id in (self.me, NOBODY):",
        "if aru_id in (self.me, NOBODY):",
    ),
}

SMALL = Budget(broadcasts=2, losses=1, timeouts=1)
LARGER = Budget(broadcasts=2, losses=1, timeouts=2, duplicates=1)
TURNING = Budget(broadcasts=2, losses=1, timeouts=1, arrivals=8)


@pytest.mark.parametrize("what", MUTANTS)
def test_a_wrong_line_is_caught_and_the_schedule_told(what):
    name, where, right, wrong = MUTANTS[what]
    kind = mutant(name, where, wrong, right)
    for members, budget in [(2, TURNING), (3, TURNING)] if name == "totem" else [(2, SMALL), (2, LARGER), (3, SMALL)]:
        explored = explore(kind, members, budget, most_worlds=20_000)
        if explored.finding:
            break
    lived = counterexample(explored)
    assert lived.broken[0] == explored.finding.broken
    assert len(list(listing(lived.trace))) < 60
