"""Packing and pieces, between a scripted protocol and a scripted port."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordercast.core import Contract, Process
from ordercast.group import Safe, at_level, packed
from ordercast.group.layer import around


class Shelf(Process):
    """A protocol whose broadcasts wait on a shelf until the test carries them."""

    name = "shelf"
    contract = Contract(paper="-", title="-", order="fifo", levels=("fifo", "safe"), reports=("stable", "known"))

    def start(self, joining=False):
        self.shelf, self.taking = [], True

    def ready(self):
        return self.taking

    def broadcast(self, payload, to=None):
        self.shelf.append((payload, to))


class World:
    """A port that writes down what it is told; what it is not asked here, it does not have."""

    def __init__(self):
        self.said = []

    def __getattr__(self, name):
        return lambda *arguments: self.said.append((name, *arguments))

    def delivered(self):
        return [(origin, n, payload) for verb, origin, n, payload in self.said if verb == "deliver"]

    def reports(self):
        return [(level, origin, below) for verb, level, origin, below in self.said if verb == "reach"]


class Plain(World):
    deliver_many = None


def member(me, frame_bytes=400, **settings):
    kind = packed(Shelf, frame_bytes, members=2, **settings)
    process = kind(me, (0, 1), Plain())
    process.start()
    return process


PAYLOADS = st.lists(st.one_of(st.binary(max_size=30), st.integers(0, 900).map(bytes)), max_size=40)


@given(PAYLOADS, st.integers(64, 400))
def test_everything_arrives_whole_in_order_and_under_its_number(payloads, frame_bytes):
    sender, receiver = member(0, frame_bytes, window=10**6), member(1)
    sender.inner.taking = False
    for payload in payloads:
        sender.broadcast(payload)
    sender.inner.taking = True
    sender.pump()
    for n, (pack, _) in enumerate(sender.inner.shelf):
        assert len(pack) <= sender.capacity + 32
        receiver.delivered(0, n, pack)
    assert receiver.port.delivered() == [(0, n, payload) for n, payload in enumerate(payloads)]
    assert not receiver.pieces
    assert sender.queued_bytes == 0


@given(PAYLOADS, st.randoms())
def test_reports_name_whole_messages_only_and_all_of_them_in_the_end(payloads, draw):
    sender, receiver = member(0, 300, window=10**6), member(1)
    for payload in payloads:
        sender.broadcast(payload)
    shelf = sender.inner.shelf
    reported = 0
    for n, (pack, _) in enumerate(shelf):
        events = [lambda n=n, pack=pack: receiver.delivered(0, n, pack)]
        events.insert(draw.choice((0, 1)), lambda n=n: receiver.reached("stable", 0, n + 1))  # either may come first
        for event in events:
            event()
        whole = len(receiver.port.delivered())
        for _, _, below in receiver.port.reports()[reported:]:
            assert below <= whole, "a message was reported of which a piece is missing"
        reported = len(receiver.port.reports())
    stable = [below for level, _, below in receiver.port.reports() if level == "stable"]
    assert stable == sorted(set(stable))
    assert (stable[-1] if stable else 0) == len(payloads)
    receiver.reached("known", 0, len(shelf))
    assert ("known", 0, len(payloads)) in receiver.port.reports() or not payloads
    assert not receiver.ends[0], "what both levels have reached is forgotten"


def test_a_lone_message_leaves_at_once_and_a_crowd_together():
    sender = member(0, frame_bytes=2_000)
    sender.broadcast(b"alone")
    assert len(sender.inner.shelf) == 1
    sender.inner.taking = False
    for _ in range(50):
        sender.broadcast(b"crowd")
    assert len(sender.inner.shelf) == 1
    sender.inner.taking = True
    sender.clear()
    assert len(sender.inner.shelf) == 2


def test_own_packs_on_their_way_are_bounded():
    sender = member(0, frame_bytes=300, window=3)
    for _ in range(50):
        sender.put(bytes(60))
    sender.pump()
    assert len(sender.inner.shelf) == 3
    sender.delivered(0, 0, sender.inner.shelf[0][0])
    sender.pump()
    assert len(sender.inner.shelf) == 4


def test_the_queue_is_bounded_by_messages_and_by_bytes():
    sender = member(0, queue_messages=5, queue_bytes=1_000)
    sender.inner.taking = False
    for _ in range(5):
        assert sender.ready()
        sender.broadcast(b"")
    assert not sender.ready()
    heavy = member(0, queue_messages=5, queue_bytes=1_000)
    heavy.inner.taking = False
    heavy.broadcast(bytes(1_000))
    assert not heavy.ready()


def test_messages_for_different_parts_of_the_group_do_not_share_a_pack():
    sender = member(0, frame_bytes=2_000)
    for to in (None, None, (1,), (1,), (0, 1)):
        sender.put(b"x", to)
    sender.pump()
    assert [to for _, to in sender.inner.shelf] == [None, (1,), (0, 1)]
    assert sender.in_flight == 2, "what is not for me is never delivered here"


def test_a_copy_is_another_process():
    one = member(0, frame_bytes=300)
    one.inner.taking = False
    one.broadcast(bytes(500))
    two = one.copy(Plain())
    two.inner.taking = True
    two.pump()
    assert (one.index, len(one.queue), len(one.inner.shelf)) == (0, 1, 0)
    assert (len(two.queue), len(two.inner.shelf) > 1) == (0, True)
    two.delivered(1, 0, member_pack(b"hello"))
    assert two.port.delivered() == [(1, 0, b"hello")]
    assert one.port.delivered() == []


def member_pack(payload):
    sender = member(1)
    sender.broadcast(payload)
    return sender.inner.shelf[0][0]


def test_safe_hands_over_in_order_once_all_before_is_held_by_every_member():
    process = around(Safe, Shelf)(0, (0, 1), Plain())
    process.start()
    process.delivered(0, 0, b"a")
    process.delivered(1, 0, b"b")
    process.reached("stable", 1, 1)
    assert process.port.delivered() == []
    process.reached("known", 0, 1)
    assert process.port.delivered() == []
    process.reached("stable", 0, 1)
    assert process.port.delivered() == [(0, 0, b"a"), (1, 0, b"b")]
    process.delivered(1, 1, b"c")
    process.withdrawn(1)
    process.reached("stable", 1, 2)
    assert len(process.port.delivered()) == 2


def test_a_protocol_that_takes_deliveries_back_is_packed_only_where_it_is_safe():
    class Fickle(Shelf):
        withdraws = True

    with pytest.raises(ValueError, match="ask for the level 'safe'"):
        packed(Fickle, 1_000, members=2)
    assert packed(at_level(Fickle, "safe"), 1_000, members=2).name == "shelf"
