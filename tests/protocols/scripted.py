"""A port that writes down what it is asked for, for scenes with one process."""


class Script:
    kind = None  # a mutant to play the scene with

    def __init__(self, room=1 << 16):
        self.asked = []
        self.free = room

    def room(self):
        return self.free

    def random(self):
        return 0.5

    def now(self):
        return 0.0

    def __getattr__(self, verb):
        return lambda *args: self.asked.append((verb, *args))

    def take(self, *verbs):
        """What was asked for since the last time; of these verbs only, if any are named."""
        asked, self.asked = self.asked, []
        return [each for each in asked if not verbs or each[0] in verbs]

    def sent(self, kind):
        """The messages of a kind that were sent or multicast since the last time."""
        return [args[-1] if verb == "send" else args[0] for verb, *args in self.frames() if self.of(kind, verb, args)]

    def frames(self):
        return self.take("send", "multicast")

    @staticmethod
    def of(kind, verb, args):
        return isinstance(args[-1] if verb == "send" else args[0], kind)
