"""A paused member: what runs out meanwhile waits for its turn, and may have lost it by then."""

from ordercast.core import Contract, Process
from ordercast.sim import Run, Simulation, faults


class Alarms(Process):
    """Whichever of its two timers comes first cancels the other; a third is set again by the first."""

    name = "alarms"
    contract = Contract(paper="none", title="alarms", order="none", levels=("reliable",))

    def start(self, joining=False):
        self.rung = []
        for name in ("one", "other", "late"):
            self.port.set_timer(name, 1.0)

    def ring(self, name, cancels):
        self.rung.append((name, self.port.now()))
        self.port.cancel_timer(cancels)
        if name == "one":
            self.port.set_timer("late", 1.0)

    timers = {
        "one": lambda self: self.ring("one", "other"),
        "other": lambda self: self.ring("other", "one"),
        "late": lambda self: self.ring("late", "nothing"),
    }


def test_a_timer_cancelled_or_replaced_before_its_turn_does_not_run_out():
    pause = faults.Pause(member=0, begin=0.5, end=3.0)
    simulation = Simulation(Alarms, Run(protocol="alarms", members=2, faults=(pause,)))
    for member in simulation.members:
        member.process.start()
    simulation.advance(5.0)
    paused, other = (member.process for member in simulation.members)
    assert other.rung == [("one", 1.0), ("late", 2.0)]
    assert paused.rung == [("one", 3.0), ("late", 4.0)]
