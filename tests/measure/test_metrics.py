"""The metrics of a run that one can work out by hand."""

import numpy as np
import pytest

from ordercast.measure import metrics
from ordercast.trace import Member, Recorder
from ordercast.trace.columns import BROADCAST, DELIVER, REACH, RECEIVE, SEND


def trace(*, clock=True, facts=None):
    """Two members; 0 broadcasts at 0, 1, 2, … s; all is delivered 0.1 s and stable 0.5 s later; two ACKs a message."""
    recorder = Recorder()
    word, ack = recorder.message_index("Word"), recorder.message_index("Ack")
    rows = []
    for n in range(10):
        rows += [
            (n, 0, 0, -1, 0, n, 0, -1, -1, BROADCAST, 0),
            (n, 0, 0, -1, 0, n, 500, -1, word, SEND, 0),
            (n + 0.1, 0, 1, -1, 0, n, 500, -1, word, RECEIVE, 0),
            (n + 0.1, n, 1, -1, 0, n, 0, -1, -1, DELIVER, 0),
            (n + 0.1, 0, 1, -1, -1, -1, 64, -1, ack, SEND, 0),
            (n + 0.2, 0, 1, -1, -1, -1, 64, -1, ack, SEND, 0),
            (n + 0.2, n, 0, -1, 0, n, 0, -1, -1, DELIVER, 0),
            (n + 0.5, 0, 0, -1, 0, n + 1, 0, -1, -1, REACH, 1),
            (n + 0.5, 0, 1, -1, 0, n + 1, 0, -1, -1, REACH, 1),
        ]
    rows.append((9.6, 0, 0, -1, 0, 9, 500, -1, word, SEND, 0))  # a retransmission
    for row in sorted(rows, key=lambda row: row[0]):
        recorder.row(*row)
    told = {"measured": 10, "payload_kinds": ["Word"]} if facts is None else facts
    return recorder.trace("run", [Member("0"), Member("1")], common_clock=clock, facts=told)


def test_times_run_from_the_request_to_the_last_other_member_and_the_last_who_knows():
    found = metrics(trace())
    assert found.delivery_s == pytest.approx(0.1)
    assert found.stability_s == pytest.approx(0.5)
    assert found.interval_s == pytest.approx(0.9)  # nine seconds for ten broadcasts
    assert found.stability_times_rate == pytest.approx(0.5 / 0.9)
    assert found.delivery.p99 == pytest.approx(0.1)


def test_buffers_count_own_messages_from_the_sending_and_others_from_receipt():
    assert metrics(trace()).buffer_messages == pytest.approx((0.5 + 0.4) / 2)


def test_overhead_is_what_carries_no_payload_until_the_last_request():
    found = metrics(trace())
    assert found.overhead_per_broadcast == pytest.approx(18 / 10)
    assert found.control == {"Ack": pytest.approx(1.8)}
    assert found.load == [0.0, pytest.approx(1.8)]
    assert found.evenness == pytest.approx(0.5)
    assert found.retransmissions_per_broadcast == pytest.approx(0.1)


def test_what_a_trace_does_not_hold_is_not_measured():
    apart = metrics(trace(clock=False))
    assert apart.delivery_s is None
    assert apart.stability_s is None
    silent = trace()
    silent.rows = silent.rows[np.isin(silent.rows["kind"], (BROADCAST, DELIVER))]
    found = metrics(silent)
    assert found.delivery_s == pytest.approx(0.1)
    assert found.stability_s is None
    assert found.buffer_messages is None
    assert found.overhead_per_broadcast is None
    empty = trace()
    empty.rows = empty.rows[:0]
    assert metrics(empty).delivery_s is None
