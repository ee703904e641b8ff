"""The heap of timers against a plain dict of times."""

from hypothesis import given
from hypothesis import strategies as st

from ordercast.net.timers import Timers

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("set"), st.sampled_from("abc"), st.integers(0, 20)),
        st.tuples(st.just("cancel"), st.sampled_from("abc"), st.just(0)),
        st.tuples(st.just("wait"), st.just(""), st.integers(0, 10)),
    ),
    max_size=60,
)


@given(STEPS)
def test_whatever_is_set_runs_out_once_and_in_time(steps):
    timers, plain, now = Timers(), {}, 0
    for what, name, by in steps:
        if what == "set":
            timers.set(name, now + by)
            plain[name] = now + by
        elif what == "cancel":
            timers.cancel(name)
            plain.pop(name, None)
        else:
            now += by
            rang = []
            while (due := timers.due(now)) is not None:
                rang.append((due, plain.pop(due)))
            assert all(time <= now for _, time in rang)
            assert all(time > now for time in plain.values())
        wake = timers.next()
        assert (wake is None) == (not plain)
        assert wake is None or wake <= min(plain.values())


def test_postponing_a_timer_does_not_grow_the_heap():
    timers = Timers()
    for time in range(10_000):
        timers.set("resend", float(time))
    assert len(timers.heap) == 1
    assert timers.due(9_998.0) is None
    assert timers.due(9_999.0) == "resend"
