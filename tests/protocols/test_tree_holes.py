"""What GK leaves open: for each decision of `tree`, by its number there, the run that breaks without it.

A run is a function of the protocol that returns what went wrong.  The protocol comes through all of them; a mutant that
takes one decision back does not.
"""

import pytest
from msgspec import structs

from ordercast.parts import runs
from ordercast.parts.history import History
from ordercast.parts.topology import Link, Topology
from ordercast.parts.tree_words import Data, IAmCoordinator, Null, Probe, Status
from ordercast.protocols.tree import Tree
from ordercast.sim import Run, Simulation, faults, networks, workloads
from ordercast.sim.topologies import TwoSites
from tests.protocols.switched_runs import alive, drive, make, wrong_at_the_end, wrong_in_a_stable_partition


def sites(near=3, far=4, bandwidth=1e6, loss=0.0):
    """Hosts 0, 1 … near | far …, and between them the link `slow`."""
    return TwoSites(near=near, far=far, bandwidth=bandwidth, loss=loss).topology()


def every(interval, count, begin=1.0):
    return [(begin + interval * k, 0) for k in range(count)]


def down(what, begin, end):
    return faults.Down(what=what, begin=begin, end=end)


def slow(simulation):
    return simulation.channel.facts()["links"]["slow"]


def above(bound, measured, what):
    return [f"{what}: {measured}, more than {bound}"] if measured > bound else []


# ---------------------------------------------------------------- the runs


def the_last_message_is_lost(kind):
    """Nothing follows it, so no gap shows, and the source is not silent."""
    simulation = make(sites(), every(0.2, 5), down("to-h4", 1.79, 1.9), kind=kind)
    return wrong_at_the_end(drive(simulation, 20))


def a_repaired_partition_leaves_nothing_behind(kind):
    """Once all is well, only null messages go round: two a second."""
    simulation = drive(make(sites(), every(0.2, 20), down("slow", 2, 6), kind=kind), 30)
    before = slow(simulation)["control"]
    after = slow(drive(simulation, 40))["control"]
    return wrong_at_the_end(simulation) + above(21, after - before, "control in 10 s")


def two_groups_meet_without_the_source(kind):
    """Three sites: the source's; 1, 2; 3, 4.  The last two are cut off alone, then joined, then everything is."""
    links = [Link(f"to-h{k}", f"h{k}", f"s{site}") for k, site in enumerate((0, 1, 1, 2, 2))]
    links += [Link("ab", "s0", "s1", cost=5), Link("bc", "s1", "s2", cost=5)]
    topology = Topology(("h0", "h1", "h2", "h3", "h4"), ("s0", "s1", "s2"), tuple(links))
    cuts = (down("ab", 2.1, 40), down("bc", 1.5, 20), down("to-h2", 1.9, 2.05), down("to-h3", 1.1, 1.45))
    simulation = make(topology, every(0.1, 60), *cuts, kind=kind)
    drive(simulation, 2.0).by_pid[3].process.receive(4, Probe(0))  # 3 has noticed nothing; its answer is lost
    apart = wrong_in_a_stable_partition(drive(simulation, 19.9))
    together = wrong_in_a_stable_partition(drive(simulation, 39.9))
    return apart + together + wrong_at_the_end(drive(simulation, 60))


def much_is_missed_behind_a_slow_link(kind):
    """80 messages for 8 hosts, 5 s of the link's time; new ones come meanwhile.  Each crosses the link once."""
    lines = [*every(0.1, 80), (10.01, 0), *every(1.0, 19, begin=12.0)]
    simulation = drive(make(sites(far=8, bandwidth=64e3), lines, down("slow", 0.5, 10), kind=kind), 60)
    found = slow(simulation)
    wrong = above(100, found["payload"], "messages over the link") + above(260, found["control"], "control over it")
    links = simulation.channel.facts()["links"]
    wrong += above(820, sum(links[f"to-h{k}"]["payload"] for k in range(3, 11)), "messages to the hosts behind it")
    return wrong_at_the_end(simulation) + wrong


def much_is_missed_and_frames_are_lost(kind):
    """The same with a twentieth of all frames lost at each host: what some have need not cross again."""
    lines = every(0.05, 150)
    topology = sites(far=10, bandwidth=64e3, loss=0.05)
    simulation = drive(make(topology, lines, down("slow", 0.5, 10), kind=kind, seed=3), 60)
    found = [] if all(process.streams[0].history.end == 150 for process in alive(simulation).values()) else ["lost"]
    return found + above(170, slow(simulation)["payload"], "messages over the link")


