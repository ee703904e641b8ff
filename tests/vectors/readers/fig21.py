"""fig21.json: GK's Fig. 2.1 and the trees that the lists of 4.2 and assignments A and B of section 5 make there."""

import json

from ordercast.parts.priority_lists import check as check_lists
from ordercast.parts.priority_lists import parents, sdf, tree_cost
from ordercast.parts.topology import Link, Topology

NAME = "fig21.json"
HOSTS = ("h1", "h2", "h3", "h4", "h5")


def cases(path):
    read = json.loads(path.read_text())
    for case in read["cases"]:
        yield f"{case['assignment']}-c6={case['c6']}-{'+'.join(case['failed_links'])}", {**case, "links": read["links"]}
    yield "sdf-gives-A", {"links": read["links"], "expect": read["sdf_equals_A_when_h5_first"], "cases": read["cases"]}


def figure(links, c6):
    made = tuple(Link(name, a, b, c6 if name == "l6" else cost) for name, a, b, cost in links)
    return Topology(HOSTS, tuple(f"s{k}" for k in range(1, 7)), made)


def check(case):
    if "expect" in case:
        check_sdf(case)
        return
    network = figure(case["links"], case["c6"])
    check_lists(case["PL"], "h1")
    left = network.without(case["failed_links"])
    assert tuple(case["group"]) in left.groups()
    tree = parents(case["PL"], case["group"])
    assert tree == case["parent"]
    assert [host for host in tree if tree[host] is None] == [case["root"]]
    assert tree_cost(tree, left.distances()) == case["cost"]
    crossing = [
        f"{host}->{parent}"
        for host, parent in tree.items()
        if parent is not None and "l6" in {link.name for link in left.route(host, parent)}
    ]
    assert sorted(crossing) == sorted(case["edges_over_l6"])


def check_sdf(case):
    assignment_a = next(each["PL"] for each in case["cases"] if each["assignment"] == "A")
    queue, lists = sdf(figure(case["links"], 1).without(()).distances(), "h1")
    assert (queue.index("h5") < queue.index("h4")) == case["expect"]
    assert {host: list(mine) for host, mine in lists.items()} == assignment_a
