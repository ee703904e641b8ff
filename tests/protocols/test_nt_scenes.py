"""PO and TO, a few members and one sentence of the paper or of its mends at a time."""

import msgspec
import pytest

from ordercast.core import codec, parameters_of
from ordercast.protocols import po, to
from ordercast.protocols.po import PO
from ordercast.protocols.to import TO, TOMerged
from tests.protocols.script_port import Script


class Port(Script):
    free = 1000

    def room(self):
        return self.free


class Table:
    """Members whose frames lie on a table until the test hands them on."""

    def __init__(self, kind, n, **given):
        self.kind, self.members = kind, range(n)
        self.ports = [Port() for _ in self.members]
        self.processes = [kind(k, self.members, port, parameters_of(kind, given)) for k, port in enumerate(self.ports)]
        self.frames = []  # (src, receivers, message)
        self.given = [[] for _ in self.members]
        self.reached = [[] for _ in self.members]
        for process in self.processes:
            process.start()
        self.gather()

    def __getitem__(self, k):
        return self.processes[k]

    def gather(self):
        for k, port in enumerate(self.ports):
            for verb, *args in port.take():
                if verb == "deliver":
                    self.given[k].append(args[2])
                elif verb == "reach":
                    self.reached[k].append(tuple(args))
                elif verb == "send":
                    self.frames.append((k, [args[0]], args[1]))
                elif verb == "multicast":
                    everyone = [other for other in self.members if other != k]
                    self.frames.append((k, list(args[1] if len(args) > 1 and args[1] else everyone), args[0]))

    def broadcast(self, k, payload, to=None):
        self[k].broadcast(payload, to)
        self.gather()

    def expire(self, k, timer):
        self[k].expire(timer)
        self.gather()

    def hand_on(self, lose=()):
        """The next frame, to all its receivers but some."""
        src, receivers, message = self.frames.pop(0)
        for receiver in receivers:
            if receiver not in lose:
                self[receiver].receive(src, message)
        self.gather()
        return message

    def run(self):
        while self.frames:
            self.hand_on()

    def turn(self, times=1):
        """Everything arrives, then every timer that is set runs out."""
        for _ in range(times):
            self.run()
            for k in self.members:
                if self[k].idling:
                    self.expire(k, "idle")
            self.run()


class MinFForEver(PO):
    """Who waits for room does not ask whether there is some again."""

    def waits(self):
        return self.waiting > 0


