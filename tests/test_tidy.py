"""The architecture, as a test: who may import what, and how long things may be."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "ordercast"
MAY_IMPORT = {  # a package that is not named here has no place in the house
    "core": set(),
    "parts": {"core"},
    "protocols": {"core", "parts"},
    "trace": {"core"},
    "spec": {"core", "trace"},
    "sim": {"core", "parts", "trace"},
    "measure": {"core", "trace"},
    "explore": {"core", "spec", "sim", "trace"},
    "group": {"core", "parts", "protocols"},
    "net": {"core", "protocols", "group", "trace"},
    "papers": {"core", "parts", "protocols", "sim", "spec", "measure", "trace"},
    "pipeline": {"core", "parts", "protocols", "trace", "spec", "sim", "measure", "group", "papers"},
    "report": {"trace", "papers"},
    "cli": {"*"},
}
PURE = ("core", "parts", "protocols", "spec")  # no clock, socket, file, thread or randomness of their own
IMPURE_MODULES = {"time", "socket", "threading", "asyncio", "random", "os", "pathlib", "logging", "subprocess", "uuid"}
FILES = sorted(path for path in SOURCE.rglob("*.py") if path.parent != SOURCE)
LONGEST_FILE, LONGEST_FUNCTION = 400, 80


def imports(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_file_imports_only_downwards_and_fits_a_reader(path):
    package = path.relative_to(SOURCE).parts[0]
    text = path.read_text()
    tree = ast.parse(text)
    assert len(text.splitlines()) <= LONGEST_FILE, "split this file"
    for module in imports(tree):
        names = module.split(".")
        if names[0] == "ordercast" and len(names) > 1:
            allowed = MAY_IMPORT[package] | {package}
            assert "*" in allowed or names[1] in allowed, f"{package} must not import {module}"
        if package in PURE:
            assert names[0] not in IMPURE_MODULES, f"{package} is pure: no {module}"
        if package != "pipeline":
            assert names[0] != "pyspark", "PySpark lives in pipeline/"
    if package == "protocols":
        for module in imports(tree):
            others = module.startswith("ordercast.protocols.") and path.name != "catalog.py"
            assert not others, "protocols do not import one another; what they share is a part"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno - node.lineno < LONGEST_FUNCTION, f"{node.name} does not fit a screen"
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_") and package in PURE:
            continue
    assert ast.get_docstring(tree), "a module says what it is"
