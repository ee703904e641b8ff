"""The vote of the counter protocol's nodes on their list: the token is lost, or somebody comes, goes or fails (CH 3.3).

`parts/token_list.py` has what is voted on and how votes count; here are the messages and the timers of it.
"""

from collections.abc import Sequence

from ordercast.core import Pid, Port
from ordercast.parts.counter_node import Node, NodeParameters
from ordercast.parts.counter_state import T
from ordercast.parts.token_list import Agree, Agreement, Answer, Call, Propose, quorum, rebuilt, runs


class Voter(Node):
    """Node x, with a say in who else is in the list."""

    def __init__(self, me: Pid, members: Sequence[Pid], port: Port, parameters: NodeParameters | None = None) -> None:
        super().__init__(me, members, port, parameters)
        self.agreement = Agreement()  # on the next configuration
        self.joining: dict[Pid, int] = {}  # who asked to be taken in -> the last `Past` it has dealt with
        self.leaving = False
        self.tries = 0  # how often I repeated what the present timer repeats

    # ------------------------------------------------------------------ what the protocol adds

    def on_t(self, src: Pid, token: T) -> None:
        raise NotImplementedError  # abstract

    def enter(self, token: T) -> None:
        """The first token that I see of a configuration."""
        raise NotImplementedError  # abstract

    def expel(self, token: T) -> None:
        """The list goes on without me."""
        raise NotImplementedError  # abstract

    def absent(self) -> tuple[tuple[Pid, int], ...]:
        """Who was deleted, by which configuration."""
        raise NotImplementedError  # abstract

    def go(self) -> None:
        self.halt()
        self.state = "gone"

    def outside(self, token: T) -> None:
        self.halt()
        self.state, self.token, self.agreement = "outside", token, Agreement()

    def halt(self) -> None:
        """Stop whatever I was about to do with the token."""
        for timer in ("token_owner", "lost", "reissue", "silence", "call", "join"):
            self.port.cancel_timer(timer)
        for key in self.asked:
            self.port.cancel_timer(("request", *key))
        self.asked.clear()
        if self.state != "gone":
            self.state = "idle"

    # ------------------------------------------------------------------ the token is lost

    def listen(self) -> None:
        parameters = self.parameters
        patience = (parameters.tries + 2) * (parameters.token_timeout + parameters.reissue_delay)
        rank = self.ring.place(self.me) + 1  # so that not all call at once
        self.port.set_timer("silence", patience + parameters.token_time + rank * parameters.token_timeout / 2)

    def pass_on(self) -> None:
        self.tries = 0
        super().pass_on()

    def on_lost(self) -> None:
        """I passed the token on and heard no next one: issue it again after a random delay, L times (3.3)."""
        if self.tries < self.parameters.tries:
            self.tries += 1
            self.port.set_timer("reissue", self.parameters.reissue_delay * self.port.random())
        elif self.state == "outside":
            self.expel(self.token)
        else:
            self.port.suspect(self.token.n)
            self.call()

    def on_reissue(self) -> None:
        self.port.multicast(self.token, self.others())
        self.port.set_timer("lost", self.parameters.token_timeout)

    def on_silence(self) -> None:
        """No token for long: whoever passed it on last may have crashed with it."""
        self.call()

    # ------------------------------------------------------------------ the vote on the next configuration

    def change_list(self) -> bool:
        due = bool(self.joining) or (self.leaving and self.done.get(self.me, 0) == self.sent)
        if due and self.leaving and len(self.ring.nodes) == 1:
            self.go()
        elif due:
            self.call()
        return due

    def call(self) -> None:
        self.halt()
        self.tries = 0
        self.agreement.promise(self.agreement.call(self.me))
        self.agreement.answers[self.me] = self.answer()
        self.poll()

    def poll(self) -> None:
        agreement = self.agreement
        assert agreement.ballot is not None
        rest = tuple(node for node in self.ring.nodes if node not in agreement.answers)
        if rest:
            self.port.multicast(Call(agreement.ballot, self.token), rest)
            self.port.set_timer("call", self.parameters.token_timeout)
        else:
            self.conclude()

    def answer(self) -> Answer:
        held = runs(key for key in self.store if key[0] != self.me)
        agreement = self.agreement
        return Answer(agreement.promised, self.token, agreement.accepted, self.ledger.next, held, self.absent())

    def on_call(self, src: Pid, call: Call) -> None:
        number = call.token.ring.number
        if number > self.token.ring.number:
            self.on_t(src, call.token)  # I missed that this configuration began
        if self.state in ("idle", "owner") and number == self.ring.number:
            if self.agreement.promise(call.ballot):
                self.halt()
                self.listen()
            self.port.send(src, self.answer())
        elif self.state != "gone" and number < self.token.ring.number:
            self.port.send(src, self.token)

    def on_answer(self, src: Pid, answer: Answer) -> None:
        agreement = self.agreement
        if self.state != "idle" or answer.token.ring.number != self.ring.number:
            return
        if agreement.hear(src, answer) and agreement.value is None and len(agreement.answers) == len(self.ring.nodes):
            self.conclude()

    def on_call_due(self) -> None:
        agreement = self.agreement
        assert agreement.ballot is not None
        self.tries += 1
        enough = self.tries >= self.parameters.tries
        if agreement.highest > agreement.ballot[0] or (agreement.value is not None and enough):
            self.call()
        elif agreement.value is not None:
            self.propose()
        elif enough and quorum(self.ring, agreement.answers):
            self.conclude()  # whoever does not answer is deleted
        else:
            self.poll()

    def conclude(self) -> None:
        """Enough have answered: what may have been decided already, or else the list of those who did."""
        agreement = self.agreement
        leaving = self.leaving and self.done.get(self.me, 0) == self.sent
        if leaving and len(agreement.answers) == 1 and not self.joining and agreement.bound() is None:
            self.go()
            return
        agreement.value = agreement.bound() or rebuilt(self.me, agreement.answers, self.joining, leaving)
        self.tries = 0
        self.propose()

    def propose(self) -> None:
        agreement = self.agreement
        assert agreement.ballot is not None
        assert agreement.value is not None
        agreement.accept(agreement.ballot, agreement.value)
        self.port.multicast(Propose(agreement.ballot, agreement.value), self.others())
        self.port.set_timer("call", self.parameters.token_timeout)
        self.on_agree(self.me, Agree(agreement.ballot, self.ring.number))

    def on_propose(self, src: Pid, proposal: Propose) -> None:
        number = proposal.token.ring.number - 1
        if self.state in ("idle", "owner") and number == self.ring.number:
            if self.agreement.accept(proposal.ballot, proposal.token):
                self.halt()
                self.listen()
                self.port.send(src, Agree(proposal.ballot, number))
        elif self.state != "gone" and number < self.token.ring.number:
            self.port.send(src, self.token)

    def on_agree(self, src: Pid, agree: Agree) -> None:
        agreement = self.agreement
        if self.state != "idle" or agree.number != self.ring.number or not agreement.agree(src, agree.ballot):
            return
        if quorum(self.ring, agreement.agreed):
            assert agreement.value is not None
            self.begin(agreement.value)

    def begin(self, token: T) -> None:
        """The next configuration is decided: hand its token over."""
        nodes = (*self.ring.nodes, *(node for node in token.ring.nodes if node not in self.ring.nodes))
        self.port.multicast(token, tuple(node for node in nodes if node != self.me))
        if self.me in token.ring.nodes:
            self.enter(token)
        else:
            self.outside(token)
        if token.n != self.me:
            self.tries = 0
            self.port.set_timer("lost", self.parameters.token_timeout)
