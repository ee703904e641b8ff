"""The plan of a sweep: a TOML file becomes a grid of runs.  Pure; `docs/pipeline.md` shows the format.

title = "Four token protocols"
seeds = 3                                  # 0, 1, 2; or a list of seeds

[run]                                      # the fields of a Run; a list is a set of alternatives
protocol = ["dtp", "cm"]
members = [5, 10]
interval = [0.1, 0.05]                     # short for workload = {kind = "poisson", interval = ...}
network = {kind = "bus", bandwidth = 10e6}
faults = [[], [{kind = "loss", rate = 0.05}]]   # a set of faults, or a list of such sets

[parameters.dtp]                           # of one protocol; a list is a set of alternatives
silence = [0.1, 0.2]

[[more]]                                   # further grids, each a [run] of its own over the same defaults
protocol = "totem"
"""

import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ordercast.core import Process, parameters_of
from ordercast.pipeline.simulating import named
from ordercast.protocols.catalog import CATALOG
from ordercast.sim import Run

_TOP = ("title", "seeds", "run", "parameters", "more")
_RUN = tuple(field.name for field in msgspec.structs.fields(Run) if field.name not in ("name", "seed", "parameters"))
_ALLOWED = (*_RUN, "interval")


class PlanError(ValueError):
    """A plan cannot be read; the message names the file, the line and the key."""


class Plan(NamedTuple):
    title: str
    runs: list[Run]  # each under its own name, without repetitions


def read_plan(path: Path | str, protocols: Mapping[str, type[Process]] = CATALOG) -> Plan:
    """The plan in a file."""
    path = Path(path)
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    return parse_plan(text, str(path), protocols)


