"""What is promised of every world, by the contract of the protocol and the checker's own functions."""

from collections.abc import Sequence
from typing import TypeAlias

from ordercast.core import Process
from ordercast.explore.cells import Face
from ordercast.explore.worlds import Budget, Channel
from ordercast.spec import FURTHER, History, check
from ordercast.spec.verdict import AT_THE_END

Broken: TypeAlias = tuple[str, str]  # the property, and a sentence


class Judge:
    """Judges the faces of a world's members.  Deliveries that may be withdrawn count at the end alone."""

    def __init__(self, kind: type[Process], channel: Channel) -> None:
        contract = kind.contract
        promised = [name for name in contract.promises() if name not in FURTHER]
        heals = [name for name in promised if name in AT_THE_END or (kind.withdraws and name != "integrity")]
        self.always = [name for name in promised if name not in heals]
        self.at_the_end = heals
        self.reports_stable = "stable" in contract.reports
        self.live_under = contract.live_under
        self.overtaking = channel == "any"

    def always_broken(self, faces: Sequence[Face]) -> Broken | None:
        """What these members show that must never be, wherever they go from here."""
        return self._stable(faces) or self._violated(faces, self.always)

    def broken_at_the_end(self, faces: Sequence[Face], used: Budget) -> Broken | None:
        """The same of a world in which nothing can happen any more, with what was spent on the way to it."""
        faults = {"loss": used.losses, "duplication": used.duplicates, "crash": used.crashes}
        faults["reordering"] = self.overtaking
        if any(spent and name not in self.live_under for name, spent in faults.items()):
            return None
        found = self._violated(faces, self.at_the_end)
        return found and (found[0], f"{found[1]}: no timer is armed to mend it")

    def _violated(self, faces: Sequence[Face], properties: Sequence[str]) -> Broken | None:
        members = [(str(p), "crashed" if face.dead else "correct", face.log) for p, face in enumerate(faces)]
        for name, verdict in check(History.from_logs(members), properties).items():
            if verdict.result == "violated":
                return name, verdict.witness or name
        return None

    def _stable(self, faces: Sequence[Face]) -> Broken | None:
        if not self.reports_stable:
            return None
        for p, face in enumerate(faces):
            for origin, below in sorted(face.stable):
                for q, other in enumerate(faces):
                    for n in range(below):
                        if not other.dead and (origin, n) not in other.held:
                            return "safe", f"{p} reports ({origin}, {n}) stable, which {q} does not hold"
        return None
