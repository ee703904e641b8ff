"""NT's experiments: the counts of section 4 in both readings, and what the protocols take as they run."""

import pytest

from ordercast.papers import Result
from ordercast.papers.nt import SIZES, alone, cost, counts, frames, loads, running, under_load
from ordercast.papers.nt_schedules import Count, parallel, reply_to_all, serial
from ordercast.protocols.catalog import protocol
from ordercast.sim import simulate
from ordercast.trace import Recorder


def measured(run, measure):
    return Result(run, measure(simulate(protocol(run.protocol), run, Recorder()).trace()))


@pytest.mark.parametrize("n", [3, 4, 7, 13])
def test_the_papers_counts_need_the_sender_to_be_known(n):
    assert parallel(n, "sender") == Count(2 * n, 3, 2 * n)
    assert parallel(n, "literal") == Count(3 * n, 4, 3 * n)
    assert serial(n, "sender", range(n)).pdus == 2 * n - 1
    assert serial(n, "sender", (n - 1, *range(n - 1))).pdus == 2 * n
    assert reply_to_all(n, "sender") == Count(n * n - n + 1, 3, n * n - n + 1)
    assert reply_to_all(n, "literal").needed is None


def test_two_entities_take_four_at_best_and_three_at_worst():
    assert parallel(2, "sender").pdus == 4
    assert parallel(2, "sender").needed == 3
    assert reply_to_all(2, "sender").pdus == 3


def test_every_claim_is_judged_and_one_does_not_hold():
    found = counts(())
    assert {claim.id: claim.holds for claim in found.claims} == {
        "NT.best": True,
        "NT.serial-best": True,
        "NT.worst": True,
        "NT.best-below-worst": False,
    }
    assert len(found.tables[0].rows) == 8 * len(SIZES)


def test_the_running_protocols_take_what_the_best_schedule_takes():
    found = running([measured(run, frames) for run in alone(quick=True)])
    assert found.claims[0].holds
    by = {(row[0], row[1], row[2]): row[3] for row in found.tables[0].rows}
    assert [by[protocol, "sender", n] for protocol in ("po", "to") for n in (3, 5, 8)] == [6, 10, 16] * 2


def test_a_protocol_that_took_more_would_not_hold():
    results = [measured(run, frames) for run in alone(quick=True)[:2]]
    wrong = [Result(each.point, each.values | {"pdus": 99}) for each in results]
    assert running(wrong).claims[0].holds is False
    assert running([]).claims[0].holds is None


def test_costs_under_load_are_a_row_per_protocol_and_size():
    runs = [run for run in loads(quick=True) if run.members == 4]
    found = under_load([measured(run, cost) for run in runs])
    assert [row[:2] for row in found.tables[0].rows] == [("po", 4), ("to", 4), ("dtp", 4), ("totem", 4)]
