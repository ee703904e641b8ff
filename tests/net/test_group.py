"""Groups over loopback sockets, all members in one event loop."""

import asyncio
import random
import socket

import pytest
from tests.net.toy import First, Ordered

import ordercast
from ordercast.net import (
    AddressInUse,
    AddressUnusable,
    Group,
    GroupClosed,
    GroupError,
    GroupFailed,
    LevelRefused,
    LockedOut,
    MembersMissing,
    UnknownMember,
)
from ordercast.net.frames import MESSAGES, VERSION, Frames, body
from ordercast.net.processes import free_addresses
from ordercast.protocols.catalog import CATALOG
from ordercast.sim import Run, faults, networks, simulate, workloads
from ordercast.spec import PROPERTIES, check, judge
from ordercast.trace import Recorder, find_runs, read_run


def run(scenario):
    async def within_a_time():
        async with asyncio.timeout(30):
            return await scenario

    return asyncio.run(within_a_time())


LIVE = [name for name, kind in CATALOG.items() if not kind.contract.needs]


async def join_all(members=3, protocol=First, **settings):
    addresses = free_addresses(members)
    return await asyncio.gather(*(Group.join(me, addresses, protocol, **settings) for me in addresses))


async def read(group, messages):
    out = []
    async for batch in group.deliveries():
        out += batch
        if len(out) >= messages:
            return out


async def leave_all(groups):
    return await asyncio.gather(*(group.leave() for group in groups))


async def converse(groups, each=100, payload=lambda me, n: b"%d:%d" % (me, n)):
    """Everybody broadcasts, reads everything and leaves; the members' deliveries."""

    async def write(group):
        for n in range(each):
            assert await group.broadcast(payload(group.me, n)) == n

    writing = [asyncio.create_task(write(group)) for group in groups]
    out = await asyncio.gather(*(read(group, each * len(groups)) for group in groups))
    await asyncio.gather(*writing)
    assert all(await leave_all(groups)), "all members are settled"
    return out


def test_every_member_delivers_everything_in_one_order_and_whole():
    async def scenario():
        draw = random.Random(5)
        sizes = {(me, n): draw.choice((0, 10, 1_000, 30_000)) for me in range(3) for n in range(60)}
        groups = await join_all(frame_bytes=4_000)
        return await converse(groups, 60, lambda me, n: b"%d:%d" % (me, n) + b"x" * sizes[me, n]), sizes

    logs, sizes = run(scenario())
    assert logs[0] == logs[1] == logs[2]
    for me in range(3):
        own = [delivery for delivery in logs[0] if delivery.origin == me]
        assert [delivery.n for delivery in own] == list(range(60))
        for delivery in own:
            assert delivery.payload == b"%d:%d" % (me, delivery.n) + b"x" * sizes[me, delivery.n]


@pytest.mark.parametrize("name", LIVE)
def test_every_protocol_of_the_catalog_keeps_its_contract_over_sockets_that_lose(tmp_path, name):
    async def scenario():
        level = "safe" if CATALOG[name].withdraws else None
        groups = await join_all(protocol=name, level=level, drop=0.05, frame_bytes=1_400, trace=str(tmp_path))
        await converse(groups, 40, lambda me, n: bytes(500))

    run(scenario())
    (paths,) = find_runs(tmp_path).values()
    judged = judge(read_run(paths), CATALOG[name].contract)
    told = [promise for promise in judged.promised if promise != "bounded"]  # no buffers are watched in a live group
    assert {judged.verdicts[promise].result for promise in told} == {"holds"}


def test_what_needs_another_network_or_takes_back_is_refused():
    async def scenario():
        with pytest.raises(LevelRefused, match="to needs a network with the property 'channel: one'"):
            await Group.join(0, free_addresses(2), "to")
        with pytest.raises(LevelRefused, match="optimistic takes deliveries back"):
            await Group.join(0, free_addresses(2), "optimistic")

    run(scenario())


def test_loss_is_repaired_and_ip_multicast_does_the_same():
    async def scenario(**settings):
        return await converse(await join_all(**settings))

    lossy = run(scenario(drop=0.2, frame_bytes=1_400))
    assert lossy[0] == lossy[1] == lossy[2]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    cast = run(scenario(multicast=("239.255.77.5", port)))
    assert cast[0] == cast[1] == cast[2]


