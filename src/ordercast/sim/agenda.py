"""The agenda of a run: what is planned to happen to its members, and the doing of it."""

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any

from ordercast.sim import faults
from ordercast.sim.channel import Breakable
from ordercast.sim.member import DEAD, DEAF, RUNNING, Member
from ordercast.sim.recording import RecordingMember

if TYPE_CHECKING:
    from ordercast.sim.simulation import Simulation


class Agenda:
    """Puts the planned events of a run into its queue, each as a call of a method below."""

    def __init__(self, simulation: "Simulation") -> None:
        self.simulation = simulation
        self.last_change = 0.0  # of what is planned: a run is not given up before
        for fault in simulation.run.faults:
            match fault:
                case faults.Crash():
                    self.at(fault.at, self.crash, fault.member)
                case faults.Restart():
                    if self.simulation.kind.joins == "no":
                        raise ValueError(
                            f"{self.simulation.kind.name} does not know joining: a crashed member stays out"
                        )
                    self.at(fault.at, self.restart, fault.member)
                case faults.Pause():
                    self.at(fault.begin, self.pause, fault)
                    self.at(fault.end, self.resume, fault.member)
                case faults.Outage():
                    self.at(fault.begin, self.outage, fault.member)
                    self.at(fault.end, self.resume, fault.member)
                case faults.Leave():
                    self.at(fault.at, self.leave, fault.member)
                case faults.Install():
                    self.at(fault.at, self.install, fault.members)
                case faults.Down():
                    channel = simulation.channel
                    if not isinstance(channel, Breakable):
                        raise ValueError(f"{fault.what!r} cannot fail: this network is not made of links and sites")
                    channel.check(fault.what)
                    self.at(fault.begin, channel.fail, fault.what)
                    self.at(fault.end, channel.restore, fault.what)
                case faults.LinkFault():
                    for moment in (fault.begin, fault.end):
                        if moment < faults.FOREVER:
                            self.last_change = max(self.last_change, moment)

    def at(self, when: float, call: Callable[..., None], argument: Any) -> None:
        if not 0 <= when < inf:
            raise ValueError(f"a planned event wants a time from 0, not {when}")
        self.simulation.schedule(when, call, argument)
        self.last_change = max(self.last_change, when)

    def resident(self, home: int) -> Member:
        """Who runs now on the machine of a founding member: the last incarnation."""
        return [member for member in self.simulation.members if member.home == home][-1]

    def crash(self, home: int, *_: Any) -> None:
        member = self.resident(home)
        if member.state != DEAD:
            if len(member.payloads) > member.got[member.index]:
                self.simulation.meet("crash")
            self.simulation.pending -= len(member.payloads) - member.got[member.index]
            member.crash()
            self.simulation.reconsider()

    def restart(self, home: int, *_: Any) -> None:
        before = self.resident(home)
        if before.state != DEAD:
            raise ValueError(f"member {home} restarts at {self.simulation.now} s, but it had not crashed")
        incarnation = sum(member.home == home for member in self.simulation.members)
        pid = home if self.simulation.kind.joins == "as_same" else len(self.simulation.members)
        member = self.simulation.add(pid, home, f"{home}.{incarnation}")
        self.simulation.meet("restart")
        member.process = self.simulation.kind(
            pid, range(self.simulation.run.members), member, self.simulation.parameters
        )
        if isinstance(member, RecordingMember):
            member.event("restart", position=before.index)
        member.process.start(joining=True)
        self.simulation.start_load(member)
        self.simulation.reconsider()

    def pause(self, fault: faults.Pause, *_: Any) -> None:
        member = self.resident(fault.member)
        if member.state == RUNNING:
            member.pause(fault.socket)

    def outage(self, home: int, *_: Any) -> None:
        member = self.resident(home)
        if member.state == RUNNING:
            member.state = DEAF
            if isinstance(member, RecordingMember):
                member.event("outage", n=1)

    def resume(self, home: int, *_: Any) -> None:
        member = self.resident(home)
        if member.state == DEAF:
            member.state = RUNNING
            if isinstance(member, RecordingMember):
                member.event("outage", n=0)
            member.pump()
        elif member.state != DEAD and member.state != RUNNING:
            member.resume()

    def leave(self, home: int, *_: Any) -> None:
        member = self.resident(home)
        if member.state != DEAD and not member.left:
            member.left = True
            self.simulation.meet("leave")
            if isinstance(member, RecordingMember):
                member.event("leave")
            member.process.leave()
            self.simulation.pending -= len(member.payloads) - member.got[member.index]
            self.simulation.reconsider()

    def install(self, homes: tuple[int, ...], *_: Any) -> None:
        members = [self.resident(home) for home in homes]
        for member in members:
            if member.state != DEAD:
                member.process.install([other.pid for other in members])
                member.pump()