def who_fills_sends_slowly(kind):
    """One host was away.  Whoever fills it takes 5 s, and its answers wait behind that; others answer at once."""
    links = sites(far=1).links
    narrow = tuple(structs.replace(link, bandwidth=64e3) if link.name != "slow" else link for link in links)
    topology = structs.replace(sites(far=1), links=narrow)
    simulation = drive(make(topology, every(0.1, 80), down("slow", 0.5, 10), kind=kind), 60)
    return wrong_at_the_end(simulation) + above(80, slow(simulation)["payload"], "messages over the link")


def all_would_ask_the_source(kind):
    """Nothing is known of the network: the source stands first on every list.  A new message comes before the fill."""
    lines = [*every(0.1, 80), (10.01, 0)]
    topology = sites(far=8, bandwidth=256e3)
    simulation = make(topology, lines, down("slow", 0.5, 10), kind=kind, lists=(), gather=0.0)
    found = slow(drive(simulation, 60))
    return wrong_at_the_end(simulation) + above(81, found["payload"], "messages over the link")


def what_one_sends_is_lost_for_all(kind):
    """3 coordinates, gets 100 messages, and loses a fifth of its frames on its own link: all others lack the same."""
    lossy = tuple(structs.replace(link, loss=0.2 if link.name == "to-h3" else 0.0) for link in sites(far=8).links)
    topology = structs.replace(sites(far=8), links=lossy)
    simulation = drive(make(topology, every(0.05, 100), down("slow", 0.5, 40), kind=kind), 19.9)
    leader = simulation.by_pid[3].process
    for n in range(100):
        leader.receive(1, Data(0, n, 0, b"0.%d" % n, again=True))
    drive(simulation, 39.9)
    sent = simulation.channel.ways["to-h3", "there"].payload
    return wrong_in_a_stable_partition(simulation) + above(300, sent, "messages sent by 3")


def a_host_leaves_its_group_and_is_served_elsewhere(kind):
    """6 leaves the far group for the source's side; when the group returns, nobody asks for 6 any more."""
    links = (*sites().links, Link("way", "there", "mid", cost=9), Link("back", "mid", "here", cost=30))
    # 6 hangs on `mid`, which is joined to the far site at first and to the source's later.
    links = tuple(Link("to-h6", "h6", "mid") if link.name == "to-h6" else link for link in links)
    topology = Topology(sites().hosts, ("here", "there", "mid"), links)
    cuts = (down("slow", 0.9, 40), down("way", 20, 60), down("back", 0.9, 20.1))
    simulation = drive(make(topology, every(0.05, 100), *cuts, kind=kind), 39.9)
    before = simulation.channel.facts()["links"]["back"]["payload"]
    drive(simulation, 59)
    again = simulation.channel.facts()["links"]["back"]["payload"] - before
    return wrong_at_the_end(simulation) + above(0, again, "sent to 6 again")


def the_successor_never_hears_of_its_hosts(kind):
    """The one message that hands over a group's coordination is lost."""
    simulation = make(sites(far=6), every(0.1, 40), down("slow", 0.9, 10), kind=kind)
    drive(simulation, 9.9)
    leader = next(process for process in alive(simulation).values() if process.streams[0].desc)
    leader.lose_next = True
    drive(simulation, 30)
    found = slow(simulation)
    return wrong_at_the_end(simulation) + above(46, found["control"] - 40, "control over the link")


def a_stale_coordinator_announces_itself(kind):
    """4 has 6 in its group from long ago; 6 belongs to 3, which is higher."""
    simulation = drive(make(sites(), [], down("slow", 0.9, 60), kind=kind), 20)
    wrong = wrong_in_a_stable_partition(simulation)
    stale = IAmCoordinator(0, runs.NOTHING, 0, False)
    lower, higher = sorted((4, 5), key=lambda pid: -simulation.by_pid[pid].process.streams[0].rank[pid])
    for pid in (3, 6, higher):
        simulation.by_pid[pid].process.receive(lower, stale)
    return wrong + wrong_in_a_stable_partition(simulation)


def only_the_source_is_left_of_a_long_list(kind):
    """11 hosts near the source have crashed; the far group's coordinator has probed them in vain for a while."""
    crashes = [faults.Crash(member=k, at=0.1) for k in range(1, 12)]
    topology = sites(near=12, far=3)
    simulation = drive(make(topology, every(0.1, 10), *crashes, down("slow", 0.9, 21.3), kind=kind), 22.5)
    return wrong_at_the_end(simulation)


