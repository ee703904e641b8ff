"""The checker against the definitions: a naive judge over thousands of small runs, and the places where it can slip."""

import random

import pytest

from ordercast.core import Contract
from ordercast.spec import PROPERTIES, History, Verdict, check, judge, strongest
from ordercast.spec.verdict import IMPLIES
from tests.spec import naive
from tests.spec.histories import draw, ring

B, D = "broadcast", "deliver"


@pytest.mark.parametrize("block", range(8))
def test_every_property_agrees_with_its_definition(block):
    seen = set()
    for seed in range(250):
        members, to = draw(random.Random(f"{block}/{seed}"))
        verdicts = check(History.from_logs(members, to))
        run = naive.Run(members, to)
        for by_definition in naive.JUDGES:
            name = by_definition.__name__
            expected = by_definition(run)
            assert verdicts[name].result == expected, (seed, name, verdicts[name], members, to)
            seen.add((name, expected))
        if verdicts["single_order"].result == "violated":
            assert len(verdicts["single_order"].messages) == naive.shortest_cycle(run)
        for name, weaker in IMPLIES.items():
            if verdicts[name].result == "holds" and verdicts["integrity"].result == "holds":
                assert all(verdicts[other].result == "holds" for other in weaker)
    orders = {"fifo", "total_order", "uniform_total_order", "single_order", "gap_free"}
    assert seen >= {(name, result) for name in PROPERTIES for result in ("holds", "violated")}
    assert seen >= {(name, "not_measured") for name in PROPERTIES if name not in orders}


@pytest.mark.parametrize("members", range(3, 8))
def test_pairs_agree_around_a_ring_and_no_single_order_exists(members):
    for seed in range(20):
        logs, to = ring(random.Random(seed), members)
        verdicts = check(History.from_logs(logs, to))
        assert verdicts["uniform_total_order"].result == "holds"
        assert verdicts["single_order"].result == "violated"
        assert len(set(verdicts["single_order"].messages)) == members


def test_the_witness_of_a_cycle_names_who_orders_what():
    logs, to = ring(random.Random(0), 3)
    found = check(History.from_logs(logs, to))["single_order"]
    for member, a, b in zip(found.members, found.messages, found.messages[1:] + found.messages[:1], strict=True):
        log = [tuple(event[1:]) for name, _, events in logs if name == member for event in events if event[0] == D]
        assert log.index(a) < log.index(b)
        assert f"{member} delivers ({a[0]}, {a[1]}) before ({b[0]}, {b[1]})" in found.witness


def test_a_witness_is_one_pair_and_its_members():
    both = [(B, "a", 0), (B, "a", 1)]
    logs = [("a", "correct", [*both, (D, "a", 0), (D, "a", 1)]), ("b", "correct", [(D, "a", 1), (D, "a", 0)])]
    verdicts = check(History.from_logs(logs))
    assert verdicts["total_order"] == Verdict(
        "violated",
        "a delivers (a, 0) before (a, 1), b (a, 1) before (a, 0)",
        (("a", 0), ("a", 1)),
        ("a", "b"),
    )
    assert verdicts["fifo"].messages == (("a", 0), ("a", 1))
    assert verdicts["fifo"].members == ("b",)
    assert verdicts["gap_free"].result == "violated"


def test_a_number_below_a_delivered_one_exists_though_nobody_mentions_it():
    far = 2_000_000_000  # and it takes no memory
    logs = [("a", "cut", []), ("b", "correct", [(D, "a", far)])]
    verdicts = check(History.from_logs(logs))
    assert verdicts["fifo"].result == "violated"
    assert verdicts["fifo"].messages == (("a", 0), ("a", far))
    assert verdicts["integrity"].result == "not_measured"
    assert verdicts["causal"].result == "violated"
    elsewhere = check(History.from_logs([("a", "cut", []), ("b", "correct", [(D, "a", 0), (D, "a", far)])]))
    assert elsewhere["fifo"].messages == (("a", 1), ("a", far))


def test_a_run_that_was_not_left_to_finish_says_nothing_about_its_end():
    logs = [("a", "correct", [(B, "a", 0)]), ("b", "correct", [])]
    assert check(History.from_logs(logs))["validity"].result == "violated"
    verdicts = check(History.from_logs(logs, finished=False))
    assert {verdicts[name].result for name in ("validity", "agreement", "uniform_agreement")} == {"not_measured"}
    assert verdicts["total_order"].result == "holds"


def test_by_default_a_message_is_addressed_to_the_view_it_is_first_delivered_in():
    old, new = ("view", ["a", "b"]), ("view", ["a", "b", "c"])
    founder = [old, (B, "a", 0), (D, "a", 0), new, (B, "a", 1), (D, "a", 1)]
    logs = [
        ("a", "correct", founder),
        ("b", "correct", [old, (D, "a", 0), new, (D, "a", 1)]),
        ("c", "correct", [new, (D, "a", 1)]),
    ]
    assert {verdict.result for verdict in check(History.from_logs(logs)).values()} == {"holds"}
    logs[2] = ("c", "correct", [new])
    verdicts = check(History.from_logs(logs))
    assert verdicts["agreement"].messages == (("a", 1),)
    logs[2] = ("c", "correct", [new, (D, "a", 0), (D, "a", 1)])
    assert check(History.from_logs(logs))["integrity"].witness == "c delivers (a, 0), not addressed to it"
    said = History.from_logs(logs, to={("a", 0): ["a", "b", "c"]})
    assert check(said)["integrity"].result == "holds"


def test_the_summary_names_only_the_strongest():
    logs = [("a", "correct", [(B, "a", 0), (D, "a", 0)]), ("b", "correct", [(D, "a", 0)])]
    assert strongest(check(History.from_logs(logs))) == [
        "integrity",
        "validity",
        "uniform_agreement",
        "causal",
        "single_order",
        "gap_free",
    ]


def test_nonsense_is_refused_with_the_member_named():
    for event, what in (((D, "a", -1), "below 0"), ((B, "b", 0), "another member's")):
        with pytest.raises(ValueError, match=f"member a has .*{what}"):
            History.from_logs([("a", "correct", [event]), ("b", "correct", [])])
    with pytest.raises(ValueError, match="no property is called 'order'"):
        check(History.from_logs([]), ["order"])


TOTAL = Contract(
    paper="KK", title="t", order="total", levels=("agreed",), live_under=("loss",), safe_under=("loss", "crash")
)
WRONG = [
    ("a", "correct", [(B, "a", 0), (D, "a", 0), (D, "b", 0)]),
    ("b", "correct", [(B, "b", 0), (D, "b", 0), (D, "a", 0)]),
    ("c", "correct", []),
]


@pytest.mark.parametrize(
    ("met", "broken"),
    [
        ([], ("agreement", "total_order", "uniform_total_order", "single_order", "gap_free")),
        (["crash"], ("total_order", "uniform_total_order", "single_order", "gap_free")),
        (["crash", "partition"], ()),
    ],
)
def test_only_what_the_contract_promises_under_the_faults_met_is_broken(met, broken):
    history = History.from_logs(WRONG)
    history.info.faults_met = met
    found = judge(history, TOTAL)
    assert found.broken == broken
    assert found.verdicts["causal"].result == "holds"
    assert "causal" not in found.promised
