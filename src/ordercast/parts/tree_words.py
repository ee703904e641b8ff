"""What the hosts of GK's tree say to one another, and what they are told to be: its messages and parameters.

Each message names the source it is about, and which life of it: 0 is its first, another begins with its return from a
crash.  The events are those of Appendix I.
"""

from typing import Annotated, ClassVar, Literal, TypeAlias

from msgspec import Meta

from ordercast.core import Message, Parameters, Pid
from ordercast.parts.runs import Runs

Described: TypeAlias = tuple[tuple[Pid, Runs | None], ...]  # a DESC: host -> what it has; none: not known any more
Assignment: TypeAlias = tuple[tuple[Pid, ...], ...]  # a priority list for each member


class Data(Message, frozen=True):
    """A broadcast message, from its source or from whoever fills.  Below `floor` nothing will be sent again."""

    carries: ClassVar[Literal["payload", "control"]] = "payload"
    source: Pid
    n: int
    floor: int
    payload: bytes
    life: int = 0
    again: bool = False  # somebody fills: it is not the source's first word of it

    def about(self) -> tuple[Pid, int]:
        return self.source, self.n


class Null(Message, frozen=True):
    """The source has nothing to say; its messages below `end` exist."""

    source: Pid
    end: int
    floor: int
    life: int = 0


class Probe(Message, frozen=True):
    """Who is your coordinator?  (event 2)"""

    source: Pid
    life: int = 0


class Coordinator(Message, frozen=True):
    """Coordinator is `coord`.  (event 3)"""

    source: Pid
    coord: Pid
    life: int = 0


class Desc(Message, frozen=True):
    """I, and these hosts that I speak for, have this.  (event 4)"""

    source: Pid
    hosts: Described
    life: int = 0


class IAmCoordinator(Message, frozen=True):
    """I am coordinator; my group holds this.  `call`: answer, whatever you have.  (event 6)"""

    source: Pid
    holds: Runs
    floor: int
    call: bool
    life: int = 0


class Ask(Message, frozen=True):
    """Fill this: you have what I and others of my group lack.  (Appendix I, on event 4)"""

    source: Pid
    hosts: Described
    life: int = 0


class Status(Message, frozen=True):
    """To the source: I have everything below `below`."""

    source: Pid
    below: int
    life: int = 0


Worded: TypeAlias = Data | Null | Probe | Coordinator | Desc | IAmCoordinator | Ask | Status


def seconds(text: str) -> Meta:
    return Meta(gt=0, description=text, extra={"unit": "s"})


class TreeParameters(Parameters, frozen=True, kw_only=True):
    sources: Annotated[tuple[Pid, ...], Meta(description="who broadcasts; none named: every member")] = ()
    lists: Annotated[
        tuple[Assignment, ...],
        Meta(description="for each source, every member's priority list; none: nothing is known of the network"),
    ] = ()
    dynamic: Annotated[bool, Meta(description="probe in the order of what a path costs now")] = False
    fifo: Annotated[bool, Meta(description="deliver in the source's order")] = False
    delta: Annotated[float, seconds("a source that was silent for this long sends a null message")] = 0.5
    m: Annotated[float, Meta(ge=1, description="so many deltas of silence are a failure")] = 3.0
    respond_within: Annotated[float, seconds("a probe unanswered for this long goes to the next of the list")] = 0.1
    probe_every: Annotated[float, seconds("between probes once the list was gone through in vain")] = 0.5
    announce_every: Annotated[float, seconds("between a coordinator's announcements")] = 0.5
    coordinator_timeout: Annotated[float, seconds("of silence from one's coordinator that set off a new search")] = 2.0
    gather: Annotated[float, Meta(ge=0, description="wait for more DESCs before filling", extra={"unit": "s"})] = 0.02
    status_every: Annotated[float, seconds("between reports to the source of how far one is whole")] = 1.0
    history: Annotated[int, Meta(ge=1, description="kept by anybody, of each source", extra={"unit": "messages"})] = (
        10_000
    )
    when_full: Annotated[
        Literal["wait", "drop"], Meta(description="full history: the source waits, or the oldest message is given up")
    ] = "wait"
