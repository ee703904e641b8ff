"""Meeting and parting, without a network."""

import random

import pytest

from ordercast.net.errors import LockedOut
from ordercast.net.presence import Presence

MEMBERS = (0, 1, 2)


def meet(members, loss=0.0, seed=1):
    """Exchange notices until everybody has met; how many went round."""
    draw, sent = random.Random(seed), 0
    queue = []

    def say(src, to):
        nonlocal sent
        for other in to:
            sent += 1
            if draw.random() >= loss:
                queue.append((src, other, members[src].seen[src], members[src].notice()))

    while not all(member.all_met for member in members.values()):
        for me in members:
            say(me, [other for other in members if other != me])
        while queue:
            src, to, incarnation, notice = queue.pop(draw.randrange(len(queue)))
            if members[to].hear(src, incarnation, notice):
                say(to, [src])
    return sent


@pytest.mark.parametrize("seed", range(10))
def test_members_meet_in_one_session_whatever_is_lost(seed):
    members = {me: Presence(me, MEMBERS, 100 + me, settings=7) for me in MEMBERS}
    sent = meet(members, loss=0.4, seed=seed)
    assert len({member.session for member in members.values()}) == 1
    assert sent < 200, "nobody answers answers"


def test_another_life_is_another_session_and_is_locked_out():
    members = {me: Presence(me, MEMBERS, 100 + me, settings=7) for me in MEMBERS}
    meet(members)
    again = Presence(1, MEMBERS, 201, settings=7)
    assert members[0].hear(1, 201, again.notice()), "it is told"
    with pytest.raises(LockedOut, match="start all members again"):
        again.hear(0, 100, members[0].notice())
    fresh = {me: Presence(me, MEMBERS, 200 + me, settings=7) for me in MEMBERS}
    meet(fresh)
    assert fresh[0].session != members[0].session


def test_before_the_group_began_the_newest_life_of_a_member_counts():
    members = {me: Presence(me, MEMBERS, 100 + me, settings=7) for me in MEMBERS}
    members[0].hear(1, 101, members[1].notice())
    members[1] = Presence(1, MEMBERS, 300, settings=7)
    meet(members)
    assert members[0].seen[1] == 300
    assert len({member.session for member in members.values()}) == 1


def test_nobody_is_settled_before_it_has_every_message_of_all():
    members = {me: Presence(me, MEMBERS, 100 + me, settings=7) for me in MEMBERS}
    meet(members)
    for me, member in members.items():
        member.want_to_go(dict.fromkeys(MEMBERS, 10 * me))
        assert not member.settle({0: 0, 1: 10, 2: 20}), "the others have not said how many there are"
    for src in MEMBERS:
        for to in MEMBERS:
            if to != src:
                members[to].hear(src, 100 + src, members[src].notice())
    assert not members[0].settle({0: 0, 1: 10, 2: 19})
    assert members[0].settle({0: 0, 1: 10, 2: 20})
    assert not members[0].settle({0: 0, 1: 10, 2: 20}), "no news"
    assert not members[0].all_settled
    for src in (1, 2):
        members[src].settle({0: 0, 1: 10, 2: 20})
        members[0].hear(src, 100 + src, members[src].notice())
    assert members[0].all_settled
    members[1].hear(0, 100, members[0].notice(gone=True))
    assert members[1].all_settled, "who goes knows that all are settled"


def test_bytes_that_are_no_notice_are_nothing():
    member = Presence(0, MEMBERS, 100, settings=7)
    for body in (b"", b"\x00", b"\xff" * 40, b"\x93\x90\xc2\x00"):
        assert not member.hear(1, 101, body)
    assert member.missing == [1, 2]


def test_a_newcomer_learns_the_session_from_a_founder_that_knows_it():
    members = {me: Presence(me, MEMBERS, 100 + me, settings=7) for me in MEMBERS}
    newcomer = Presence(5, MEMBERS, 999, settings=7)
    assert not members[0].hear(5, 999, newcomer.notice()), "nobody knows it yet"
    assert not newcomer.hear(0, 100, members[0].notice())
    assert newcomer.session is None
    meet(members)
    assert members[1].hear(5, 999, newcomer.notice())
    assert not newcomer.hear(1, 101, members[1].notice())
    assert newcomer.session == members[1].session
    assert newcomer.all_met
    newcomer.want_to_go(dict.fromkeys(MEMBERS, 0))
    assert not newcomer.settle(dict.fromkeys(MEMBERS, 0)), "that is between the founders"