@pytest.mark.parametrize("name", ["dtp", "totem"])
@pytest.mark.parametrize("drop", [0.0, 0.1])
def test_the_same_scenario_in_the_simulator_and_over_sockets_has_the_same_verdicts(tmp_path, name, drop):
    async def live():
        groups = await join_all(protocol=name, drop=drop, trace=str(tmp_path), frame_bytes=576)
        await converse(groups, 30, lambda me, n: bytes(200))

    run(live())
    (paths,) = find_runs(tmp_path).values()
    over_sockets = read_run(paths)
    plan = Run(
        protocol=name,
        members=3,
        messages=90,
        network=networks.Delay(low=0.0001, high=0.0005),
        workload=workloads.Poisson(interval=0.02),
        faults=(faults.Loss(rate=drop),) if drop else (),
        seed=3,
    )
    simulated = simulate(CATALOG[name], plan, Recorder()).trace()
    verdicts = [
        {name: verdict.result for name, verdict in check(trace, PROPERTIES).items()}
        for trace in (over_sockets, simulated)
    ]
    assert verdicts[0] == verdicts[1]
    assert set(verdicts[0].values()) == {"holds"}
    assert (over_sockets.info.faults_met, simulated.info.faults_met) == ((["loss"],) * 2 if drop else ([], []))


def test_messages_come_one_at_a_time_too_and_the_package_offers_the_door():
    async def scenario():
        groups = await join_all(2)
        await groups[0].broadcast(b"hello")
        async for message in groups[1]:
            assert message == ordercast.Delivery(0, 0, b"hello")
            break
        await leave_all(groups)
        assert [message async for message in groups[1]] == []
        with pytest.raises(GroupClosed):
            await groups[0].broadcast(b"late")

    assert ordercast.Group is Group
    run(scenario())


def test_the_context_manager_hands_over_what_was_broadcast():
    async def scenario():
        addresses = free_addresses(2)
        joining = asyncio.create_task(Group.join(0, addresses, First))
        other = await Group.join(1, addresses, First)
        async with await joining as group:
            for _ in range(500):
                await group.broadcast(b"x")
        log = await read(other, 500)
        await other.leave(drain=0.1)
        assert len(log) == 500

    run(scenario())


def test_safe_messages_are_handed_over_and_the_level_must_be_in_the_contract():
    async def scenario():
        logs = await converse(await join_all(level="safe"), 30)
        assert logs[0] == logs[1] == logs[2]
        with pytest.raises(LevelRefused, match=r"first does not give the level 'causal'; it gives: agreed, safe"):
            await Group.join(0, free_addresses(2), First, level="causal")

    run(scenario())


@pytest.mark.parametrize("name", ["counter", "two_phase", "po"])
def test_a_broadcast_to_a_part_reaches_that_part(name):
    async def scenario():
        groups = await join_all(protocol=name)
        for n in range(30):
            await groups[0].broadcast(b"%d" % n, to=(0, 2) if n % 3 else None)
        assert len(await read(groups[0], 30)) == 30
        assert [delivery.n for delivery in await read(groups[2], 30)] == list(range(30))
        assert [delivery.n for delivery in await read(groups[1], 10)] == list(range(0, 30, 3))
        with pytest.raises(UnknownMember, match="does not name member 7"):
            await groups[0].broadcast(b"", to=(7,))
        assert all(await leave_all(groups)), "members settle though not all messages are for all"

    run(scenario())


def test_misuse_of_broadcast_is_refused_before_anything_happens():
    async def scenario():
        groups = await join_all(2, "dtp")
        with pytest.raises(ValueError, match="dtp orders for the whole group: leave out `to`"):
            await groups[0].broadcast(b"x", to=(0,))
        with pytest.raises(TypeError, match="a message is bytes, not str"):
            await groups[0].broadcast("text")
        with pytest.raises(ValueError, match="at most 16777216 bytes"):
            await groups[0].broadcast(bytes((1 << 24) + 1))
        assert await groups[0].broadcast(b"all", to=(1, 0)) == 0
        assert len(await read(groups[1], 1)) == 1
        assert all(await leave_all(groups))

    run(scenario())


