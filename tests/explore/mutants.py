"""Protocols with one wrong line: their source, with a piece of it replaced."""

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType


def mutant(name, where, wrong, right):
    """The protocol of that name, with `right` replaced by `wrong` in a module that it is made of."""
    place = f"ordercast.{where}"
    home = f"ordercast.protocols.{name}"
    before = {each: import_module(each) for each in (place, home)}
    try:
        for each, module in before.items():
            source = Path(module.__file__).read_text()
            if each == place:
                assert source.count(right) == 1, f"{each} has not exactly one {right!r}"
                source = source.replace(right, wrong)
            sys.modules[each] = made = ModuleType(each)
            exec(compile(source, f"<{each}, wrong>", "exec"), made.__dict__)
        return next(kind for kind in vars(made).values() if getattr(kind, "name", None) == name)
    finally:
        sys.modules.update(before)
