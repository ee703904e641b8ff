"""The simulator against SimPy, side by side: the same protocol, members, workload and delays, in CPU seconds.

In SimPy every copy in flight is a process that waits for its delay and puts itself into its receiver's store; every
member is a process that gets from its store, and its timers and its application are processes, too.
What is counted is the arrivals of copies that each world handles per CPU second; a run's trace is off, then on.

    python benchmarks/simulator.py [--messages 3000] [--members 5 20 50] [--json]
"""

import argparse
import json
import statistics
import time
from random import Random

import simpy

from ordercast.protocols.catalog import protocol
from ordercast.sim import Run, Simulation, networks, workloads
from ordercast.sim.streams import exponential
from ordercast.trace import Recorder
from ordercast.trace.columns import PACKING


class SimPyPort:
    """A member of a group in SimPy."""

    def __init__(self, world, me):
        self.world, self.me, self.env = world, me, world.env
        self.timers = {}
        self.waiting = []

    def send(self, to, message):
        self.env.process(self.world.carry(self.me, to, message, self.world.when()))

    def multicast(self, message, to=None):
        when = self.world.when(message) if self.world.bus else None
        for other in range(len(self.world.processes)) if to is None else to:
            if to is not None or other != self.me:
                self.env.process(self.world.carry(self.me, other, message, when or self.world.when()))

    def deliver(self, origin, n, payload):
        self.world.delivered += 1

    def set_timer(self, name, after):
        self.timers[name] = mark = object()
        self.env.process(self.expire(name, after, mark))

    def expire(self, name, after, mark):
        yield self.env.timeout(after)
        if self.timers.get(name) is mark:
            del self.timers[name]
            self.world.processes[self.me].expire(name)

    def cancel_timer(self, name):
        self.timers.pop(name, None)

    def reach(self, level, origin, below):
        pass

    def application(self, interval, random):
        process = self.world.processes[self.me]
        while True:
            yield self.env.timeout(exponential(random.random(), interval))
            self.waiting.append(b"payload")
            self.world.asked += 1
            self.pump(process)

    def pump(self, process):
        while self.waiting and process.ready():
            process.broadcast(self.waiting.pop(0))


class SimPyWorld:
    def __init__(self, kind, members, interval, bus):
        self.env, self.random, self.bus = simpy.Environment(), Random(1), bus
        self.arrived = self.delivered = self.asked = 0
        self.free = 0.0
        ports = [SimPyPort(self, me) for me in range(members)]
        self.processes = []
        for me, port in enumerate(ports):
            self.processes.append(kind(me, range(members), port))
        self.ports = ports
        self.inboxes = [simpy.Store(self.env) for _ in ports]
        for me, port in enumerate(ports):
            self.processes[me].start()
            self.env.process(port.application(interval, Random(me)))
            self.env.process(self.member(me))

    def when(self, message=None):
        """How long a copy is on its way."""
        if not self.bus:
            return 0.001 + self.random.random() * 0.009
        size = 500 if message is not None and message.carries == "payload" else 64
        self.free = max(self.free, self.env.now) + size * 8 / 10e6
        return self.free - self.env.now

    def carry(self, src, to, message, after):
        yield self.env.timeout(after)
        yield self.inboxes[to].put((src, message))

    def member(self, me):
        process, port, inbox = self.processes[me], self.ports[me], self.inboxes[me]
        while True:
            src, message = yield inbox.get()
            self.arrived += 1
            process.receive(src, message)
            if port.waiting:
                port.pump(process)


def with_simpy(members, messages, bus):
    world = SimPyWorld(protocol("dtp"), members, 0.02 * members, bus)
    begun = time.process_time()
    while world.asked < messages:
        world.env.step()
    return world.arrived / (time.process_time() - begun)


def with_ours(members, messages, bus, trace):
    run = Run(
        protocol="dtp",
        members=members,
        messages=messages,
        network=networks.Bus() if bus else networks.Delay(),
        workload=workloads.Poisson(interval=0.02 * members),
    )
    recorder = Recorder() if trace else None
    simulation = Simulation(protocol("dtp"), run, recorder)
    begun = time.process_time()
    outcome = simulation.go()
    seconds = time.process_time() - begun
    copies = outcome.events if not bus else None
    rows = None
    if recorder is not None:
        rows = recorder.rows()
    return outcome, seconds, copies, rows


def arrivals(members, messages, bus):
    """How many copies arrive in our run: counted on a recorded twin of it."""
    _, _, _, rows = with_ours(members, messages, bus, trace=True)
    return int((rows["kind"] == 2).sum())


def row_nanoseconds():
    """What one row costs the caller, its call included."""
    recorder = Recorder()
    row = recorder.row
    count = 200_000
    begun = time.process_time()
    for _ in range(count):
        row(0.5, 1, 2, 3, 4, 5, 6, 7, 1, 2, 0)
    return (time.process_time() - begun) / count * 1e9


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--messages", type=int, default=3000)
    arguments.add_argument("--members", type=int, nargs="+", default=[5, 20, 50])
    arguments.add_argument("--repeats", type=int, default=3)
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    results = []
    for bus in (True, False):
        for members in given.members:
            copies = arrivals(members, given.messages, bus)
            measured = {"simpy": [], "off": [], "on": []}
            for _ in range(given.repeats):
                measured["simpy"].append(with_simpy(members, given.messages, bus))
                measured["off"].append(copies / with_ours(members, given.messages, bus, trace=False)[1])
                measured["on"].append(copies / with_ours(members, given.messages, bus, trace=True)[1])
            simpy_rate, off, on = (statistics.median(measured[name]) for name in ("simpy", "off", "on"))
            results.append(
                {
                    "network": "bus" if bus else "delay",
                    "members": members,
                    "simpy_per_s": round(simpy_rate),
                    "ours_per_s": round(off),
                    "traced_per_s": round(on),
                    "ratio": round(off / simpy_rate, 2),
                    "ratio_traced": round(on / simpy_rate, 2),
                    "nanoseconds": round(1e9 / off),
                    "nanoseconds_traced": round(1e9 / on),
                }
            )
    row = statistics.median(row_nanoseconds() for _ in range(5))
    if given.json:
        print(json.dumps({"runs": results, "row_nanoseconds": round(row), "packing": PACKING}))
        return
    print("copies that arrive per CPU second, DTP; medians of", given.repeats)
    for each in results:
        print(
            f"{each['network']:>6} {each['members']:>3} members: SimPy {each['simpy_per_s']:>9,}  "
            f"ours {each['ours_per_s']:>9,} ({each['ratio']:.1f}x)  "
            f"with a trace {each['traced_per_s']:>9,} ({each['ratio_traced']:.1f}x)"
        )
    print(f"a row of a trace: {row:.0f} ns")


if __name__ == "__main__":
    main()
