"""DTP, CM, Pinwheel and Totem under random faults; and the wrong lines that those faults must find."""

import pytest

from ordercast.parts.token_passing import TokenPassing
from ordercast.protocols.cm import CM
from ordercast.protocols.dtp import DTP
from ordercast.protocols.pinwheel import Pinwheel
from ordercast.protocols.totem import Totem
from tests.schedules import random_run, verdict

PROTOCOLS = [(DTP, {}), (CM, {}), (CM, {"via": "token"}), (Pinwheel, {"m": 3}), (Totem, {"window": 8, "visit": 3})]
NAMES = [kind.name + "-via-token" * ("via" in parameters) for kind, parameters in PROTOCOLS]


@pytest.mark.parametrize(("kind", "parameters"), PROTOCOLS, ids=NAMES)
def test_promises_hold_under_random_faults(kind, parameters):
    for seed in range(50):
        assert not verdict(kind, random_run(kind, seed, parameters=parameters)), f"seed {seed}"


@pytest.mark.campaign
@pytest.mark.parametrize(("kind", "parameters"), PROTOCOLS, ids=NAMES)
def test_promises_hold_under_a_thousand_random_fault_schedules(kind, parameters):
    for seed in range(1000):
        assert not verdict(kind, random_run(kind, seed, parameters=parameters)), f"seed {seed}"


@pytest.mark.parametrize("F", [1, 2])
def test_an_f_resilient_group_delivers_the_same(F):  # noqa: N803
    for seed in range(20):
        run = random_run(DTP, seed, sizes=(3, 4, 5), parameters={"F": F})
        assert not verdict(DTP, run), f"seed {seed}"


# ---------------------------------------------------------------------- mutants: one wrong line each


class PassesAreNotNumbered(DTP):
    """Any ACK that names me makes me the holder."""

    def on_ack(self, src, ack):
        super().on_ack(src, ack)
        if ack.next == self.me and self.token != "HOLD":
            self.token = "HOLD"
            self.acknowledge()

    handlers = {**TokenPassing.handlers}


PassesAreNotNumbered.handlers = {
    kind: (PassesAreNotNumbered.on_ack if handler is TokenPassing.on_ack else handler)
    for kind, handler in TokenPassing.handlers.items()
}


class CountsWhatItLacks(DTP):
    """R[me] rises on the ACK, before a lost U is recovered: others believe that I hold it."""

    def broadcast(self, payload, to=None):
        held = self.R[self.me]
        self.R[self.me] = max(held, self.highest)
        try:
            super().broadcast(payload, to)
        finally:
            self.R[self.me] = max(held, min(self.R[self.me], self.given))


class AcknowledgesBeforeRecovering(DTP):
    """The new holder gives out places before it knows those that were given."""

    def acknowledge(self):
        self.passed = min(self.passed, self.R[self.me])
        super().acknowledge()


class DropsTooEarly(DTP):
    """One message too many is taken for stable."""

    def on_lowest(self):
        self.known = max(self.known, self.lowest + 1)


class StableWhenTheFastestHasIt(Pinwheel):
    def hear(self, member, hgsn):
        super().hear(member, hgsn)
        self.known = max(self.R.values())


class CountsOnePassTooFew(CM):
    """Stable after n - 2 later ACKs."""

    def note(self, turn, gsn):
        super().note(turn, gsn)
        last = max(turn, self.turn) - len(self.members) + 2
        self.known = max(self.known, *(at for each, at in self.turns.items() if each <= last or not each))


class ForgetsItsMessage(DTP):
    """A MSG that was lost is not sent again."""

    timers = {**TokenPassing.timers, "message": lambda self: None}


class ForgetsTheToken(CM):
    """A pass of the token that was lost is not repeated."""

    timers = {**TokenPassing.timers, "token": lambda self: None}


class AsksOnce(Pinwheel):
    """A REQ that was lost is not sent again."""

    timers = {**TokenPassing.timers, "request": lambda self: None}


class TakesEverything(DTP):
    """A member that lags fills its BUF with MSGs it cannot place."""

    def has_space(self, key):
        return True


class OrdersOutOfTurn(Pinwheel):
    """Of several MSGs of one sender, the one that came first is ordered first."""

    def in_turn(self):
        return tuple(self.unacked)


class RepeatsAreNewTokens(Totem):
    """A repeated token is taken for the next one."""

    def on_token(self, src, token):
        self.token = None
        super().on_token(src, token)


RepeatsAreNewTokens.handlers = {
    kind: (RepeatsAreNewTokens.on_token if kind.__name__ == "Token" else handler)
    for kind, handler in Totem.handlers.items()
}


class StableOnTheFirstVisit(Totem):
    """What the token says on one visit is believed."""

    def settle(self, stable):
        super().settle(max(stable, min(self.have, self.token.seq if self.token else 0)))


class DeliversOnArrival(Totem):
    """In the order of arrival instead of that of the numbers."""

    def take(self, message):
        self.buf[message.seq] = message
        self.port.deliver(message.origin, message.n, message.payload)
        while self.have + 1 in self.buf:
            self.have += 1


class IgnoresRequests(Totem):
    """Nothing is sent again."""

    def on_token(self, src, token):
        super().on_token(src, type(token)(token.turn, token.seq, token.aru, token.aru_id, (), token.fcc))


IgnoresRequests.handlers = {
    kind: (IgnoresRequests.on_token if kind.__name__ == "Token" else handler)
    for kind, handler in Totem.handlers.items()
}


class SendsWithoutEnd(Totem):
    """No limit on what is not known stable."""

    def visit(self):
        stable, self.stable = self.stable, 10**9
        wanted = self.token.rtr
        self.token = type(self.token)(
            self.token.turn, self.token.seq, self.token.aru, self.token.aru_id, wanted, self.last_sent
        )
        try:
            super().visit()
        finally:
            self.stable = stable


MUTANTS = [
    PassesAreNotNumbered,
    CountsWhatItLacks,
    AcknowledgesBeforeRecovering,
    DropsTooEarly,
    StableWhenTheFastestHasIt,
    CountsOnePassTooFew,
    ForgetsItsMessage,
    ForgetsTheToken,
    AsksOnce,
    TakesEverything,
    OrdersOutOfTurn,
    RepeatsAreNewTokens,
    StableOnTheFirstVisit,
    DeliversOnArrival,
    IgnoresRequests,
    SendsWithoutEnd,
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_a_wrong_line_is_found(mutant):
    parameters = dict(PROTOCOLS[NAMES.index(mutant.name)][1])
    right = mutant.__mro__[1]
    for seed in range(400):
        run = random_run(right, seed, parameters=parameters)
        if verdict(mutant, run):
            assert not verdict(right, run)
            return
    pytest.fail("400 schedules did not find it")
