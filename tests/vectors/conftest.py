"""`pytest tests/vectors --vectors DIR`: judge the project by known files of a directory (default: its own copies)."""

import pkgutil
from importlib import import_module
from pathlib import Path

import pytest
import readers

OWN = Path(__file__).parent / "data"
READERS = {
    module.NAME: module
    for module in (import_module(f"readers.{found.name}") for found in pkgutil.iter_modules(readers.__path__))
}
FOUND = pytest.StashKey()  # [(name, reader, [(id, case)])]
UNKNOWN = pytest.StashKey()


def pytest_addoption(parser):
    parser.addoption("--vectors", metavar="DIR", default=None, help="files to judge by: the name is the format")


def pytest_configure(config):
    directory = Path(config.getoption("--vectors", default=None) or OWN)
    if not directory.is_dir():
        raise pytest.UsageError(f"--vectors: {directory} is not a directory")
    names = sorted(path.name for path in directory.iterdir() if not path.name.startswith((".", "README")))
    config.stash[UNKNOWN] = [name for name in names if name not in READERS]
    config.stash[FOUND] = [(name, READERS[name], _cases(directory / name)) for name in names if name in READERS]
    if not config.stash[FOUND]:
        has = ", ".join(names[:8] + ["…"] * (len(names) > 8)) or "nothing"
        known = ", ".join(sorted(READERS))
        raise pytest.UsageError(f"--vectors: {directory} has no known file; it has {has}; known are {known}")


def _cases(path):
    try:
        cases = list(READERS[path.name].cases(path))
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise pytest.UsageError(f"--vectors: {path} cannot be read: {error!r}") from None
    if not cases:
        raise pytest.UsageError(f"--vectors: {path} holds no case")
    return cases


def pytest_generate_tests(metafunc):
    if {"reader", "case"} <= set(metafunc.fixturenames):
        cases = [
            pytest.param(reader, case, id=f"{name}-{number}")
            for name, reader, numbered in metafunc.config.stash[FOUND]
            for number, case in numbered
        ]
        metafunc.parametrize(("reader", "case"), cases)


def pytest_terminal_summary(terminalreporter, config):
    ran = ", ".join(f"{name} ({len(cases)})" for name, _, cases in config.stash[FOUND])
    terminalreporter.write_line(f"vectors: {ran}")
    if config.stash[UNKNOWN]:
        terminalreporter.write_line(f"vectors: unknown, not run: {', '.join(config.stash[UNKNOWN])}")
