"""The columns of a trace: one row per event of a run, typed, fixed width; and what a row's numbers point to.

`docs/trace.md` explains each column.  A simulated run, a live member and a foreign system write the same columns.
"""

import hashlib
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

FORMAT = 1  # raised when a column changes its meaning

KINDS = (
    "broadcast",  # the application asks, waiting included: origin, n, to
    "send",  # a frame is handed to the channel: message, bytes, to; origin and n where it concerns a broadcast
    "receive",  # a frame arrived; cause is the row of the send
    "drop",  # a copy was lost on its way to `member`; level says why (DROPS)
    "deliver",  # handed to the application: origin, n, and position, the number of deliveries before it here
    "withdraw",  # the last n deliveries here are taken back
    "reach",  # all of origin's broadcasts below n have reached a level (REACHES)
    "timer",  # a timer expired; message is its name
    "view",  # to: the members of the view
    "join",
    "leave",
    "crash",
    "restart",  # position: the member (index) that this one follows
    "pause",  # n: 1 it begins, 0 it ends
    "outage",  # n: 1 it begins, 0 it ends
    "cut",  # the recording of this member ends here, before the run does
    "suspect",  # origin: the member that does not answer
)
(
    BROADCAST,
    SEND,
    RECEIVE,
    DROP,
    DELIVER,
    WITHDRAW,
    REACH,
    TIMER,
    VIEW,
    JOIN,
    LEAVE,
    CRASH,
    RESTART,
    PAUSE,
    OUTAGE,
    CUT,
    SUSPECT,
) = range(len(KINDS))

DROPS = ("", "loss", "partition", "outage", "overrun", "crash", "garbled")  # why a copy was dropped
REACHES = ("", "stable", "known")

ROW = np.dtype(
    [
        ("time", "<f8"),  # seconds from the start of the run
        ("position", "<i8"),
        ("member", "<i4"),  # index into `members`: whose event it is
        ("to", "<i4"),  # index into `sets`; -1: all
        ("origin", "<i4"),  # index into `members`; -1: none
        ("n", "<i4"),
        ("bytes", "<i4"),
        ("cause", "<i4"),  # row of this run that caused it; -1: none, or not recorded
        ("message", "<i2"),  # index into `messages`: kind of message, or name of timer; -1: none
        ("kind", "u1"),  # index into KINDS
        ("level", "u1"),  # REACHES for `reach`, DROPS for `drop`
    ]
)
PACKING = "<dqiiiiiihBB"  # struct's form of ROW, in this order

Rows: TypeAlias = npt.NDArray[Any]  # a structured array of ROW
Status: TypeAlias = Literal["correct", "crashed", "cut"]


class Member(msgspec.Struct, frozen=True):
    """A member of a run; what comes back after a crash is another one, `name.incarnation`."""

    name: str
    status: Status = "correct"


class RunInfo(msgspec.Struct, kw_only=True):
    """What a run's rows point to, and where they come from.  It travels in the file beside them."""

    run: str
    members: list[Member]
    sets: list[list[int]] = []  # destinations and views: member indices, ascending
    messages: list[str] = []  # kinds of messages and names of timers
    finished: bool = True  # the run was left to finish: the end-of-run properties may be judged
    faults_met: list[str] = []  # kinds of fault that met traffic
    common_clock: bool = True  # times of different members can be compared
    protocol: str = ""  # the catalog's name, for the contract; empty: a foreign system
    parameters: Mapping[str, Any] = {}  # what the run was made from: enough to make it again
    provenance: Mapping[str, str] = {}  # code version and such
    facts: Mapping[str, Any] = {}  # numbers that rows do not hold: size of the measured part, bounds met
    format: int = FORMAT


class Trace(msgspec.Struct):
    """One run: its rows, in the order of recording (so each member's rows are in that member's order), and its info."""

    info: RunInfo
    rows: Rows

    def digest(self) -> str:
        """The hash by which runs are compared: over the columns, never over the bytes of a file."""
        out = hashlib.sha256()
        for name in ROW.names or ():
            out.update(np.ascontiguousarray(self.rows[name]).tobytes())
        named = [[member.name, member.status] for member in self.info.members]
        out.update(msgspec.json.encode([named, self.info.sets, self.info.messages]))
        return out.hexdigest()[:32]
