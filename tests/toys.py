"""Small protocols for testing the house itself."""

from ordercast.core import Contract, Message, Process


class Word(Message, frozen=True):
    carries = "payload"
    origin: int
    n: int
    payload: bytes

    def about(self):
        return (self.origin, self.n)


class Flood(Process):
    """Multicast and deliver at once: no order, no recovery."""

    name = "flood"
    contract = Contract(
        paper="none",
        title="flood",
        order="none",
        levels=("reliable",),
        safe_under=(),
        live_under=("delay", "reordering"),
    )

    def __init__(self, *args):
        super().__init__(*args)
        self.sent = 0

    def broadcast(self, payload, to=None):
        self.port.multicast(Word(self.me, self.sent, payload), to)
        if to is None or self.me in to:
            self.port.deliver(self.me, self.sent, payload)
        self.sent += 1

    def on_word(self, src, word):
        if word.origin != self.me:
            self.port.deliver(word.origin, word.n, word.payload)

    handlers = {Word: on_word}
