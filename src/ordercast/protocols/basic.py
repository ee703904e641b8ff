"""The basic algorithm, GK's rival (sections 3 and 6): a copy to every host, again and again until each acknowledges.

Every message goes out from its source separately to each host, and again after `resend` to those who have not
acknowledged.  Nobody else helps: what a crashed source sent to some only, the others never get.  GK says neither how
often nor how much.  Here the wait doubles with every repetition, up to `slowest` (at a constant rate a slow link never
recovers: what is sent again fills it, and new messages wait behind); and at most `window` messages wait for
acknowledgments, then the source waits.  A host
that comes back without memory is sent what it has not acknowledged; a source that does broadcasts no more, because the
others take its numbers for old ones.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from ordercast.core import LINK_FAULTS, Contract, Message, Parameters, Pid, Process
from ordercast.parts import runs
from ordercast.parts.runs import Runs


class Copy(Message, frozen=True):
    """One host's copy of the `n`-th message of its source."""

    carries: ClassVar[Literal["payload", "control"]] = "payload"
    source: Pid
    n: int
    payload: bytes

    def about(self) -> tuple[Pid, int]:
        return self.source, self.n


class Ack(Message, frozen=True):
    """To the source: I have your `n`-th message."""

    n: int


class BasicParameters(Parameters, frozen=True, kw_only=True):
    resend: Annotated[
        float, Meta(gt=0, description="without an acknowledgment, a copy is sent again", extra={"unit": "s"})
    ] = 0.5
    slowest: Annotated[float, Meta(gt=0, description="the wait doubles each time, up to this", extra={"unit": "s"})] = (
        8.0
    )
    window: Annotated[int, Meta(ge=1, description="not yet acknowledged by all", extra={"unit": "messages"})] = 10_000


class Basic(Process):
    name = "basic"
    contract = Contract(
        paper="GK",
        title="Reliable broadcast by separate copies and acknowledgments: the basic algorithm",
        order="none",
        levels=("reliable",),
        safe_under=(*LINK_FAULTS, "pause", "outage", "partition"),
        live_under=(*LINK_FAULTS, "pause", "outage", "partition"),
        bounds={"outstanding": "`window` messages of each source"},
    )
    Parameters = BasicParameters
    parameters: BasicParameters
    joins = "as_same"

    def start(self, joining: bool = False) -> None:
        self.ended = joining  # the others would take my numbers for old ones
        self.sent = 0
        self.outstanding: dict[int, bytes] = {}  # n -> payload, until all have acknowledged
        self.lacking: dict[int, dict[Pid, None]] = {}  # n -> who has not
        self.wait: dict[int, float] = {}  # n -> until it is sent again
        self.received: dict[Pid, Runs] = {}  # source -> what I have of it

    def ready(self) -> bool:
        return not self.ended and len(self.outstanding) < self.parameters.window

    def broadcast(self, payload: bytes, to: Sequence[Pid] | None = None) -> None:
        n, self.sent = self.sent, self.sent + 1
        hosts = self.members if to is None else to
        if self.me in hosts:
            self.port.deliver(self.me, n, payload)
        others = dict.fromkeys(host for host in hosts if host != self.me)
        if others:
            self.outstanding[n], self.lacking[n] = payload, others
            self.wait[n] = self.parameters.resend
            self.on_resend(n)

    def on_resend(self, n: int) -> None:
        for host in self.lacking[n]:
            self.port.send(host, Copy(self.me, n, self.outstanding[n]))
        self.port.set_timer(("resend", n), self.wait[n])
        self.wait[n] = min(2 * self.wait[n], max(self.parameters.resend, self.parameters.slowest))

    def on_copy(self, src: Pid, message: Copy) -> None:
        self.port.send(src, Ack(message.n))
        had = self.received.get(src, runs.NOTHING)
        if not runs.has(had, message.n):
            self.received[src] = runs.add(had, message.n)
            self.port.deliver(src, message.n, message.payload)

    def on_ack(self, src: Pid, message: Ack) -> None:
        lacking = self.lacking.get(message.n)
        if lacking is not None and src in lacking:
            del lacking[src]
            if not lacking:
                del self.lacking[message.n], self.outstanding[message.n], self.wait[message.n]
                self.port.cancel_timer(("resend", message.n))

    def buffers(self) -> Mapping[str, tuple[int, int]]:
        return {"outstanding": (len(self.outstanding), self.parameters.window)}

    handlers = {Copy: on_copy, Ack: on_ack}
    timers = {"resend": on_resend}
