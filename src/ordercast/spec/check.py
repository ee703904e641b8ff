"""From a run to its verdicts, and from verdicts and a contract to what was promised and broken."""

from collections.abc import Callable, Iterable, Mapping

import msgspec

from ordercast.core import Contract
from ordercast.spec import causality, cycles, ends, further, order
from ordercast.spec.further import measurable
from ordercast.spec.history import History
from ordercast.spec.verdict import AT_THE_END, FURTHER, PROPERTIES, Verdict, strongest
from ordercast.trace import Trace

_CHECKS: Mapping[str, Callable[[History], Verdict]] = {
    "integrity": ends.integrity,
    "validity": ends.validity,
    "agreement": ends.agreement,
    "uniform_agreement": ends.uniform_agreement,
    "fifo": causality.fifo,
    "causal": causality.causal,
    "total_order": order.total_order,
    "uniform_total_order": order.uniform_total_order,
    "single_order": cycles.single_order,
    "gap_free": order.gap_free,
    "safe": further.safe,
    "bounded": further.bounded,
    "live": further.live,
}
assert tuple(_CHECKS) == PROPERTIES + FURTHER


def check(run: History | Trace, properties: Iterable[str] | None = None) -> dict[str, Verdict]:
    """The verdict of each property: of those named, or of all that the run has something to say about."""
    history = run if isinstance(run, History) else History.from_trace(run)
    wanted = (*PROPERTIES, *measurable(history)) if properties is None else tuple(properties)
    for name in wanted:
        if name not in _CHECKS:
            raise ValueError(f"no property is called {name!r}; there are: {', '.join(_CHECKS)}")
    return {name: _CHECKS[name](history) for name in wanted}


class Judgement(msgspec.Struct, frozen=True):
    """A run beside its protocol's contract.  A property that was never promised may fail without being `broken`."""

    verdicts: dict[str, Verdict]
    promised: tuple[str, ...]  # what the contract promises under the faults that this run met
    strongest: list[str]

    @property
    def broken(self) -> tuple[str, ...]:
        """The promises that the run broke."""
        return tuple(name for name in self.promised if self.verdicts[name].result == "violated")


def judge(run: History | Trace, contract: Contract) -> Judgement:
    """Check a run and set the verdicts beside what its protocol promises under the faults that the run met."""
    history = run if isinstance(run, History) else History.from_trace(run)
    asked = [name for name in contract.promises() if name in FURTHER]  # not measured is an answer, too
    verdicts = check(history, dict.fromkeys((*PROPERTIES, *measurable(history), *asked)))
    met = history.info.faults_met
    promised = tuple(name for name in contract.promises() if name in verdicts)
    if any(fault not in contract.safe_under for fault in met):
        promised = ()
    elif any(fault not in contract.live_under for fault in met):
        promised = tuple(name for name in promised if name not in AT_THE_END)
    return Judgement(verdicts, promised, strongest(verdicts))
