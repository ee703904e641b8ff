"""Each way in which the counter protocol is easily got wrong, done wrong on purpose, and caught by a random run."""

from msgspec.structs import replace

import tests.protocols.test_counter as scenes
from ordercast.parts import counter_node, counter_state, counter_vote, token_list
from ordercast.protocols.counter import Counter
from ordercast.sim import Run, faults, networks, workloads
from tests.protocols.counter_runs import Watched, schedule, wrong_with
from tests.protocols.scripted import Script


def caught(kind, seeds=60, plan=schedule):
    """Does some run show that this protocol is wrong: a broken property, a stop, or a failed assertion in it?"""
    for seed in range(seeds):
        try:
            if wrong_with(plan(seed), kind):
                return True
        except AssertionError:
            return True
    return False


def fails(scene, kind):
    """Does a scene end otherwise with this protocol?  With the right one, it is a test of its own."""
    port = Script()
    port.kind = kind
    try:
        scene(port)
    except AssertionError:
        return True
    return False


def quiet(seed, *more, **parameters):
    """A run without changes of the list, but with losses."""
    return Run(
        protocol="counter",
        members=4,
        messages=150,
        network=networks.Delay(low=0.001, high=0.005),
        workload=workloads.Poisson(interval=0.1),
        faults=(faults.Loss(rate=0.15), *more),
        parameters=parameters,
        settle=3.0,
        seed=seed,
    )


def changing(seed):
    """A run in which most messages are under way for long while a node leaves and another crashes."""
    lost = faults.Loss(rate=0.7, on=("Msg",))
    gone = (faults.Leave(member=0, at=1.0), faults.Crash(member=1, at=1.5), faults.Crash(member=2, at=3.0))
    return replace(quiet(seed, lost, *gone), members=7, settle=6.0)


def test_the_right_protocol_is_not_caught():
    assert not caught(Counter, seeds=10)
    assert not caught(Counter, seeds=10, plan=quiet)
    assert not caught(Counter, seeds=10, plan=changing)


def test_1_counting_again_what_was_counted_already(monkeypatch):
    right = counter_state.count
    monkeypatch.setattr(
        counter_node, "count", lambda ring, state, me, holds, counted: right(ring, state, me, holds, set())
    )
    assert caught(Counter, plan=quiet)


def test_2_an_id_list_from_the_tokens_arrival():
    class Mutant(Counter):
        """Counts by what it had when it became the owner.  It is right, but an entry waits one more cycle."""

        def own(self):
            super().own()
            self.had = set(self.store)

        def holds(self, entry):
            if self.state != "owner" or entry.cycle < self.ledger.next:
                return super().holds(entry)
            return all((entry.sender, k) in self.had for k in range(entry.first, entry.below))

    assert fails(scenes.TestTraps().test_2_a_retransmission_during_the_turn_counts_in_it, Mutant)


def test_3_removing_only_the_entry_of_the_cycle_before(monkeypatch):
    right = counter_state.arrive

    def mutant(token, me):
        kept, removed = right(token, me)
        of_the_last = [entry for entry in removed if entry.cycle == token.t - 2]
        return (*kept, *(entry for entry in removed if entry not in of_the_last)), tuple(of_the_last)

    class Bounded(Counter):
        def pass_on(self):
            assert all(entry.cycle > self.P - 20 for entry in self.token.S), "an entry stays in S for good"
            super().pass_on()

    assert not caught(Bounded, seeds=3, plan=quiet)
    monkeypatch.setattr(counter_node, "arrive", mutant)
    assert caught(Bounded, plan=quiet)


def test_4_only_the_next_owner_looks_at_the_token():
    class Mutant(Counter):
        def compare(self):
            if self.state == "owner":
                super().compare()

        def commit(self):
            if self.state == "owner":
                super().commit()

    assert fails(scenes.TestTraps().test_4_who_is_not_the_next_owner_compares_and_commits, Mutant)


def test_5_committing_before_everybody_has_attached(monkeypatch):
    def mutant(token):
        bound = max(token.t, token.ring.base)
        return min([bound, *(entry.cycle for entry in token.S if not counter_state.complete(token, entry))])

    monkeypatch.setattr(counter_node, "committable", mutant)
    assert caught(Counter, plan=quiet)


