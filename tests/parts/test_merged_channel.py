"""Many channels merged into one: the same order at all members, with holes, whatever is lost or overtaken."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from ordercast.parts.merged_channel import MergedChannel


def test_a_frame_waits_for_a_later_word_of_every_other_member():
    channel = MergedChannel(range(3), 0)
    channel.put(1, (0, 1), "a")
    assert channel.take() == []
    assert channel.speaks()
    assert channel.silent() == [2]
    channel.put(2, (0, 4))
    assert channel.take() == [(1, "a")]


def test_frames_of_one_time_go_by_member():
    channel = MergedChannel(range(3), 0)
    channel.put(2, (0, 1), "c")
    channel.put(1, (0, 1), "b")
    channel.put(0, channel.stamp(), "mine")
    assert channel.take() == [(1, "b")], "mine is later, and 1 may still say something before 2's"
    channel.put(1, (1, 5))
    assert channel.take() == [(2, "c")]


def test_a_gap_is_waited_for_and_then_a_hole():
    channel = MergedChannel(range(2), 0)
    channel.put(1, (1, 2), "second")
    assert channel.take() == []
    channel.skip()
    channel.put(1, (0, 1), "first")
    assert [frame for _, frame in channel.take()] == ["first", "second"]
    channel.put(1, (3, 4), "fourth")
    channel.skip()
    assert channel.take() == []
    channel.skip()
    assert channel.take() == [(1, "fourth")]
    channel.put(1, (2, 3), "third")
    assert channel.take() == [], "what was given up is not taken any more"


def test_a_repeated_frame_is_taken_once():
    channel = MergedChannel(range(2), 0)
    for _ in range(2):
        channel.put(1, (1, 2), "second")
    for _ in range(2):
        channel.put(1, (0, 1), "first")
    channel.put(1, (1, 2), "second")
    assert channel.take() == [(1, "first"), (1, "second")]


@given(seed=st.integers(0, 10**6), n=st.integers(1, 4), frames=st.integers(1, 30), losing=st.floats(0, 0.6))
def test_all_members_take_one_sequence_with_holes(seed, n, frames, losing):
    random = Random(seed)
    channels = [MergedChannel(range(n), k) for k in range(n)]
    flying = []  # (receiver, sender, stamp, frame)
    taken = [[] for _ in range(n)]
    said = [[] for _ in range(n)]

    def say(k, frame=None):
        stamp = channels[k].stamp()
        channels[k].put(k, stamp, frame)
        if frame is not None:
            said[k].append(frame)
        flying.extend((other, k, stamp, frame) for other in range(n) if other != k and random.random() >= losing)

    def step():
        if flying:
            receiver, *arrives = flying.pop(random.randrange(len(flying)))
            channels[receiver].put(*arrives)
            taken[receiver] += [frame for _, frame in channels[receiver].take()]

    for number in range(frames):
        say(random.randrange(n), number)
        for _ in range(random.randrange(2 * n)):
            step()
        if random.random() < 0.2:
            channels[random.randrange(n)].skip()
    while flying:
        step()
    losing = 0.0
    for _ in range(3):  # the last words arrive, and nobody waits for what is lost
        for k in range(n):
            say(k)
        while flying:
            step()
        for k in range(n):
            channels[k].skip()
            taken[k] += [frame for _, frame in channels[k].take()]
    stamps = {}
    for k in range(n):
        assert not channels[k].waits()
        assert len(set(taken[k])) == len(taken[k])
        assert [frame for frame in taken[k] if frame in said[k]] == said[k], "its own are never lost"
        for before, after in zip(taken[k], taken[k][1:], strict=False):
            stamps.setdefault(before, set()).add(after)
    order = acyclic(stamps, sorted({frame for log in taken for frame in log}))
    assert order, "no two members disagree, not around a circle either"


def acyclic(after, frames):
    left = list(frames)
    while left:
        first = [frame for frame in left if not any(frame in after.get(other, ()) for other in left)]
        if not first:
            return False
        left.remove(first[0])
    return True


def test_a_copy_is_apart():
    channel = MergedChannel(range(2), 0)
    channel.put(1, (0, 1), "a")
    twin = channel.copy()
    assert vars(twin) == vars(channel)
    twin.take()
    twin.stamp()
    assert vars(twin) != vars(channel)
    assert channel.take() == [(1, "a")]
