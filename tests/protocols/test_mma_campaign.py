"""Trans and Total under random schedules of faults; and deliberately wrong ones, each of which is caught by them."""

import pytest
from msgspec.structs import replace

from ordercast.parts.partial_order import PartialOrder
from ordercast.parts.voting import Poll, Voting
from ordercast.protocols.total import Total
from ordercast.protocols.trans import Trans
from ordercast.sim import simulate
from ordercast.spec import judge
from ordercast.trace import Recorder
from ordercast.trace.columns import BROADCAST, DELIVER
from tests.protocols.schedules import random_run


def tolerated(n):
    """k, the crashes that Total is told to survive."""
    return (n - 1) // 3


def faulty(kind, seed):
    """What is wrong with this protocol under this schedule; empty: nothing."""
    run = random_run(kind.name, seed, crashes=tolerated)
    try:
        outcome = simulate(kind, run, Recorder(only=("broadcast", "deliver", "reach", "crash")))
    except AssertionError as error:
        return [f"stopped itself: {error}"]
    trace = outcome.trace()
    judgement = judge(trace, kind.contract)
    wrong = [f"{name}: {judgement.verdicts[name].witness}" for name in judgement.broken]
    if judgement.verdicts.get("safe") is not None and judgement.verdicts["safe"].result == "violated":
        wrong.append(f"safe: {judgement.verdicts['safe'].witness}")
    if kind.contract.order == "total":
        wrong += not_prefixes(trace)
    return wrong


def not_prefixes(trace):
    """The total orders are prefixes of one another, at all times: they only grow, so at the end suffices."""
    rows, n = trace.rows, len(trace.info.members)
    partly = rows[(rows["kind"] == BROADCAST) & (rows["to"] >= 0)]
    if len(partly):
        return []  # members deliver different parts of the order; `gap_free` and `single_order` judge them
    mine = [rows[(rows["kind"] == DELIVER) & (rows["member"] == member)] for member in range(n)]
    orders = [list(zip(each["origin"].tolist(), each["n"].tolist(), strict=True)) for each in mine]
    longest = max(orders, key=len)
    return [f"prefix: {member}" for member, order in enumerate(orders) if order != longest[: len(order)]]


@pytest.mark.parametrize("kind", [Trans, Total], ids=lambda kind: kind.name)
@pytest.mark.parametrize("seed", [*range(50), 128, 134, 205])  # 205: a tie that the votes alone do not break
def test_a_random_schedule(kind, seed):
    assert faulty(kind, seed) == []


@pytest.mark.campaign
@pytest.mark.parametrize("kind", [Trans, Total], ids=lambda kind: kind.name)
@pytest.mark.parametrize("hundred", range(10))
def test_a_hundred_random_schedules(kind, hundred):
    wrong = {seed: found for seed in range(100 * hundred, 100 * hundred + 100) if (found := faulty(kind, seed))}
    assert wrong == {}


# Deliberately wrong protocols.


class LacksIgnored(PartialOrder):
    """Takes every message to have received what it says it lacks."""

    def receive(self, id, acks, lacks):
        return super().receive(id, acks, ())


class FloorInDecisions(Voting):
    def __init__(self, *args):
        super().__init__(*args)
        self.decide_at -= 1


class SubsetsNotAsked(Voting):
    def _subsets_rejected(self, chosen):
        return True


class AsItArrives(Voting):
    """Takes the candidates of the moment for the decision."""

    def _count(self):
        return (Poll(self.candidates), 0) if self.candidates else None


def with_parts(kind, order=None, voting=None):
    class Wrong(kind):
        def __init__(self, *args):
            super().__init__(*args)
            if order:
                self.order = order(self.members)
            if voting:
                self.voting = voting(len(self.members), tolerated(len(self.members)))

    return Wrong


class FreshRetransmissions(Total):
    """Retransmissions carry what is acknowledged now, not what the original did."""

    def speak(self):
        for id in self.due:
            if id in self.lists.received:
                frame = self.lists.received[id]
                self.lists.received[id] = replace(frame, acks=(*frame.acks, *self.lists.positive))
        super().speak()


class OnlyTheSourceRetransmits(Trans):
    def ask(self, id):
        if id[0] == self.me:
            super().ask(id)


class HeldByHalf(PartialOrder):
    """Lets a message go when half of the members are known to hold it."""

    def __init__(self, members):
        super().__init__(members)
        self.install(self.members[: (len(self.members) + 1) // 2])


class AcknowledgmentsLeftForLater(Trans):
    """Without null messages ahead of a broadcast whose acknowledgments do not fit."""

    def speak(self):
        late = dict(list(self.lists.positive.items())[2:])
        for id in late:
            del self.lists.positive[id]
        super().speak()
        self.lists.positive.update(late)


class SilentAfterTheTimeOut(Trans):
    def on_timeout(self):
        self.waiting = True

    timers = {**Trans.timers, "timeout": on_timeout}


class LacksNotTold(Trans):
    """Negative acknowledgments are lost at the sender."""

    def utter(self, frame):
        super().utter(replace(frame, lacks=()))


MUTANTS = {
    "negative acknowledgments ignored in the order": with_parts(Total, order=LacksIgnored),
    "negative acknowledgments not sent": LacksNotTold,
    "floor in N_d": with_parts(Total, voting=FloorInDecisions),
    "subsets not asked": with_parts(Total, voting=SubsetsNotAsked),
    "candidates as they arrive": with_parts(Total, voting=AsItArrives),
    "retransmissions differ": FreshRetransmissions,
    "only the source retransmits": OnlyTheSourceRetransmits,
    "let go when half have it": with_parts(Trans, order=HeldByHalf),
    "acknowledgments left for later": AcknowledgmentsLeftForLater,
    "silent after the time-out": SilentAfterTheTimeOut,
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_protocol_is_caught(name):
    assert any(faulty(MUTANTS[name], seed) for seed in range(10))
