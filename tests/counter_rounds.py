"""A ring of nodes that is nothing but its system state: one call is one turn of an owner, without a network."""

from types import SimpleNamespace

from msgspec.structs import replace

from ordercast.parts.counter_state import Ledger, Ring, T, arrive, committable, count, entries, no_flow


class Rounds:
    """`sent[node, cycle]` are the ids a node sent in a cycle, `has(node, id, turn)` what it holds then."""

    def __init__(self, nodes, sent, has, rule="fixed", first_cycle=0):
        self.nodes, self.rule, self.has = list(nodes), rule, has
        self.ring = Ring(tuple(range(len(self.nodes))), (first_cycle,) * len(self.nodes), 0, first_cycle)
        self.numbers = {}  # (node, cycle) -> its first number and its ids
        self.ids = [[] for _ in self.nodes]  # node -> ids by number
        for (name, cycle), ids in sorted(sent.items(), key=lambda item: item[0][1]):
            mine = self.ids[self.nodes.index(name)]
            self.numbers[name, cycle] = (len(mine), ids)
            mine.extend(ids)
        self.token = T(0, 0, first_cycle, (), self.ring, no_flow(self.ring))
        self.cycles = dict.fromkeys(self.nodes, first_cycle)  # the nodes' P
        self.counted = {name: set() for name in self.nodes}
        self.ledger = Ledger(first_cycle)  # of somebody who sees all tokens
        self.steps = -1

    def name(self, entry):
        return self.ids[entry.sender][entry.first : entry.below]

    def names(self, state):
        return [each for entry in state for each in self.name(entry)]

    def attach(self, name, cycle, rule):
        first, ids = self.numbers.get((name, cycle), (0, []))
        return entries(self.ring, self.nodes.index(name), cycle, [(first + k, ()) for k in range(len(ids))], rule)

    def cycle(self, cycle, rule, moved=0):
        """The entries of a cycle as they would be attached if the rotating start stood `moved` places further."""
        out = [entry for name in self.nodes for entry in self.attach(name, cycle, rule)]
        if rule == "rotating":
            out = [replace(entry, place=(entry.place - moved) % len(self.nodes)) for entry in out]
        return out

    def step(self):
        """The turn of the token's next owner, up to the token that it passes on."""
        self.steps += 1
        me = self.token.n
        name = self.nodes[me]
        self.cycles[name] += 1
        kept, removed = arrive(self.token, me)

        def holds(entry):
            return all(self.has(name, each, self.steps) for each in self.name(entry))

        counted = count(self.ring, kept, me, holds, self.counted[name])
        raised = [entry.sender for before, entry in zip(kept, counted, strict=True) if entry != before]
        state = (*counted, *self.attach(name, self.cycles[name] - 1, self.rule))
        self.token = T(me, self.ring.next(me), self.cycles[name], state, self.ring, self.token.flow)
        self.ledger.see(state)
        committed = list(self.ledger.commit(committable(self.token)))
        return SimpleNamespace(
            owner=name,
            next=self.nodes[self.token.n],
            t=self.token.t,
            removed=[(self.nodes[entry.sender], self.name(entry), entry.cycle) for entry in removed],
            incremented=[self.nodes[sender] for sender in raised],
            state=[(self.nodes[entry.sender], self.name(entry), entry.cycle, entry.counter) for entry in state],
            committed=[cycle for cycle, _ in committed],
            delivered=[each for _, found in committed for each in self.names(found)],
        )
