"""Trans and Total over loopback sockets."""

import time

import pytest
from tests.net.test_group import converse, join_all, run

from ordercast.spec import check
from ordercast.trace import find_runs, read_run


@pytest.mark.parametrize("drop", [0.0, 0.2])
@pytest.mark.parametrize(("protocol", "order"), [("trans", "causal"), ("total", "gap_free")])
def test_a_conversation_keeps_the_promises(tmp_path, protocol, order, drop):
    async def live():
        return await converse(await join_all(4, protocol, drop=drop, trace=str(tmp_path)), 50)

    run(live())
    (paths,) = find_runs(tmp_path).values()
    verdicts = check(read_run(paths))
    for name in ("integrity", "validity", "agreement", "fifo", "causal", order):
        assert verdicts[name].result == "holds", verdicts[name]


def test_the_next_message_goes_out_when_the_socket_has_taken_the_last_and_not_at_a_time_out():
    async def live():
        began = time.monotonic()
        await converse(await join_all(4, "total"), 300)
        return time.monotonic() - began

    assert run(live()) < 10
