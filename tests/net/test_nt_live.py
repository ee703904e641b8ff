"""PO, and TO on merged channels, over loopback sockets."""

import pytest
from tests.net.test_group import converse, free_addresses, join_all, run

from ordercast.net.errors import LevelRefused
from ordercast.net.group import Group
from ordercast.spec import check
from ordercast.trace import find_runs, read_run


@pytest.mark.parametrize("drop", [0.0, 0.2])
@pytest.mark.parametrize(("protocol", "order"), [("po", "causal"), ("to_merged", "gap_free")])
def test_a_conversation_keeps_the_promises(tmp_path, protocol, order, drop):
    async def live():
        return await converse(await join_all(4, protocol, drop=drop, trace=str(tmp_path)), 50)

    logs = run(live())
    if order == "gap_free":
        assert all(log == logs[0] for log in logs)
    (paths,) = find_runs(tmp_path).values()
    verdicts = check(read_run(paths))
    for name in ("integrity", "validity", "agreement", "fifo", "causal", order):
        assert verdicts[name].result == "holds", verdicts[name]


@pytest.mark.parametrize("level", ["received", "packed"])
def test_a_level_of_po_is_a_parameter_of_the_group(level):
    async def live():
        return await converse(await join_all(3, "po", parameters={"deliver_at": level}), 30)

    assert [len(log) for log in run(live())] == [90, 90, 90]


def test_to_wants_one_channel_which_udp_is_not():
    async def live():
        await Group.join(0, free_addresses(2), "to")

    with pytest.raises(LevelRefused, match="channel: one"):
        run(live())