class TestPO:
    def test_its_own_pdus_are_received_by_itself(self):
        """NT section 2, the assumption."""
        table = Table(PO, 3, deliver_at="received")
        table.broadcast(0, b"x")
        assert table.given == [[b"x"], [], []]

    @pytest.mark.parametrize(("level", "turns"), [("received", 0), ("packed", 1), ("acked", 2)])
    def test_the_level_at_which_a_pdu_is_handed_over(self, level, turns):
        table = Table(PO, 3, deliver_at=level)
        table.broadcast(0, b"x")
        for k in range(turns):
            assert table.given == [[], [], []], f"not at turn {k}"
            table.turn()
        table.run()
        assert table.given == [[b"x"]] * 3

    def test_stable_is_pre_acknowledged_and_known_is_acknowledged(self):
        table = Table(PO, 3)
        table.broadcast(0, b"x")
        table.turn()
        assert table.reached == [[("stable", 0, 1)]] * 3
        table.turn()
        assert table.reached == [[("stable", 0, 1), ("known", 0, 1)]] * 3

    def test_a_quiet_cluster_comes_to_rest(self):
        table = Table(PO, 3)
        table.broadcast(1, b"x")
        table.turn(3)
        assert not any(process.idling for process in table.processes)
        assert not table.frames

    def test_a_lost_pdu_is_asked_for_and_sent_again_as_it_was(self):
        table = Table(PO, 3, deliver_at="received")
        table.broadcast(0, b"x")
        first = table.hand_on(lose=[2])
        table.broadcast(0, b"y")
        table.hand_on()
        assert table.given[2] == [], "y is kept until x comes"
        table.expire(2, "ask")
        assert table.hand_on() == po.Lack((0,))
        assert table.hand_on() == first
        assert table.given[2] == [b"x", b"y"]

    def test_a_slow_member_asks_for_what_its_buffers_take(self):
        table = Table(PO, 2)
        table.ports[1].free = 4
        for _ in range(6):
            table.broadcast(0, b"x")
        while len(table.frames) > 1:
            table.hand_on(lose=[1])
        table.hand_on()
        asked = []
        for _ in range(3):
            table.expire(1, "ask")
            asked.append(table.frames.pop()[2].SEQs)
        assert asked == [(0, 1), (2, 3), (0, 1)], "half of the free buffers, and not the same again at once"

    def test_what_its_sender_had_received_is_missing_here(self):
        """The receipt condition (2): p.A_h <= REQ_h.  On several channels it may still be on its way."""
        table = Table(PO, 3, deliver_at="received")
        table.broadcast(0, b"x")
        late = table.frames.pop()
        table[1].receive(0, late[2])
        table.broadcast(1, b"after x")
        table.hand_on()
        assert table.given[2] == []
        table[2].receive(0, late[2])
        table.gather()
        assert table.given[2] == [b"x", b"after x"]

    def test_the_last_pdu_of_all_is_missed_by_what_a_status_shows(self):
        table = Table(PO, 2)
        table.broadcast(0, b"x")
        table.hand_on(lose=[1])
        table.expire(0, "idle")  # it has heard nothing that an empty PDU would tell
        assert isinstance(table.hand_on(), po.Status)
        table.expire(1, "ask")
        table.turn(3)
        assert table.given == [[b"x"], [b"x"]]

    def test_the_window_is_w(self):
        table = Table(PO, 2, W=2)
        table.broadcast(0, b"x")
        table.broadcast(0, b"y")
        assert not table[0].ready()
        table.turn()
        assert table[0].ready()

    def test_free_buffers_limit_data(self):
        """minF / (C n^2): with 8 free buffers, C = 2 and n = 2, one PDU may be on its way."""
        table = Table(PO, 2)
        table.ports[1].free = 8
        table.broadcast(1, b"so that 0 hears of it")
        table.turn(3)
        assert table[0].ready()
        table.broadcast(0, b"x")
        assert not table[0].ready()

    def test_a_full_member_that_has_room_again_is_heard_of(self):
        """Without statuses minF = 0 is for ever: all is acknowledged, nobody may send, and nobody says anything."""
        assert self.is_heard_of(PO) == [True] * 3
        assert not any(self.is_heard_of(MinFForEver)[:2]), "the mutant is stuck"

    def is_heard_of(self, kind):
        table = Table(kind, 3)
        table.ports[2].free = 0
        table.broadcast(2, b"x")
        table.turn(4)
        assert [process.ready() for process in table.processes] == [False] * 3
        assert table.given == [[b"x"]] * 3
        table.ports[2].free = 1000
        table.turn()
        return [process.ready() for process in table.processes]

    def test_a_part_of_the_cluster_does_not_wait_for_the_rest(self):
        """p.DST: received by all, handed over and asked for at its destinations."""
        table = Table(PO, 3)
        for _ in range(3):
            if not table.frames:
                table.broadcast(0, b"for 1", to=[0, 1])
            while table.frames:
                table.hand_on(lose=[2])
            for k in (0, 1):
                table.expire(k, "idle")
        while table.frames:
            table.hand_on(lose=[2])
        assert table.given == [[b"for 1"], [b"for 1"], []]

    def test_a_pdu_for_a_part_does_not_overtake_what_its_sender_had_received(self):
        table = Table(PO, 4, deliver_at="packed")
        table.broadcast(0, b"for all")
        table.hand_on(lose=[3])
        table.broadcast(1, b"for 0 and 1", to=[0, 1])
        for _ in range(4):
            while table.frames:
                table.hand_on(lose=[3])
            for k in (0, 1, 2):
                if table[k].idling:
                    table.expire(k, "idle")
        assert table.given == [[], [], [], []]

    @pytest.mark.parametrize("wrong", [[], [7], [0, 7]])
    def test_a_broadcast_goes_to_members(self, wrong):
        with pytest.raises(ValueError, match="one or more members"):
            Table(PO, 3).broadcast(0, b"x", to=wrong)