def test_broadcast_waits_while_the_queue_is_full_and_goes_on_in_order():
    async def scenario():
        groups = await join_all(2, queue_messages=10)
        longest = 0

        async def write(text):
            nonlocal longest
            for n in range(100):
                await groups[0].broadcast(b"%s%d" % (text, n))
                longest = max(longest, len(groups[0]._process.queue))

        writing = [asyncio.create_task(write(text)) for text in (b"a", b"b", b"c")]
        log = await read(groups[1], 300)
        await asyncio.gather(*writing)
        assert longest <= 10 + len(writing)
        for text in (b"a", b"b", b"c"):
            mine = [delivery.payload for delivery in log if delivery.payload[:1] == text]
            assert mine == [b"%s%d" % (text, n) for n in range(100)]
        await asyncio.gather(*(group.leave() for group in groups), read(groups[0], 10**9))

    run(scenario())


def test_a_cancelled_broadcast_is_none():
    async def scenario():
        groups = await join_all(2, queue_messages=5)
        groups[0]._port.pause()  # nothing leaves
        for _ in range(5):
            await groups[0].broadcast(b"in")
        waiting = [asyncio.create_task(groups[0].broadcast(b"out" if n == 1 else b"in")) for n in range(3)]
        await asyncio.sleep(0)
        waiting[1].cancel()
        groups[0]._port.resume()
        log = await read(groups[1], 7)
        assert [await waiting[0], await waiting[2]] == [5, 6]
        assert [delivery.payload for delivery in log] == [b"in"] * 7
        await leave_all(groups)

    run(scenario())


def test_a_member_that_does_not_read_stops_taking_part_and_loses_nothing():
    async def scenario():
        groups = await join_all(2, inbox_messages=100, frame_bytes=1_400)

        async def write():
            for n in range(3_000):
                await groups[0].broadcast(b"%d" % n)

        writing, reading = asyncio.create_task(write()), asyncio.create_task(read(groups[0], 3_000))
        while not groups[1]._paused:
            await asyncio.sleep(0.001)
        assert 100 <= len(groups[1]._inbox) < 500  # the limit, and a frame
        log = await read(groups[1], 3_000)
        assert [int(delivery.payload) for delivery in log] == list(range(3_000))
        await asyncio.gather(writing, reading)
        await leave_all(groups)

    run(scenario())


def test_what_is_wrong_is_said_in_one_line_by_a_typed_error():
    async def refused(kind, match, me=0, addresses=None, protocol=First, **settings):
        with pytest.raises(kind, match=match) as caught:
            await Group.join(me, addresses or free_addresses(2), protocol, **settings)
        assert isinstance(caught.value, GroupError)
        assert "\n" not in str(caught.value)

    async def scenario():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
            taken.bind(("127.0.0.1", 0))
            members = {0: taken.getsockname(), 1: ("127.0.0.1", 9)}
            await refused(AddressInUse, "is in use by another process", addresses=members)
        await refused(UnknownMember, "does not name member 7; its members are 0, 1", me=7)
        await refused(AddressUnusable, "cannot be bound", addresses={0: ("192.0.2.1", 7000), 1: ("127.0.0.1", 9)})
        await refused(AddressUnusable, "not known", addresses={0: ("no-such-host.invalid", 7000)})
        await refused(AddressUnusable, "1 to 65535", addresses={0: ("127.0.0.1", 70_000)})
        await refused(AddressUnusable, "not a multicast", multicast=("127.0.0.1", 7000))
        await refused(MembersMissing, r"member\(s\) 1 did not answer within 0.05 s", timeout=0.05)
        await refused(GroupError, "no protocol is called 'nonsense'", protocol="nonsense")
        await refused(GroupError, "is not a protocol", protocol="tests.net.toy:Have")
        await refused(GroupError, "has no parameter 'x'", parameters={"x": 1})
        await refused(GroupError, "F is 2, but 2 members", protocol="dtp", parameters={"F": 2})
        await refused(GroupError, "cannot record there", trace="/dev/null/here")
        await refused(GroupError, "no setting 'colour'", colour="red")
        await refused(GroupError, "drop is a share", drop=1.5)
        await refused(GroupError, "frame_bytes", frame_bytes=10)

    run(scenario())


