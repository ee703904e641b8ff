"""NT's receipt logs: the conditions in scenes, their meaning under every interleaving, and mutants."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parts.clusters import Cluster, some_steps

from ordercast.parts.receipt_logs import Pdu, ReceiptLogs, may_send

READINGS = ("literal", "sender", "implicit", "implicit_ackall")


def pdu(src, seq, a, dst=()):
    return Pdu(src, seq, a, 0, dst)


def numbers(pdus):
    return [(p.SRC, p.SEQ) for p in pdus]


class TestScenes:
    """NT section 5, at entity 0 of three."""

    def test_receipt_wants_the_next_of_its_source(self):
        logs = ReceiptLogs(range(3), 0)
        assert logs.verdict(pdu(1, 1, (0, 0, 0))) == "gap"
        logs.accept(pdu(1, 0, (0, 0, 0)))
        assert logs.verdict(pdu(1, 0, (0, 0, 0))) == "duplicate"
        assert logs.verdict(pdu(1, 1, (0, 1, 0))) == "accept"

    def test_receipt_wants_a_between_what_was_said_and_what_is_here(self):
        logs = ReceiptLogs(range(3), 0)
        logs.accept(pdu(2, 0, (0, 0, 0)))
        logs.accept(pdu(1, 0, (0, 0, 1)))
        assert logs.verdict(pdu(1, 1, (0, 1, 0))) == "A_low"
        assert logs.verdict(pdu(1, 1, (0, 1, 2))) == "A_ahead"

    def test_a_pdu_is_packed_when_all_are_known_to_expect_a_later_one(self):
        logs = ReceiptLogs(range(3), 0)
        logs.accept(pdu(1, 0, (0, 0, 0)))
        logs.accept(pdu(0, 0, (0, 1, 0)))
        assert numbers(logs.accept(pdu(2, 0, (0, 1, 0))).packed) == [(1, 0)]

    def test_the_literal_text_waits_for_the_senders_own_word(self):
        logs = ReceiptLogs(range(3), 0, reading="literal")
        logs.accept(pdu(1, 0, (0, 0, 0)))
        logs.accept(pdu(0, 0, (0, 1, 0)))
        assert numbers(logs.accept(pdu(2, 0, (0, 1, 0))).packed) == []
        assert numbers(logs.accept(pdu(1, 1, (0, 1, 0))).packed) == [(1, 0)]

    def test_a_pdu_is_acknowledged_when_its_first_pre_acknowledgers_are_packed(self):
        logs = ReceiptLogs(range(3), 0)
        logs.accept(pdu(1, 0, (0, 0, 0)))
        logs.accept(pdu(0, 0, (0, 1, 0)))
        logs.accept(pdu(2, 0, (0, 1, 0)))
        logs.accept(pdu(0, 1, (1, 1, 1)))
        assert logs.accept(pdu(1, 1, (1, 1, 1))) == ([pdu(2, 0, (0, 1, 0))], [])
        last = logs.accept(pdu(2, 1, (1, 1, 1)))
        assert numbers(last.packed) == [(0, 0)]
        assert numbers(last.acked) == [(1, 0)]

    def test_a_part_of_the_cluster_is_asked_alone(self):
        logs = ReceiptLogs(range(3), 0)
        logs.accept(pdu(1, 0, (0, 0, 0), (0, 1)))
        assert numbers(logs.accept(pdu(0, 0, (0, 1, 0))).packed) == [(1, 0)]

    def test_a_pdu_for_a_part_waits_for_what_its_sender_had_received(self):
        logs = ReceiptLogs(range(3), 0)
        logs.accept(pdu(2, 0, (0, 0, 0)))
        logs.accept(pdu(1, 0, (0, 0, 1), (0, 1)))
        first = logs.accept(pdu(0, 0, (0, 1, 1)))
        assert numbers(first.packed) == [(2, 0), (1, 0)], "2's PDU is known at all three, so both go, in their order"
        behind = ReceiptLogs(range(4), 0)
        behind.accept(pdu(2, 0, (0, 0, 0, 0)))
        behind.accept(pdu(1, 0, (0, 0, 1, 0), (0, 1)))
        assert numbers(behind.accept(pdu(0, 0, (0, 1, 1, 0))).packed) == [], "3 is silent, and 2's PDU is for all"

    def test_one_log_is_packed_from_its_front_only(self):
        logs = ReceiptLogs(range(2), 0, one_log=True)
        logs.accept(pdu(0, 0, (0, 0)))
        logs.accept(pdu(1, 0, (0, 0)))
        logs.accept(pdu(0, 1, (0, 1)))
        moved = logs.tell(1, (0, 1))
        assert numbers(moved.packed) == [], "(1, 0) is known to both, but behind (0, 0)"
        assert numbers(logs.tell(1, (1, 1)).packed) == [(0, 0), (1, 0)]


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["send", "part", "status", "tell", "take", "take", "take"]),
        st.integers(0, 59),
        st.integers(1, 59),
    ),
    max_size=80,
)


@given(steps=STEPS, n=st.integers(1, 4), reading=st.sampled_from(READINGS))
def test_pack_and_ack_mean_what_they_say(steps, n, reading):
    cluster = Cluster(n, reading)
    cluster.play([(kind, k, max(other % 2**n, 1) if kind == "part" else other) for kind, k, other in steps])
    asked = [len(sent) for sent in cluster.sent]
    cluster.finish()
    for acked in cluster.acked:
        assert acked.issuperset((k, seq) for k, count in enumerate(asked) for seq in range(count))


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("one_log", [False, True])
def test_what_is_acknowledged_leaves_nothing_behind(reading, one_log):
    n = 4
    cluster = [ReceiptLogs(range(n), k, reading=reading, one_log=one_log) for k in range(n)]
    for number in range(400):
        for k in range(n):
            p = pdu(k, number, tuple(cluster[k].REQ))
            for logs in cluster:
                logs.accept(p)
    for logs in cluster:
        assert min(logs.acked) >= 396
        assert sum(len(firsts) for row in logs.firsts for firsts in row) < 5 * n * n
        assert sum(len(log) for log in logs.RPL + logs.PPL) < 5 * n


@given(steps=STEPS, n=st.integers(2, 4))
def test_a_copy_is_equal_and_apart(steps, n):
    cluster = Cluster(n)
    cluster.play([(kind, k, max(other % 2**n, 1) if kind == "part" else other) for kind, k, other in steps])
    logs = cluster.logs[0]
    before, twin = vars(logs.copy()), logs.copy()
    assert vars(logs) == before
    twin.accept(pdu(0, twin.REQ[0], tuple(twin.REQ)))
    assert vars(logs) == before != vars(twin)


class IndicesExchanged(ReceiptLogs):
    """AL_jh as printed: what E_j expects from E_h."""

    def _learn(self, j, h, expects):
        super()._learn(h, j, expects)


class AnyInsteadOfAll(ReceiptLogs):
    """One entity that has it is enough."""

    def _learn(self, j, h, expects):
        super()._learn(j, h, expects)
        self.least[j] = max(self.known[j])
        self.risen.add(j)


class NoAckCondition(ReceiptLogs):
    """What is packed is acknowledged."""

    def _acks(self, p):
        return True


class OnePreAcknowledger(ReceiptLogs):
    """The first pre-acknowledger of all, instead of the first on every entity."""

    def _acks(self, p):
        j = self.rank[p.SRC]
        heard = [entry[1] < self.least[h] for h in range(len(self.REQ)) for entry in self.firsts[j][h][:1]]
        return any(heard)


class PreAcknowledgersUnpacked(ReceiptLogs):
    """Every entity has pre-acknowledged; whether all know that is not asked."""

    def _acks(self, p):
        j = self.rank[p.SRC]
        return all(h == j or any(a > p.SEQ for a, _ in self.firsts[j][h]) for h in range(len(self.REQ)))


class PartsOvertake(ReceiptLogs):
    """A PDU for a part of the cluster does not wait for what its sender had received."""

    def _after(self, p, done):
        return True


class AheadAccepted(ReceiptLogs):
    """The receipt condition's upper bound is forgotten."""

    def verdict(self, p):
        verdict = super().verdict(p)
        return "accept" if verdict == "A_ahead" else verdict


MUTANTS = (
    IndicesExchanged,
    AnyInsteadOfAll,
    NoAckCondition,
    OnePreAcknowledger,
    PreAcknowledgersUnpacked,
    PartsOvertake,
    AheadAccepted,
)


def campaign(logs, seeds=60):
    for seed in range(seeds):
        random = Random(seed)
        n = random.randrange(2, 5)
        cluster = Cluster(n, random.choice(READINGS), logs)
        steps = some_steps(random, 80)
        cluster.play([(kind, k, other % (2**n - 1) + 1 if kind == "part" else other) for kind, k, other in steps])
        cluster.finish()


def test_the_campaign_passes_the_right_logs():
    campaign(ReceiptLogs)


@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_campaign_catches_a_mutant(mutant):
    with pytest.raises(AssertionError):
        campaign(mutant)


@given(
    least=st.integers(0, 50),
    ahead=st.integers(-3, 20),
    window=st.integers(1, 16),
    free=st.integers(0, 400),
    c=st.integers(1, 4),
    n=st.integers(1, 6),
)
def test_the_flow_condition_is_the_papers(least, ahead, window, free, c, n):
    assert may_send(least + ahead, least, window, free, c, n) == (0 <= ahead < min(window, free / (c * n * n)))
