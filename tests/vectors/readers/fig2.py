"""fig2.json: the walk-through of CH's Fig. 2, five passes of the token among three nodes."""

import json

from tests.counter_rounds import Rounds

from ordercast.parts.counter_state import in_order

NAME = "fig2.json"


def cases(path):
    yield "fig2", json.loads(path.read_text())


def check(case):
    names, p = case["token_passing_list"], case["p"]
    sent = {(name, cycle): case["sent"].get(f"{name}{cycle}", []) for name in names for cycle in (p, p + 1)}
    rounds = Rounds(names, sent, lambda node, message, turn: True, first_cycle=p)
    for step in case["steps"]:
        got = rounds.step()
        assert (got.owner, got.next, got.t) == (step["owner"], step["next"], step["t"])
        assert sorted(got.removed) == sorted((sender, ids, cycle) for sender, ids, cycle in step["removed"])
        assert sorted(got.incremented) == sorted(step["incremented"])
        assert sorted(got.state) == sorted(map(tuple, step["S"]))
        assert sorted(sender for sender, _, _, counter in got.state if counter == len(names) - 1) == sorted(
            step["all_received_known"]
        )
        assert (p in got.committed) == step["commit_cycle_p"]
        assert rounds.cycles == step["P"]
    assert rounds.names(in_order(rounds.cycle(p, "fixed"))) == case["order_rule1"]
    # The start moves on by one node in each cycle, and in the cycle before it was B.
    start = names.index("B") + 1
    assert rounds.names(in_order(rounds.cycle(p, "rotating", start - p))) == case["order_rule2_prev_start_B"]
