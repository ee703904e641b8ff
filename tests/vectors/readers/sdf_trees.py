"""sdf_trees.json: distances, SDF's queue and lists, and the tree of each group of a partition (GK 5.1)."""

import json

from ordercast.parts.priority_lists import minimum_tree_cost, parents, sdf, tree_cost
from ordercast.parts.topology import Link, Topology

NAME = "sdf_trees.json"


def cases(path):
    for case in json.loads(path.read_text()):
        yield str(case["id"]), case


def topology(hosts, links):
    sites = dict.fromkeys(site for _, a, b, _ in links for site in (a, b) if site not in hosts)
    return Topology(tuple(hosts), tuple(sites), tuple(Link(name, a, b, cost) for name, a, b, cost in links))


def check(case):
    network = topology(case["hosts"], case["links"])
    distances = network.without(()).distances()
    assert distances == case["dist"]
    queue, lists = sdf(distances, case["source"])
    assert queue == case["assignment_order"]
    assert {host: list(mine) for host, mine in lists.items()} == case["PL"]
    for partition in case["partitions"]:
        check_partition(case, partition, network, distances, lists)


def check_partition(case, partition, network, distances, lists):
    left = network.without(partition["failed_links"])
    assert {frozenset(group) for group in left.groups()} == {frozenset(c["hosts"]) for c in partition["components"]}
    for component in partition["components"]:
        group = component["hosts"]
        assert component["has_source"] == (case["source"] in group)
        if component["has_source"]:
            continue
        tree = parents(lists, group)
        assert tree == component["parent"]
        assert [host for host in tree if tree[host] is None] == [component["root"]]
        assert tree_cost(tree, distances) == component["cost_full_network_distances"]
        assert tree_cost(tree, left.distances()) == component["cost_surviving_links"]
        assert minimum_tree_cost(group, distances) == component["mst_cost"]