def everybody_reports(kind):
    """What all hosts have is kept by nobody."""
    simulation = drive(make(sites(), every(0.05, 200), kind=kind), 20)
    kept = max(process.buffers()["history"][0] for process in alive(simulation).values())
    return wrong_at_the_end(simulation) + above(0, kept, "messages kept")


def a_host_comes_back_without_memory(kind):
    """What it had acknowledged nobody keeps; it must not ask for that for ever, nor may the others."""
    faults_ = (faults.Crash(member=5, at=5), down("slow", 6, 20), faults.Restart(member=5, at=7))
    simulation = drive(make(sites(), every(0.1, 30), *faults_, kind=kind), 19.9)
    return wrong_in_a_stable_partition(simulation) + wrong_at_the_end(drive(simulation, 40))


def a_source_comes_back_without_memory(kind):
    """What it broadcasts then is new, whatever its numbers; what it broadcast before goes on spreading."""
    cuts = (down("slow", 2.9, 20), faults.Crash(member=0, at=3.5), faults.Restart(member=0, at=6))
    lines = [*every(0.1, 30), (30.0, 1)]  # from its return on it is asked for thirty again
    simulation = drive(make(sites(), lines, *cuts, kind=kind), 60)
    wrong = wrong_at_the_end(simulation)
    given = {member.delivered for pid, member in simulation.by_pid.items() if pid}
    asked = [len(member.payloads) for member in simulation.members]
    assert asked[-1] > 20, "the new life was asked for something"
    return wrong + ([f"{asked} asked for, {given} delivered"] if given != {sum(asked)} else [])


def a_search_fails_while_new_messages_overtake_one_another(kind):
    """The first DESCs are lost.  What was lost before has come long before the load ends, twenty seconds later."""
    run = Run(
        protocol="tree",
        members=4,
        messages=1000,
        network=networks.Delay(low=0.001, high=0.1),
        workload=workloads.Script(lines=tuple((0.02 * k, 0, None, None) for k in range(1000))),
        faults=(faults.Loss(rate=0.3, on=("Data",), end=2.0), faults.Loss(rate=1.0, on=("Desc",), end=3.0)),
        parameters={"sources": (0,)},
    )
    simulation = Simulation(kind, run)
    simulation.begin()
    drive(simulation, 15)
    whole = {pid: runs.prefix(process.streams[0].history.received) for pid, process in alive(simulation).items()}
    return [f"of 750, host {pid} has the first {below}" for pid, below in whole.items() if below < 400]


# ---------------------------------------------------------------- the mutants


class NullWithoutTheLastNumber(Tree):
    def on_null_due(self):
        self.port.multicast(Null(self.me, 0, self.streams[self.me].history.floor))
        self.port.set_timer("null", self.parameters.delta)

    timers = {**Tree.timers, "null": on_null_due}


class NeverBackToNil(Tree):
    def judge(self, stream):
        if stream.history.lacks() and stream.coord in (None, self.me):
            self.seek(stream)


class SourceThatKeepsItsTree(Tree):
    """Events 2, 4 and 5 to the letter at the source as well: it coordinates whoever asked it."""

    def serve(self, stream):
        desc = {**stream.desc, **stream.waiting}
        super().serve(stream)
        if stream.source == self.me:
            stream.desc = desc
            self.lead(stream)


class CoordinatorWithoutProbing(Tree):
    """Event 2 to the letter: whom a probe made coordinator waits, whatever it is told."""

    def seek(self, stream):
        if stream.coord is None or stream.coord != self.me:
            super().seek(stream)


class ElectionInsideATree(Tree):
    """A gap or silence starts event 1, whether or not there is a tree."""

    def judge(self, stream):
        if stream.history.lacks() and not stream.leads():
            stream.desc = {}
            self.seek(stream)
        super().judge(stream)


class OnlyAnnouncementsShowLife(Tree):
    def on_data(self, src, message):
        self.await_coordinator = lambda stream: None
        super().on_data(src, message)
        del self.await_coordinator

    handlers = {**Tree.handlers, Data: on_data}


class GuessesRedelivery(Tree):
    """What is older than the newest must have been redelivered."""

    def on_data(self, src, message):
        again = message.n < self.stream(message).history.end
        super().on_data(src, structs.replace(message, again=again))

    handlers = {**Tree.handlers, Data: on_data}


class NoActing(Tree):
    """A coordinator that hands over has nothing more to do with its hosts."""

    def attach(self, stream, coord):
        super().attach(stream, coord)
        stream.desc, stream.acting = {}, False
        self.port.cancel_timer(("announce", stream.source))


