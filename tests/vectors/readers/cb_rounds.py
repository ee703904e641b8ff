"""cb_rounds.json: runs of the counter protocol's system state (CH 3.1), token by token, half of them with losses."""

import json

from tests.counter_rounds import Rounds

NAME = "cb_rounds.json"


def cases(path):
    for case in json.loads(path.read_text()):
        yield str(case["id"]), case


def check(case):
    size = case["N"]
    sent = {tuple(map(int, key.split(","))): ids for key, ids in case["sent"].items()}
    have_from = case["have_from"]

    def has(node, message, turn):
        return turn >= have_from[str(node)][message]

    for rule in ("fixed", "rotating"):
        rounds = Rounds(range(size), sent, has, rule)
        delivered = []
        for step in case["steps"]:
            got = rounds.step()
            assert (got.owner, got.next, got.t) == (step["owner"], step["next"], step["t"])
            assert sorted((sender, cycle) for sender, _, cycle in got.removed) == sorted(map(tuple, step["removed"]))
            assert sorted((sender, cycle, ids, counter) for sender, ids, cycle, counter in got.state) == sorted(
                map(tuple, step["S"])
            )
            assert [cycle for cycle in got.committed if cycle < case["rounds"]] == step["commit_cycles"]
            delivered += got.delivered
        assert delivered == case["delivery_rule1" if rule == "fixed" else "delivery_rule2"]
