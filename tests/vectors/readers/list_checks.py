"""list_checks.json: which assignments of priority lists are jointly complete, and which acyclic (GK 4.2)."""

import json

from ordercast.parts.priority_lists import cycle, incomplete_pair

NAME = "list_checks.json"


def cases(path):
    for k, case in enumerate(json.loads(path.read_text())):
        yield str(k), case


def check(case):
    lists = case["PL"]
    pair, loop = incomplete_pair(lists), cycle(lists)
    assert (pair is None) == case["jointly_complete"]
    assert (loop is None) == case["acyclic"]
    if pair is not None:
        assert pair[0] not in lists[pair[1]]
        assert pair[1] not in lists[pair[0]]
    if loop is not None:
        for host, probed in zip(loop, (*loop[1:], loop[0]), strict=True):
            assert probed in lists[host]