def parse_plan(text: str, source: str = "plan", protocols: Mapping[str, type[Process]] = CATALOG) -> Plan:
    """The plan in a text; `source` is its name in messages."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        where = f":{line[1]}" if line else f":{len(text.splitlines())}"
        raise PlanError(f"{source}{where}: not TOML: {re.sub(r' *[(]at .*[)]$', '', str(error))}") from None
    return _Reader(text, source, protocols).plan(tables)


class _Reader:
    def __init__(self, text: str, source: str, protocols: Mapping[str, type[Process]]) -> None:
        self.text, self.source, self.protocols = text, source, protocols

    def plan(self, tables: Mapping[str, Any]) -> Plan:
        self.known(tables, _TOP, "", "a plan")
        title = tables.get("title", Path(self.source).stem)
        defaults, more = tables.get("run", {}), tables.get("more", [])
        if not isinstance(defaults, dict):
            raise self.error("run", "", "is a table: [run]")
        if not isinstance(more, list) or not all(isinstance(table, dict) for table in more):
            raise self.error("more", "", "is a list of tables: [[more]]")
        settings = tables.get("parameters", {})
        if not isinstance(settings, dict):
            raise self.error("parameters", "", "has one table per protocol: [parameters.dtp]")
        for name, table in settings.items():
            if not isinstance(table, dict):
                raise self.error(name, "parameters", "is a table of parameters")
        grids = [(defaults, "run")] if "protocol" in defaults or not more else []
        grids += [(defaults | table, "more") for table in more]
        runs: dict[str, Run] = {}
        used: set[str] = set()
        for grid, where in grids:
            for run in self.grid(grid, where, settings, self.seeds(tables)):
                runs.setdefault(run.name, run)
                used.add(run.protocol)
        for name in settings:
            if name not in used:
                raise self.error(name, "parameters", "is not a protocol of this plan")
        return Plan(str(title), list(runs.values()))

    def seeds(self, tables: Mapping[str, Any]) -> list[int]:
        seeds = tables.get("seeds", 1)
        seeds = list(range(seeds)) if isinstance(seeds, int) and not isinstance(seeds, bool) else seeds
        if not isinstance(seeds, list) or not seeds or not all(type(seed) is int for seed in seeds):
            raise self.error("seeds", "", "is a number of seeds, or a list of whole numbers")
        return seeds

    def grid(
        self, table: Mapping[str, Any], where: str, settings: Mapping[str, Any], seeds: list[int]
    ) -> Iterator[Run]:
        self.known(table, _ALLOWED, where, "a run")
        if "protocol" not in table:
            raise self.error("protocol", where, "is missing")
        if "interval" in table and "workload" in table:
            raise self.error("interval", where, "is short for a Poisson workload, and stands in place of one")
        axes = {name: _alternatives(name, value) for name, value in table.items()}
        for name, values in axes.items():
            if not values:
                raise self.error(name, where, "has no alternatives: the list is empty")
        for chosen in _product(axes):
            name = chosen["protocol"]
            if not isinstance(name, str) or name not in self.protocols:
                there = ", ".join(self.protocols)
                raise self.error("protocol", where, f"no protocol is called {name!r}; there are: {there}", True)
            if "interval" in chosen:
                chosen["workload"] = {"kind": "poisson", "interval": chosen.pop("interval")}
            choices = {
                key: value if isinstance(value, list) else [value] for key, value in settings.get(name, {}).items()
            }
            for parameters in _product(choices):
                try:
                    parameters_of(self.protocols[name], parameters)
                except ValueError as error:
                    wrong = next((key for key in parameters if repr(key) in str(error) or f".{key}" in str(error)), "")
                    raise self.error(wrong, f"parameters.{name}", str(error), True) from None
                for seed in seeds:
                    yield named(self.run(chosen | {"parameters": parameters, "seed": seed}, where))

    def run(self, fields: Mapping[str, Any], where: str) -> Run:
        try:
            return msgspec.convert(fields, Run)
        except (msgspec.ValidationError, ValueError) as error:
            text = str(error)
            match = re.search(r" - at `\$\.?(\w*)", text)
            key = match[1] if match else next((name for name in _RUN if name in text), "")
            if key == "workload" and "workload" not in self.text:
                key = "interval"
            inner = re.search(r"unknown field `(\w+)`", text)
            if inner:
                return self.fail(inner[1], key, where)
            text = re.sub(r" - at `.*`$", "", text)
            raise self.error(key, where, f": {text}" if match else text, not match) from None

    def fail(self, field: str, key: str, where: str) -> Run:
        raise PlanError(f"{self.source}:{self.line(field, where, key)}: {key} has no field {field!r}") from None

    def known(self, table: Mapping[str, Any], names: tuple[str, ...], where: str, what: str) -> None:
        for name in table:
            if name not in names:
                raise self.error(name, where, f"is not a key of {what}; there are: {', '.join(names)}")

    def error(self, key: str, where: str, text: str, whole: bool = False) -> PlanError:
        said = text if whole or not key else f"{key} {text}".replace(" : ", ": ")
        return PlanError(f"{self.source}:{self.line(key, where)}: {said}")

    def line(self, key: str, where: str, inside: str = "") -> int:
        """The line where a key of a table is set: below the table's header, else anywhere, else the header itself."""
        here, header, anywhere = "", 1, 0
        wanted = re.compile(rf"(^|[\s{{,.\"]){re.escape(key)}\"?\s*=") if key else None
        for number, line in enumerate(self.text.splitlines(), 1):
            bare = line.partition("#")[0]
            if match := re.match(r"\s*\[+\s*([\w.\"-]+)\s*\]+", bare):
                here = match[1].replace('"', "")
                header = number if here == where else header
                if key and here == (f"{where}.{key}" if where else key):
                    return number
            elif wanted and wanted.search(bare):
                if here == where or here == f"{where}.{inside}":
                    return number
                anywhere = anywhere or number
        return anywhere or header


def _alternatives(name: str, value: Any) -> list[Any]:
    """A list is a set of alternatives; of `faults`, which are lists themselves, a list of lists is."""
    if name == "faults":
        nested = isinstance(value, list) and value and all(isinstance(entry, list) for entry in value)
        return value if nested else [value]
    return value if isinstance(value, list) else [value]


def _product(axes: Mapping[str, list[Any]]) -> Iterator[dict[str, Any]]:
    for values in itertools.product(*axes.values()):
        yield dict(zip(axes, values, strict=True))
