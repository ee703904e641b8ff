"""NT's single log (TO) on a channel with holes, with and without recovery: prefixes, and what a reset keeps."""

from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parts.test_receipt_logs import READINGS

from ordercast.parts.receipt_logs import Pdu, ReceiptLogs


class OneChannel:
    """Entities hear one sequence, each as far as it likes, with losses; who meets a loss stops until the reset."""

    def __init__(self, n, reading, logs=ReceiptLogs):
        self.n = n
        self.logs = [logs(range(n), k, reading=reading, one_log=True) for k in range(n)]
        self.sent = [[] for _ in range(n)]
        self.begin()
        self.received = [[] for _ in range(n)]  # RL, over all epochs
        self.packed = [[] for _ in range(n)]
        self.acked = [[] for _ in range(n)]

    def begin(self):
        self.channel = []
        self.at = [0] * self.n
        self.stopped = [False] * self.n

    def send(self, k):
        if not self.stopped[k]:
            p = Pdu(k, len(self.sent[k]), tuple(self.logs[k].REQ), 0, ())
            self.sent[k].append(p)
            self.channel.append(p)

    def hear(self, k, lose):
        """The next frame of the channel, unless it is lost; one's own never is."""
        if self.at[k] == len(self.channel):
            return
        p = self.channel[self.at[k]]
        self.at[k] += 1
        if k != p.SRC and (lose or self.stopped[k]):
            return
        if self.logs[k].verdict(p) == "accept":
            moved = self.logs[k].accept(p)
            self.received[k].append(p)
            self.note(k, moved)
        else:
            self.stopped[k] = True

    def status(self, k, h):
        """h hears how far k has come."""
        self.note(h, self.logs[h].tell(k, self.logs[k].REQ))

    def reset(self):
        """All stop, hear their own last frames, agree, and begin again from one log."""
        for k in range(self.n):
            self.stopped[k] = True
            while self.at[k] < len(self.channel):
                self.hear(k, lose=True)
        f = [min(logs.REQ[j] for logs in self.logs) for j in range(self.n)]
        tail = [p for sent, below in zip(self.sent, f, strict=True) for p in sent[below:]]
        for k in range(self.n):
            self.received[k] = [p for p in self.received[k] if f[p.SRC] > p.SEQ] + tail
            self.note(k, self.logs[k].reset(f, tail))
        self.begin()
        assert all(log == self.received[0] for log in self.received), "all go on with one log"

    def aware(self, k, h):
        """h hears from k in its new epoch."""
        if k != h and self.logs[h].unaware[k]:
            self.note(h, self.logs[h].aware(k, [len(sent) for sent in self.began]))

    def note(self, k, moved):
        self.packed[k] += moved.packed
        self.acked[k] += moved.acked
        assert self.packed[k] == self.received[k][: len(self.packed[k])], "APL and PPL are the front of RL"
        assert self.acked[k] == self.packed[k][: len(self.acked[k])]
        for p in moved.packed:
            held = [logs.REQ[p.SRC] > p.SEQ or h == p.SRC for h, logs in enumerate(self.logs)]
            assert all(held), f"{k} packed {p}, which not all hold"
        for logs in (self.packed, self.acked):
            for one, other in combinations(logs, 2):
                short = min(len(one), len(other))
                assert one[:short] == other[:short], "prefixes of one another, at all times"

    def play(self, random, steps):
        for _ in range(steps):
            k, h = random.randrange(self.n), random.randrange(self.n)
            draw = random.random()
            if draw < 0.25:
                self.send(k)
            elif draw < 0.85:
                self.hear(k, lose=random.random() < 0.15)
            elif draw < 0.9:
                self.status(k, h)
            elif draw < 0.97:
                self.began = [sent[: self.logs[h].tail[j]] for j, sent in enumerate(self.sent)]
                self.aware(k, h)
            else:
                self.reset()


@given(seed=st.integers(0, 10**9), n=st.integers(1, 5), reading=st.sampled_from(READINGS))
def test_prefixes_at_all_times_and_one_log_after_a_reset(seed, n, reading):
    OneChannel(n, reading).play(Random(seed), 150)


def test_the_runs_come_to_acknowledgments_and_resets():
    worlds = [OneChannel(3, "sender") for _ in range(20)]
    for seed, world in enumerate(worlds):
        world.play(Random(seed), 400)
    assert sum(len(acked) for world in worlds for acked in world.acked) > 300
    assert all(any(logs.tail != (0, 0, 0) for logs in world.logs) for world in worlds)


class PacksAnywhere(ReceiptLogs):
    """Not only from the front."""

    def _advance(self):
        self.RPL[0].sort(key=lambda entry: self.least[entry[1].SRC] <= entry[1].SEQ)
        return super()._advance()


class KeepsWhatItHas(ReceiptLogs):
    """What was received beyond f keeps its place, and only what is missing is appended."""

    def reset(self, f, tail):
        mine = [p for _, p in self.RPL[0] if f[p.SRC] <= p.SEQ]
        return super().reset(f, mine + [p for p in tail if p not in mine])


@pytest.mark.parametrize("mutant", [PacksAnywhere, KeepsWhatItHas])
def test_a_mutant_is_caught(mutant):
    def campaign():
        for seed in range(200):
            OneChannel(3, "sender", mutant).play(Random(seed), 200)

    with pytest.raises(AssertionError):
        campaign()