def test_6_a_start_node_for_ever():
    class Mutant(Counter):
        """Only the founders' first node takes the token in its own cycle."""

        def own(self):
            assert self.token.t == self.P + (self.me != self.members[0])
            super().own()

    assert caught(Mutant)


def test_7_counters_that_outlive_their_list(monkeypatch):
    right = token_list.cut

    def mutant(ring, state, answers):
        counters = {entry.key(): entry.counter for entry in state}
        return tuple(replace(entry, counter=counters[entry.key()]) for entry in right(ring, state, answers))

    monkeypatch.setattr(token_list, "cut", mutant)
    assert caught(Counter, plan=changing)


def test_7_an_older_state_issued_again(monkeypatch):
    right = token_list.rebuilt

    def mutant(caller, answers, joining, leaving):
        own = answers[caller].token
        same = {node: replace(answer, token=own) for node, answer in answers.items()}
        return right(caller, same, joining, leaving)

    monkeypatch.setattr(counter_vote, "rebuilt", mutant)
    assert caught(Counter)


def test_8_waiting_for_newcomers_by_older_entries(monkeypatch):
    right = token_list.rebuilt

    def mutant(*args):
        token = right(*args)
        ring = replace(token.ring, since=tuple(0 for _ in token.ring.nodes))
        return replace(token, ring=ring)

    monkeypatch.setattr(counter_vote, "rebuilt", mutant)
    assert caught(Counter)


def test_9_flow_control_that_stops_repairs():
    class Mutant(Counter):
        def on_req(self, src, req):
            if not self.token.flow.everywhere:
                super().on_req(src, req)

        handlers = {**Counter.handlers, counter_node.Req: on_req}

    def plan(seed):
        return quiet(seed, overload=6)

    assert not caught(Counter, seeds=5, plan=plan)
    assert caught(Mutant, plan=plan)


def test_10_attaching_what_was_sent_during_the_turn():
    class Mutant(Counter):
        """The pseudo-code's cut-off end, read wrong: what is attached belongs to the cycle that goes on."""

        def on_token_owner(self):
            self.turn = self.sent
            super().on_token_owner()

        timers = {**Counter.timers, "token_owner": on_token_owner}

    assert fails(
        scenes.TestTheToken().test_the_owner_attaches_what_it_sent_in_the_previous_cycle_and_raises_the_counters, Mutant
    )


class TestOfTheVote:
    def test_deleting_without_a_majority(self, monkeypatch):
        def halves(seed):
            cut = faults.Partition(groups=((0, 1),), begin=0.5, end=9.0)
            return replace(quiet(seed, cut), members=5, settle=2.0)

        assert not caught(Watched, seeds=2, plan=halves)
        monkeypatch.setattr(counter_vote, "quorum", lambda ring, nodes: True)
        assert caught(Watched, plan=halves)

    def test_following_tokens_after_a_promise(self, monkeypatch):
        monkeypatch.setattr(token_list.Agreement, "fenced", lambda self: False)
        assert caught(Counter, seeds=150)

    def test_forgetting_what_may_have_been_decided(self, monkeypatch):
        monkeypatch.setattr(token_list.Agreement, "bound", lambda self: None)
        assert fails(scenes.TestTheVote().test_a_caller_proposes_what_may_have_been_decided, Counter)

    def test_telling_a_deleted_node_its_end_too_early(self):
        class Mutant(Counter):
            def on_join(self, src, join):
                past = self.past.get(src)
                if past is not None and join.settled < past.number and self.state in ("idle", "owner"):
                    self.port.send(src, past)
                else:
                    super().on_join(src, join)

            handlers = {**Counter.handlers, token_list.Join: on_join}

        assert fails(scenes.TestComingBack().test_who_deleted_it_answers_when_all_of_that_is_committed, Mutant)

    def test_taking_a_deleted_node_in_without_its_past(self):
        class Mutant(Counter):
            def on_join(self, src, join):
                if self.state in ("idle", "owner") and src not in self.ring.nodes:
                    self.joining[src] = 1 << 30
                else:
                    super().on_join(src, join)

            handlers = {**Counter.handlers, token_list.Join: on_join}

        assert caught(Mutant)