def test_members_with_other_settings_do_not_meet_and_say_why():
    async def scenario():
        addresses = free_addresses(2)
        both = await asyncio.gather(
            Group.join(0, addresses, First, timeout=0.3),
            Group.join(1, addresses, First, level="safe", timeout=0.3),
            return_exceptions=True,
        )
        assert [type(error) for error in both] == [MembersMissing] * 2
        assert all("run with other settings" in str(error) for error in both)

    run(scenario())


def test_a_member_that_comes_back_is_locked_out():
    async def scenario():
        addresses = free_addresses(2)
        one, other = await asyncio.gather(*(Group.join(me, addresses, First) for me in addresses))
        await other.leave(drain=0.0)
        with pytest.raises(LockedOut, match="start all members again"):
            await Group.join(1, addresses, First, timeout=2.0)
        await one.leave(drain=0.0)

    run(scenario())


def test_a_fault_of_a_protocol_stops_the_member_and_is_said():
    class Broken(First):
        def on_ordered(self, src, ordered):
            raise AssertionError("a bug")

        handlers = {**First.handlers, Ordered: on_ordered}

    async def scenario():
        groups = await join_all(2, Broken)
        await groups[0].broadcast(b"x")
        with pytest.raises(GroupFailed, match="a bug"):
            await read(groups[0], 1)
        with pytest.raises(GroupFailed):
            await groups[0].broadcast(b"y")
        await asyncio.gather(*(group.leave(drain=0.0) for group in groups))

    run(scenario())


def test_hostile_datagrams_are_counted_dropped_and_never_raise():
    draw = random.Random(11)

    def hostile(session):
        def frames(version=VERSION, protocol=First, sender=1, group=session, content=b"\xdc\x00\x00"):
            frame = bytearray(Frames(protocol, sender, (sender,), 1).seal(MESSAGES, group, content))
            frame[2] = version
            return bytes(frame)

        class Other(First):
            name = "other"

        one = body([b"\x92\xa4Have\x07"])
        yield from (draw.randbytes(draw.choice((0, 1, 39, 40, 41, 1_000, 65_507))) for _ in range(200))
        yield from (b"Oc\x01" + draw.randbytes(draw.randrange(100)) for _ in range(200))
        yield frames(version=9)
        yield frames(protocol=Other)
        yield frames(sender=77)
        yield frames(group=1)
        yield frames(content=b"\xc1")  # from an address that no member has
        whole = frames(content=one)
        for cut in range(len(whole)):
            yield whole[:cut]
            yield whole[:cut] + bytes([whole[cut] ^ 1 << draw.randrange(8)]) + whole[cut + 1 :]

    async def scenario():
        groups = await join_all(2)
        address = groups[0].settings.members[0]
        reading = asyncio.create_task(read(groups[0], 25))
        count = 0
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            for count, datagram in enumerate(hostile(groups[0]._port.session), 1):
                stranger.sendto(datagram, address)
                if count % 20 == 0:
                    await groups[1].broadcast(b"meanwhile")
                    await asyncio.sleep(0)
        while (done := sum(groups[0]._port.rejected.values())) < count:
            await asyncio.sleep(0.001)
        assert done == count
        assert set(groups[0]._port.rejected) == {"garbled", "version", "protocol", "stranger"}
        assert len(await reading) >= 25
        await leave_all(groups)

    run(scenario())


def test_a_members_own_frames_with_other_things_in_them_are_dropped():
    async def scenario():
        groups = await join_all(2)
        frames, session = groups[1]._port.frames, groups[1]._port.session
        for content in (b"", b"\xc1", b"\x91\x91\xa3Bad", b"\xdc\xff\xff", b"\x91\x92\xa4Have\xa1x"):
            groups[1]._port._sendto(frames.seal(MESSAGES, session, content), groups[0].settings.members[0])
        groups[1]._port._sendto(frames.seal(MESSAGES, session + 1, b"\x90"), groups[0].settings.members[0])
        groups[1]._port._sendto(frames.seal(1, groups[1]._port.settings, b"\xc1"), groups[0].settings.members[0])
        await groups[1].broadcast(b"after")
        assert len(await read(groups[0], 1)) == 1
        assert groups[0]._port.rejected == {"garbled": 5, "group": 1}
        await leave_all(groups)

    run(scenario())
