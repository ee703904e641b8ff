"""GK 2.2's network: shortest paths, late copies, groups, and files that say what is wrong with them."""

from math import inf

import pytest

from ordercast.parts.topology import Link, Topology, decode

FIGURE = """
hosts = ["h1", "h2", "h3"]
switches = ["s1", "s2", "s3"]
links = [
  { name = "l1", a = "h1", b = "s1" },
  { name = "l2", a = "h2", b = "s2" },
  { name = "l3", a = "h3", b = "s2" },
  { name = "slow", a = "s1", b = "s2", cost = 10, bandwidth = 64e3, delay = 0.02 },
  { name = "u", a = "s1", b = "s3", cost = 4 },
  { name = "v", a = "s3", b = "s2", cost = 4 },
]
"""


@pytest.fixture
def network():
    return decode(FIGURE, ".toml")


def names(links):
    return [link.name for link in links]


def test_paths_are_the_cheapest_and_follow_what_is_up(network):
    whole = network.without(())
    assert whole.distance("h1", "h2") == 10.0
    assert names(whole.route("h1", "h2")) == ["l1", "u", "v", "l2"]
    assert names(network.without(["s3"]).route("h1", "h2")) == ["l1", "slow", "l2"]
    cut = network.without(["u", "slow"])
    assert cut.distance("h1", "h2") == inf
    assert cut.groups() == [("h1",), ("h2", "h3")]
    with pytest.raises(ValueError, match="no path leads from h1 to h2"):
        cut.route("h1", "h2")


def test_a_multicast_is_copied_as_late_as_it_can_be(network):
    assert names(network.without(()).multicast("h1", ["h2", "h3"])) == ["l1", "u", "v", "l2", "l3"]
    assert names(network.without(["l3"]).multicast("h1", ["h2", "h3"])) == ["l1", "u", "v", "l2"]


def test_hosts_forward_nothing():
    links = (Link("l1", "a", "s"), Link("l2", "b", "s"), Link("l3", "c", "t"))
    network = Topology(("a", "b", "c"), ("s", "t"), links)
    assert network.without(["s"]).groups() == [("a",), ("b",), ("c",)]
    assert network.without(()).distance("a", "c") == inf


def test_the_source_is_named_or_the_first_host(network):
    assert network.origin() == "h1"
    assert network.origin("h3") == "h3"
    with pytest.raises(ValueError, match="'s1' is no host"):
        network.origin("s1")


def test_a_failure_of_nothing_is_refused(network):
    with pytest.raises(ValueError, match="no link or site is called 'l9'"):
        network.without(["l9"])


@pytest.mark.parametrize(
    ("text", "suffix", "says"),
    [
        ("hosts = [", ".toml", "not a topology"),
        ('{"hosts": ["a"], "switches": [], "links": []}', ".json", "host a has 0 links"),
        ('{"hosts": ["a"], "switches": [], "links": [], "more": 1}', ".json", "unknown field `more`"),
        ('{"hosts": ["a"], "switches": ["a"], "links": []}', ".json", "two things are called 'a'"),
        ("", ".yaml", "a .toml or .json file"),
        (FIGURE.replace('b = "s3"', 'b = "s4"'), ".toml", "link u ends at 's4'"),
        (FIGURE.replace("cost = 10", "cost = 0"), ".toml", "link slow: cost is above 0"),
        (FIGURE.replace('a = "h1", b = "s1"', 'a = "h1", b = "h2"'), ".toml", "link l1 joins two hosts"),
        ('source = "x"' + FIGURE, ".toml", "the source 'x' is no host"),
    ],
)
def test_a_bad_file_says_what_is_wrong(text, suffix, says):
    with pytest.raises(ValueError, match=says):
        decode(text, suffix)