class NoRefill(Tree):
    """What a coordinator receives after it filled its DESC stays with it."""

    def gather(self, stream):
        if stream.waiting:
            super().gather(stream)

    def on_i_am_coordinator(self, src, message):
        super().on_i_am_coordinator(src, IAmCoordinator(message.source, runs.NOTHING, message.floor, False))

    handlers = {**Tree.handlers, IAmCoordinator: on_i_am_coordinator}


class RefillsTheDelegated(Tree):
    """A coordinator goes on filling those whom another has taken over."""

    def attach(self, stream, coord):
        desc = dict(stream.desc)
        super().attach(stream, coord)
        stream.desc = desc


class AnnouncementsSayNothing(Tree):
    """Events 5 and 6 to the letter."""

    def on_announce(self, source):
        stream = self.streams[source]
        self.port.multicast(IAmCoordinator(source, runs.NOTHING, 0, False), tuple(stream.desc))
        self.port.set_timer(("announce", source), self.parameters.announce_every)

    def on_i_am_coordinator(self, src, message):
        stream = self.streams[message.source]
        if stream.coord is not None and stream.above(src, stream.coord):
            stream.coord = src
        if stream.coord == src:
            self.await_coordinator(stream)

    timers = {**Tree.timers, "announce": on_announce}
    handlers = {**Tree.handlers, IAmCoordinator: on_i_am_coordinator}


class NoRoll(Tree):
    def on_announce(self, source):
        self.streams[source].unanswered.clear()
        super().on_announce(source)

    timers = {**Tree.timers, "announce": on_announce}


class AnyCoordinatorWillDo(Tree):
    def on_i_am_coordinator(self, src, message):
        self.streams[message.source].coord = src

    handlers = {**Tree.handlers, IAmCoordinator: on_i_am_coordinator}


class NoFreshStart(Tree):
    def heard(self, stream, src):
        if src == stream.source:
            stream.hears = True
        super().heard(stream, src)


class FillsAtOnce(Tree):
    def gather(self, stream):
        self.serve(stream)


class NoFloor(Tree):
    def on_status(self, src, message):
        pass

    handlers = {**Tree.handlers, Status: on_status}


class LacksWhatNobodyKeeps(Tree):
    """Who lost its memory wants what lies below the floor, too."""

    def start(self, joining=False):
        super().start(joining)
        for stream in self.streams.values():
            stream.history = Wanting(self.parameters.fifo)


class Wanting(History):
    def raise_floor(self, floor):
        received = self.received
        due = super().raise_floor(floor)
        self.received = received
        return due


class OneLifeOnly(Tree):
    """A source that returns goes on as if it had never been away."""

    def open(self, source, life, own):
        return super().open(source, 0, own)


CAUGHT = {  # by the number of the decision that the mutant takes back
    (1, NullWithoutTheLastNumber): the_last_message_is_lost,
    (1, NeverBackToNil): a_repaired_partition_leaves_nothing_behind,
    (2, SourceThatKeepsItsTree): much_is_missed_and_frames_are_lost,
    (3, CoordinatorWithoutProbing): two_groups_meet_without_the_source,
    (4, ElectionInsideATree): all_would_ask_the_source,
    (4, OnlyAnnouncementsShowLife): who_fills_sends_slowly,
    (4, GuessesRedelivery): a_search_fails_while_new_messages_overtake_one_another,
    (5, NoActing): much_is_missed_and_frames_are_lost,
    (6, NoRefill): much_is_missed_behind_a_slow_link,
    (6, RefillsTheDelegated): much_is_missed_behind_a_slow_link,
    (7, AnnouncementsSayNothing): what_one_sends_is_lost_for_all,
    (7, NoRoll): a_host_leaves_its_group_and_is_served_elsewhere,
    (8, AnyCoordinatorWillDo): a_stale_coordinator_announces_itself,
    (9, NoFreshStart): only_the_source_is_left_of_a_long_list,
    (10, FillsAtOnce): what_one_sends_is_lost_for_all,
    (11, NoFloor): everybody_reports,
    (12, LacksWhatNobodyKeeps): a_host_comes_back_without_memory,
    (12, OneLifeOnly): a_source_comes_back_without_memory,
}


@pytest.mark.parametrize("run", dict.fromkeys(CAUGHT.values()), ids=lambda run: run.__name__)
def test_the_protocol_comes_through(run):
    assert run(Tree) == []


@pytest.mark.parametrize(("decision", "run"), CAUGHT.items(), ids=lambda each: getattr(each, "__name__", None))
def test_each_decision_is_needed(decision, run):
    try:
        wrong = run(decision[1])
    except AssertionError as error:  # the simulator's own: a delivery that cannot be
        wrong = [str(error)]
    assert wrong != []
