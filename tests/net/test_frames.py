"""Frames: what goes in comes out, and nothing else gets through."""

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.net.toy import Ask, First, Have, Ordered

from ordercast.core import DecodeError
from ordercast.net.frames import HEADER_BYTES, MESSAGES, Frames, Opened, body

MESSAGE = st.one_of(
    st.builds(Ask, st.integers(0, 2**40), st.binary(max_size=50)),
    st.builds(Have, st.integers(0, 2**40)),
    st.builds(Ordered, st.integers(0, 9), st.integers(0, 9), st.integers(0, 9), st.binary(), st.integers(0, 9)),
)


def frames(me=1, members=(1, 2, 3)):
    return Frames(First, me, members, incarnation=12345)


def sealed(messages):
    one = frames()
    return one.seal(MESSAGES, 99, body([one.encode(message) for message in messages]))


@given(st.lists(MESSAGE, max_size=20))
def test_messages_come_back(messages):
    frame = sealed(messages)
    opened = frames(me=2).open(memoryview(frame))
    assert isinstance(opened, Opened)
    assert (opened.kind, opened.group, opened.sender, opened.incarnation) == (MESSAGES, 99, 1, 12345)
    assert frames(me=2).decode(opened.body) == messages
    assert len(frame) == HEADER_BYTES + sum(len(frames().encode(message)) for message in messages)


@given(st.binary(max_size=200))
def test_random_bytes_are_garbage(noise):
    assert frames().open(memoryview(noise)) == "garbled"
    assert frames().open(memoryview(b"Oc" + noise)) in ("garbled", "version")
    assert frames().open(memoryview(b"Oc\x01" + noise)) == "garbled"


@given(st.data())
@settings(max_examples=300)
def test_a_damaged_frame_is_garbage(data):
    frame = bytearray(sealed([Ask(1, b"payload"), Have(7)]))
    if data.draw(st.booleans()):
        frame[data.draw(st.integers(0, len(frame) - 1))] ^= data.draw(st.integers(1, 255))
    else:
        del frame[data.draw(st.integers(0, len(frame) - 1)) :]
    assert frames(me=2).open(memoryview(frame)) in ("garbled", "version")


@given(st.binary(max_size=60))
def test_a_sound_frame_around_other_things_does_not_decode_to_messages(noise):
    frame = frames().seal(MESSAGES, 99, noise)
    opened = frames(me=2).open(memoryview(frame))
    assert isinstance(opened, Opened)
    try:
        messages = frames().decode(opened.body)
    except DecodeError:
        return
    assert all(type(message) in First.handlers for message in messages)


def test_other_versions_protocols_and_strangers_have_their_reasons():
    class Other(First):
        name = "other"

    frame = sealed([Have(1)])
    assert frames(members=(2, 3)).open(memoryview(frame)) == "stranger"
    assert Frames(Other, 2, (1, 2, 3), 1).open(memoryview(frame)) == "protocol"
    newer = bytearray(frame)
    newer[2] = 2
    assert frames().open(memoryview(newer)) == "version"


def test_every_frame_has_a_number_of_its_own():
    one = frames()
    assert one.seal(MESSAGES, 99, b"") != one.seal(MESSAGES, 99, b"")
