"""A port that only writes down what it was asked for."""


class Script:
    def __init__(self):
        self.asked = []

    def __getattr__(self, verb):
        if verb.startswith("__"):
            raise AttributeError(verb)
        return lambda *args: self.asked.append((verb, *args))

    def cost(self, to):
        return 1.0

    def take(self, *verbs):
        """What was asked since the last time; only these verbs, if any are named."""
        asked, self.asked = self.asked, []
        return [each for each in asked if each[0] in verbs or not verbs]
