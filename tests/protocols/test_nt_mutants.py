"""Deliberately wrong PO and TO: the campaign must catch each of them."""

import msgspec
import pytest

from ordercast.parts.entity import DataPdu
from ordercast.parts.merged_channel import MergedChannel
from ordercast.parts.receipt_logs import ReceiptLogs
from ordercast.protocols import po, to
from ordercast.protocols.po import PO
from ordercast.protocols.to import TO, TOMerged
from tests.parts.test_receipt_logs import (
    AnyInsteadOfAll,
    IndicesExchanged,
    NoAckCondition,
    PreAcknowledgersUnpacked,
)
from tests.protocols.nt_runs import wrong_with


def on(kind, logs):
    """The protocol on wrong logs."""

    class OnWrongLogs(kind):
        def __init__(self, *args):
            super().__init__(*args)
            self.logs = logs(self.members, self.me, reading=self.parameters.reading, one_log=self.one_log)

    OnWrongLogs.__name__ = f"{kind.__name__} on {logs.__name__}"
    return OnWrongLogs


class FreshA(PO):
    """A PDU sent again carries today's A.  Its first copy may be a pre-acknowledger elsewhere, this one here."""

    def on_lack(self, src, lack):
        for p in self.SL:
            if p.SEQ in lack.SEQs:
                fresh = [p.SEQ if h == self.logs.me else req for h, req in enumerate(self.logs.REQ)]
                self.port.send(src, msgspec.structs.replace(p, A=tuple(fresh)))

    handlers = {**PO.handlers, po.Lack: on_lack}


class NeverAsks(PO):
    """What is lost is never asked for."""

    def on_ask(self):
        self.asking = False
        self._watch()

    timers = {**PO.timers, "ask": on_ask}


class NoEmptyPdus(PO):
    """A quiet cluster is left as it is."""

    def on_idle(self):
        self.idling = False

    timers = {**PO.timers, "idle": on_idle}


class EmptyPdusNeedBuffers(PO):
    """Empty PDUs are bound by minF like data, and empty PDUs are all there is to say."""

    def on_idle(self):
        self.idling = False
        if self.flows():
            self.send_empty()
        self.settle()

    timers = {**PO.timers, "idle": on_idle}


class SourceBySource(PO):
    """A step's PDUs are handed over source by source, instead of as they were received."""

    def moved(self, step):
        super().moved(type(step)(*(sorted(pdus, key=lambda p: (p.SRC, p.SEQ)) for pdus in step)))


class AheadReceived(PO):
    """p.A_h > REQ_h is overlooked."""

    def __init__(self, *args):
        super().__init__(*args)
        verdict = self.logs.verdict
        self.logs.verdict = lambda p: verdict(p).replace("A_ahead", "accept")


class AgainWithoutReset(TO):
    """What was lost is sent again, and taken where it comes."""

    def _leave(self):
        behind = [h for h, member in enumerate(self.members) if member != self.me]
        for h in behind:
            wanted = tuple(range(self.logs.REQ[h], self.logs.REQ[h] + self.parameters.W))
            self.port.send(self.members[h], to.Lack(self.epoch, wanted))

    def _keep(self, p):
        pass

    def on_again(self, src, again):
        if self.logs.verdict(again.p) == "accept":
            self.accept(again.p)
        self.settle()

    handlers = {**TO.handlers, to.Again: on_again}


class GoesOnReceiving(TO):
    """Having said how far it came, it receives on."""

    def _pdu(self, p):
        if self.reports and self.logs.verdict(p) == "accept":
            self.accept(p)
        else:
            super()._pdu(p)


class ForgetsItsOwn(TO):
    """Its report leaves out its own PDUs that are still in the channel."""

    def _report(self):
        return tuple(self.logs.REQ)


class GoesBackTooLittle(TO):
    """f is the most that anyone has, instead of the least."""

    def _agreed(self, begin):
        if self.reports:
            begin = msgspec.structs.replace(begin, f=tuple(map(max, zip(*self.reports.values(), strict=True))))
        super()._agreed(begin)


class KeepsItsOrder(TO):
    """What is not below f stays where it is, and what was missing follows."""

    def in_order(self, tail):
        return tail


class TailUnconfirmed(ReceiptLogs):
    """What a reset appended is acknowledged without a word of its source."""

    def _acks(self, p):
        self.tail = self.base
        return super()._acks(p)


class NobodyNeedBeAware(ReceiptLogs):
    """What lies below f is acknowledged at once: who has not heard of the new epoch does not matter."""

    def _acks(self, p):
        return self.base[self.rank[p.SRC]] > p.SEQ or super()._acks(p)


class LogPerSource(TO):
    """PO's logs under TO."""

    one_log = False


class HoldsNothingBack(TOMerged):
    """Frames are taken as they come, not as their times say."""

    def __init__(self, *args):
        super().__init__(*args)
        self.channel._passed = lambda at, src: True


class LateAfterAll(TOMerged):
    """A frame that comes after later ones of its sender is taken after all."""

    def __init__(self, *args):
        super().__init__(*args)
        self.channel = Overtaken(self.members, self.me)


class Overtaken(MergedChannel):
    def put(self, src, stamp, frame=None):
        if src != self.me and stamp[1] <= self.heard[src] and isinstance(frame, DataPdu):
            self.queue.insert(0, (stamp[1], src, frame))
        super().put(src, stamp, frame)


MUTANTS = [
    *(on(PO, logs) for logs in (IndicesExchanged, AnyInsteadOfAll, NoAckCondition, PreAcknowledgersUnpacked)),
    FreshA,
    NeverAsks,
    NoEmptyPdus,
    EmptyPdusNeedBuffers,
    SourceBySource,
    AheadReceived,
    *(on(TO, logs) for logs in (IndicesExchanged, AnyInsteadOfAll, NoAckCondition, PreAcknowledgersUnpacked)),
    AgainWithoutReset,
    GoesOnReceiving,
    ForgetsItsOwn,
    GoesBackTooLittle,
    KeepsItsOrder,
    on(TO, TailUnconfirmed),
    on(TO, NobodyNeedBeAware),
    LogPerSource,
    HoldsNothingBack,
    LateAfterAll,
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda kind: kind.__name__)
def test_a_mutant_is_caught(mutant):
    assert any(wrong_with(mutant, seed) for seed in range(200))
