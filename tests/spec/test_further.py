"""The properties that need more of a trace: safe, bounded, live."""

import pytest

from ordercast.spec import check
from ordercast.trace import Member, Recorder
from ordercast.trace.columns import BROADCAST, DELIVER, REACH


def run(delivered=((0, 0.1), (1, 0.2)), stable=1, status="correct", **more):
    recorder = Recorder()

    def row(time, member, kind, n=0, level=0):
        recorder.row(time, -1, member, -1, 0, n, 0, -1, -1, kind, level)

    row(0.0, 0, BROADCAST)
    for member, time in delivered:
        row(time, member, DELIVER)
    if stable:
        row(0.3, 0, REACH, n=stable, level=1)
    return recorder.trace("r", [Member("a"), Member("b", status)], **more)


def test_a_message_reported_stable_is_delivered_by_all_that_do_not_crash():
    assert check(run())["safe"].result == "holds"
    found = check(run(delivered=[(0, 0.1)]))["safe"]
    assert (found.result, found.messages, found.members) == ("violated", (("a", 0),), ("b",))
    assert check(run(delivered=[(0, 0.1)], status="crashed"))["safe"].result == "holds"
    assert check(run(delivered=[(0, 0.1)], status="cut"))["safe"].result == "not_measured"
    assert check(run(finished=False))["safe"].result == "not_measured"
    assert "safe" not in check(run(stable=0))
    assert check(run(stable=0), ["safe"])["safe"].result == "not_measured"


@pytest.mark.parametrize(("most", "result"), [(7, "holds"), (8, "holds"), (9, "violated")])
def test_no_buffer_exceeds_its_stated_limit(most, result):
    found = check(run(facts={"bounds": {"unstable": {"limit": 8, "most": most}}}))["bounded"]
    assert found.result == result
    if result == "violated":
        assert found.witness == "unstable held 9, over its limit of 8"


@pytest.mark.parametrize(
    ("facts", "result"),
    [
        ({"live_within": 0.2}, "holds"),
        ({"live_within": 0.15}, "violated"),
        ({"live_within": 0.15, "faults_end": 0.1}, "holds"),
    ],
)
def test_after_the_faults_a_broadcast_arrives_in_time(facts, result):
    assert check(run(facts=facts))["live"].result == result
    assert check(run(facts=facts, common_clock=False))["live"].result == "not_measured"


def test_what_never_arrives_is_late():
    found = check(run(delivered=[(0, 0.1)], facts={"live_within": 5.0}))["live"]
    assert found.witness == "b delivers (a, 0) never, due by 5.000000 s"
