"""NT's services as networks: one sequence for all, or one per sender; with holes."""

from itertools import pairwise

import msgspec
import pytest

from ordercast.core import Contract
from ordercast.protocols.to import TO
from ordercast.sim import Run, faults, networks, simulate, workloads
from tests.toys import Flood, Word

LOSS = (faults.Loss(rate=0.2), faults.Bursts(enter=0.02))
MISCHIEF = (
    *LOSS,
    faults.Duplication(rate=0.3, within=0.5),
    faults.Reordering(rate=0.5, by=0.5),
    faults.Spikes(rate=0.2),
)


class Listener(Flood):
    """Writes down what it hears, its own copies among it."""

    contract = Contract(paper="none", title="listener", order="none", levels=("reliable",))

    def __init__(self, *args):
        super().__init__(*args)
        self.heard = []

    def broadcast(self, payload, to=None):
        self.port.multicast(Word(self.me, self.sent, payload), self.members)
        self.sent += 1

    def on_word(self, src, word):
        if (word.origin, word.n) not in self.heard:
            super().on_word(self.me if word.origin != self.me else src, word)
            if word.origin == self.me:
                self.port.deliver(self.me, word.n, word.payload)
        self.heard.append((word.origin, word.n))

    handlers = {Word: on_word}


class OneChannelListener(Listener):
    contract = msgspec.structs.replace(Listener.contract, needs={"channel": "one"})


def heard(network, planned, seed=1, members=4):
    run = Run(
        protocol="listener",
        members=members,
        messages=120,
        network=network,
        workload=workloads.Bursts(interval=0.02, size=5),
        faults=planned,
        settle=1,
        seed=seed,
    )
    kind = OneChannelListener if network.gives.get("channel") == "one" else Listener
    outcome = simulate(kind, run)
    return [member.process.heard for member in outcome.simulation.members]


def sequence(logs):
    """One order that all of them follow, or None."""
    after = {}
    for log in logs:
        for a, b in pairwise(log):
            if a != b:
                after.setdefault(a, set()).add(b)
    order, waiting = [], {frame for log in logs for frame in log}
    while waiting:
        first = sorted(frame for frame in waiting if not any(frame in after.get(other, ()) for other in waiting))
        if not first:
            return None
        order.append(first[0])
        waiting.remove(first[0])
    return order


@pytest.mark.parametrize("planned", [(), LOSS, MISCHIEF], ids=["no fault", "loss", "everything"])
@pytest.mark.parametrize(
    "network",
    [networks.OneChannel(high=0.03), networks.OneChannel(high=0.03, bandwidth=1e6), networks.Bus(bandwidth=1e6)],
    ids=["delays", "delays and bandwidth", "bus"],
)
def test_on_one_channel_all_hear_one_sequence_with_holes(planned, network):
    logs = heard(network, planned)
    assert sequence(logs) is not None
    sent = [max(n for origin, n in log if origin == k) for k, log in enumerate(logs)]
    for k, log in enumerate(logs):
        assert [n for origin, n in log if origin == k] == list(range(sent[k] + 1)), "its own copies, none lost or twice"
    if planned:
        assert len({frozenset(log) for log in logs}) > 1, "there are holes, not the same for all"


@pytest.mark.parametrize("planned", [(), LOSS, MISCHIEF], ids=["no fault", "loss", "everything"])
def test_on_many_channels_each_sender_has_a_sequence(planned):
    logs = heard(networks.MultiChannel(high=0.03), planned)
    for log in logs:
        for k in range(len(logs)):
            mine = [n for origin, n in log if origin == k]
            assert mine == sorted(mine)
    assert sequence(logs) is None, "together they have none"


def test_copies_overtake_one_another_on_the_plain_network():
    assert sequence(heard(networks.Delay(high=0.03), ())) is None


def test_a_mute_members_own_copies_keep_their_place():
    logs = heard(networks.OneChannel(low=0.05, high=0.08), (faults.Outage(member=1, begin=0.1, end=0.4),))
    mine = [n for origin, n in logs[1] if origin == 1]
    assert mine == list(range(len(mine)))
    assert any((1, n) not in logs[0] for n in mine), "others missed some"


def test_a_paused_members_socket_does_not_lose_its_own_copies():
    logs = heard(networks.OneChannel(low=0.05, high=0.08), (faults.Pause(member=1, begin=0.1, end=0.5, socket=1),))
    mine = [n for origin, n in logs[1] if origin == 1]
    assert mine == list(range(len(mine)))


def test_a_network_that_is_not_what_a_protocol_needs_is_refused():
    with pytest.raises(ValueError, match="to needs a network with channel: one, which Delay is not"):
        simulate(TO, Run(protocol="to", network=networks.Delay()))


@pytest.mark.parametrize(
    "wrong", [lambda: networks.OneChannel(low=2, high=1), lambda: networks.OneChannel(bandwidth=0)]
)
def test_a_channel_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValueError, match=r"wants|must"):
        wrong()


@pytest.mark.parametrize("network", [networks.OneChannel(bandwidth=1e6), networks.MultiChannel(high=0.5)])
def test_a_plan_names_the_networks_as_the_command_line_does(network):
    run = Run(protocol="po", network=network)
    plain = msgspec.to_builtins(run)
    assert plain["network"]["kind"] in ("one-channel", "multi-channel")
    assert msgspec.convert(plain, Run) == run
