"""A port that only writes down what it was asked for."""


class PaperPort:
    def __init__(self):
        self.asked, self.timers = [], {}
        self.draw = 0.9  # what `random` returns

    def set_timer(self, name, after):
        self.timers[name] = after

    def cancel_timer(self, name):
        self.timers.pop(name, None)

    def multicast(self, message, to=None):
        assert to is None
        self.asked.append(message)

    def deliver(self, origin, n, payload):
        self.asked.append(("deliver", origin, n))

    def reach(self, level, origin, below):
        self.asked.append((level, origin, below))

    def suspect(self, member):
        self.asked.append(("suspect", member))

    def random(self):
        return self.draw

    def take(self):
        asked, self.asked = self.asked, []
        return asked

    def sent(self):
        """The frames that went out; the rest is forgotten."""
        return [each for each in self.take() if not isinstance(each, tuple)]

    def expire(self, process, name):
        del self.timers[name]
        process.expire(name)
