"""Does a protocol take broadcasts to a part of the group?  A process is pure, so one can be asked that does nothing."""

from collections.abc import Sequence

from ordercast.core import Parameters, Pid, Process


def knows_parts(kind: type[Process], members: Sequence[Pid], parameters: Parameters) -> bool:
    """Would a member take a broadcast to itself alone?  What orders for the whole group says `ValueError`."""
    process = kind(members[0], members, _Nowhere(), parameters)
    process.start()
    try:
        process.broadcast(b"", (members[0],))
    except ValueError:
        return False
    return True


class _Nowhere:
    def ignore(self, *arguments: object) -> None:
        pass

    send = multicast = deliver = set_timer = cancel_timer = reach = view = suspect = withdraw = ignore

    def room(self) -> int:
        return 1 << 10

    def cost(self, to: Pid) -> float:
        return 1.0

    def random(self) -> float:
        return 0.5

    def now(self) -> float:
        return 0.0