class TestTO:
    def test_an_entity_takes_its_own_pdu_where_the_channel_has_put_it(self):
        table = Table(TO, 2)
        table.broadcast(0, b"x")
        assert table.frames[0][1] == [0, 1]
        assert table[0].logs.REQ == [0, 0]
        table.hand_on()
        assert table[0].logs.REQ == [1, 0]

    def test_sending_again_would_not_do(self):
        """The notes' run: E_1 sends p, E_2 sends q, E_3 loses p and takes q.  Then 3 finds the loss: all begin anew."""
        table = Table(TO, 3, deliver_at="packed")
        table.broadcast(0, b"p")
        table.broadcast(1, b"q")
        table.hand_on(lose=[2])
        table.hand_on()
        assert [[p.SRC for _, p in process.logs.RPL[0]] for process in table.processes] == [[0, 1], [0, 1], [1]]
        table.broadcast(0, b"r")
        table.turn(4)
        assert [process.epoch for process in table.processes] == [1, 1, 1]
        assert table.given == [[b"q", b"p", b"r"]] * 3

    def test_what_is_packed_keeps_its_place(self):
        table = Table(TO, 2, deliver_at="packed")
        table.broadcast(0, b"x")
        table.turn(1)
        assert table.given == [[b"x"], [b"x"]]
        table.broadcast(0, b"lost")
        table.hand_on(lose=[1])
        table.broadcast(1, b"y")
        table.turn(4)
        assert table[0].epoch == table[1].epoch == 1
        assert table.given[0] == table.given[1]
        assert table.given[0][0] == b"x"
        assert sorted(table.given[0][1:]) == [b"lost", b"y"]

    def test_who_has_left_an_epoch_receives_no_more_of_it_but_its_own(self):
        table = Table(TO, 3)
        table.broadcast(0, b"mine")
        mine = table.frames.pop()
        table[0].receive(1, to.Exchange(0, (0, 0, 0)))
        table[0].receive(1, to.Data(1, 0, (0, 0, 0), 0, (), 0, b"late", 0))
        assert table[0].logs.REQ == [0, 0, 0]
        assert list(table[0].aside[1]) == [0]
        table[0].receive(0, mine[2])
        assert table[0].logs.REQ == [1, 0, 0]
        assert table[0].reports[0] == (1, 0, 0), "its own were counted when it left"

    def test_who_lost_the_exchange_is_told_where_the_epoch_began(self):
        table = Table(TO, 3)
        for src, other in ((1, 2), (2, 1)):
            table[0].receive(src, to.Exchange(0, (0, 0, 0)))
            table[other].receive(src, to.Exchange(0, (0, 0, 0)))
        table[2].receive(0, to.Exchange(0, (0, 0, 0)))
        table.gather()
        assert [process.epoch for process in table.processes] == [1, 0, 1]
        table.frames.clear()
        table.expire(1, "exchange")
        table.hand_on()
        assert table.frames == [
            (0, [1], to.Begin(1, (0, 0, 0), (0, 0, 0))),
            (2, [1], to.Begin(1, (0, 0, 0), (0, 0, 0))),
        ]
        table.hand_on()
        assert table[1].epoch == 1

    def test_what_a_faster_member_sends_in_the_next_epoch_waits(self):
        table = Table(TO, 2)
        table.broadcast(1, b"x")
        frame = msgspec.structs.replace(table.frames.pop()[2], epoch=1)
        table[0].receive(1, frame)
        assert table[0].logs.REQ == [0, 0]
        table[0].receive(1, to.Exchange(0, (0, 0)))
        assert table[0].epoch == 1
        assert table[0].logs.REQ == [0, 1]


class TestTOMerged:
    def test_frames_wait_for_a_word_of_every_member(self):
        table = Table(TOMerged, 3, deliver_at="packed")
        table.broadcast(0, b"x")
        table.hand_on()
        assert table[1].logs.REQ == [0, 0, 0]
        for k in (1, 2):
            table.expire(k, "tick")
        table.run()
        assert [process.logs.REQ for process in table.processes] == [[1, 0, 0]] * 3

    def test_who_holds_up_the_others_is_asked(self):
        table = Table(TOMerged, 3)
        table.broadcast(0, b"x")
        table.frames.clear()
        table.expire(0, "tick")
        assert [(src, receivers, message.asks) for src, receivers, message in table.frames] == [
            (0, [1], True),
            (0, [2], True),
        ]
        table.run()
        assert table[0].logs.REQ == [1, 0, 0]

    def test_statuses_do_not_pile_up_while_a_member_is_silent(self):
        table = Table(TOMerged, 3)
        for _ in range(50):
            table[1].send_status(asks=True)
        table.gather()
        while table.frames:
            table.hand_on(lose=[2])
        assert len(table[0].channel.queue) == 1


@pytest.mark.parametrize("kind", [PO, TO, TOMerged], ids=lambda kind: kind.name)
def test_messages_survive_the_wire(kind):
    table = Table(kind, 3)
    table.broadcast(0, b"x", to=[0, 2])
    table[1].send_empty()
    table[1].send_status(asks=True)
    if kind is not PO:
        table[1].receive(0, to.Exchange(0, (1, 0, 0)))
        table[1].receive(0, to.Lack(0, (0,)))
        table[2].receive(0, to.Exchange(0, (1, 0, 0)))
    table.gather()
    encode, decode = codec(kind)
    sent = [message for _, _, message in table.frames]
    assert len({type(message) for message in sent}) >= (3 if kind is PO else 4)
    for message in sent:
        assert decode(encode(message)) == message


@pytest.mark.parametrize("kind", [PO, TO, TOMerged], ids=lambda kind: kind.name)
def test_a_copy_of_a_member_is_apart(kind):
    table = Table(kind, 3)
    table.broadcast(0, b"x")
    port = Port()
    before = table[0].copy(port)
    twin = table[0].copy(port)
    table.broadcast(0, b"y")
    table.turn(2)
    assert twin.SEQ == 1 < table[0].SEQ
    assert vars(twin.logs) == vars(before.logs)
    if kind is TOMerged:
        assert vars(twin.channel) == vars(before.channel) != vars(table[0].channel)
