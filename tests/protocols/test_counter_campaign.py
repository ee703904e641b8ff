"""The counter protocol under random faults: joins, leaves, crashes, outages, lost, late and repeated tokens."""

import pytest

from ordercast.group import at_level, packed
from ordercast.protocols.counter import Counter
from ordercast.sim import Run, faults, networks, simulate, workloads
from ordercast.spec import check
from ordercast.spec.verdict import AT_THE_END
from ordercast.trace import Recorder
from tests.protocols.counter_runs import schedule, wrong_with


@pytest.mark.parametrize("seed", range(50))
def test_random_schedules_end_well(seed):
    assert wrong_with(schedule(seed)) == []


@pytest.mark.campaign
@pytest.mark.parametrize("block", range(20))
def test_a_thousand_random_schedules_end_well(block):
    for seed in range(1000 + 50 * block, 1050 + 50 * block):
        assert wrong_with(schedule(seed)) == [], f"seed {seed}"


def test_the_same_seed_is_the_same_trace():
    digests = {simulate(Counter, schedule(7), Recorder()).trace().digest() for _ in range(2)}
    assert len(digests) == 1


@pytest.mark.parametrize(
    "layered", [packed(Counter, 1400, 7), at_level(Counter, "safe"), packed(at_level(Counter, "safe"), 1400, 7)]
)
def test_random_schedules_end_well_under_the_layers_of_a_live_group(layered):
    for seed in range(12):
        outcome = simulate(layered, schedule(seed), Recorder())
        verdicts = check(outcome.trace())
        broken = [name for name, verdict in verdicts.items() if verdict.result == "violated"]
        assert not broken or (outcome.stalled and set(broken) <= set(AT_THE_END)), f"seed {seed}: {broken}"


def crashes(*faulty, **more):
    return Run(
        **{
            "protocol": "counter",
            "messages": 300,
            "network": networks.Delay(low=0.001, high=0.005),
            "workload": workloads.Poisson(interval=0.05),
            "faults": faulty,
            **more,
        }
    )


def views(outcome):
    """The views that each member was told, by name."""
    trace = outcome.trace()
    out = {member.name: [] for member in trace.info.members}
    for row in trace.rows[trace.rows["kind"] == 8]:
        out[trace.info.members[row["member"]].name].append(trace.info.sets[row["to"]])
    return out


class TestTheListChanges:
    """CH 3.3, one event a run."""

    def test_a_crashed_node_is_deleted_whether_or_not_it_has_the_token(self):
        for at in (0.5, 0.507, 0.514, 0.521, 0.528, 0.535, 0.542):
            outcome = simulate(Counter, crashes(faults.Crash(member=2, at=at)), Recorder())
            assert not outcome.stalled
            told = views(outcome)
            assert all(told[name] == [[0, 1, 2, 3, 4], [0, 1, 3, 4]] for name in "0134")

    def test_owner_after_owner_crashes_down_to_the_last_pair(self):
        run = crashes(
            faults.Crash(member=1, at=0.5), faults.Crash(member=3, at=2.5), faults.Crash(member=4, at=4.5), messages=800
        )
        outcome = simulate(Counter, run, Recorder())
        assert not outcome.stalled
        assert [len(view) for view in views(outcome)["0"]] == [5, 4, 3, 2]

    def test_a_node_leaves_when_its_messages_are_committed(self):
        outcome = simulate(Counter, crashes(faults.Leave(member=0, at=1.0)), Recorder())
        assert not outcome.stalled
        told = views(outcome)
        assert told["1"] == [[0, 1, 2, 3, 4], [1, 2, 3, 4]]
        verdicts = check(outcome.trace())
        assert {verdict.result for verdict in verdicts.values()} == {"holds"}
        leaver = outcome.simulation.members[0]
        assert leaver.process.state == "gone"
        taken = leaver.process.sent
        assert all(member.got[0] == taken for member in outcome.simulation.members)

    def test_a_node_comes_back_under_a_new_name_and_is_not_waited_for_by_what_is_older(self):
        run = crashes(faults.Crash(member=4, at=0.5), faults.Restart(member=4, at=0.6), faults.Loss(rate=0.1))
        outcome = simulate(Counter, run, Recorder())
        assert not outcome.stalled
        assert outcome.simulation.members[5].process.state in ("idle", "owner")
        assert {verdict.result for verdict in check(outcome.trace()).values()} == {"holds"}

    def test_a_node_that_was_deaf_delivers_what_was_under_way_and_comes_back(self):
        run = crashes(faults.Outage(member=3, begin=0.5, end=3.0), messages=600)
        outcome = simulate(Counter, run, Recorder())
        told = views(outcome)
        assert told["3"] == [[0, 1, 2, 3, 4], [0, 1, 2, 3, 4]]
        assert told["0"] == [[0, 1, 2, 3, 4], [0, 1, 2, 4], [0, 1, 2, 3, 4]]
        assert {verdict.result for verdict in check(outcome.trace()).values()} == {"holds"}

    def test_an_outage_shorter_than_l_tries_deletes_nobody(self):
        outcome = simulate(Counter, crashes(faults.Outage(member=3, begin=0.5, end=0.7)), Recorder())
        assert not outcome.stalled
        assert views(outcome)["0"] == [[0, 1, 2, 3, 4]]

    @pytest.mark.parametrize("seconds", [0.05, 0.3, 1.0, 3.0])
    def test_the_token_is_lost_for_everybody_for_a_while(self, seconds):
        lost = faults.Loss(rate=1.0, on=("T",), begin=1.0, end=1.0 + seconds)
        outcome = simulate(Counter, crashes(lost), Recorder())
        assert not outcome.stalled
        assert {verdict.result for verdict in check(outcome.trace()).values()} == {"holds"}

    def test_every_token_arrives_twice_and_late(self):
        twice = faults.Duplication(rate=1.0, within=0.2, on=("T",))
        assert wrong_with(crashes(twice, faults.Reordering(rate=0.3, by=0.2, on=("T",)))) == []

    def test_two_halves_never_go_on_both(self):
        halves = faults.Partition(groups=((0, 1), (2, 3, 4)), begin=0.5, end=4.0)
        outcome = simulate(Counter, crashes(halves, messages=400), Recorder())
        assert views(outcome)["2"][1] == [2, 3, 4]
        assert [0, 1] not in views(outcome)["0"]
        assert {verdict.result for verdict in check(outcome.trace()).values()} <= {"holds", "not_measured"}
