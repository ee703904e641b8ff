"""The SparkSession of the commands: one, made when first needed; local by default, any master by name.

Functions of the pipeline take a session, the caller's or this one.  `ship` makes the library importable on the
workers of a session that is not local: as a zip of the very source that runs here.
"""

import atexit
import contextlib
import hashlib
import logging
import os
import re
import shutil
import signal
import socket
import sys
import tempfile
import threading
import zipfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import ordercast
from ordercast.pipeline.java import cache as cache_directory
from ordercast.pipeline.java import java_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL = "local[*,4]"  # all cores; a task whose Python worker died is tried again, as on a cluster
_ANSWER_S = 5.0  # within which a standalone master must accept a connection

_LOGGING = """rootLogger.level = {level}
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %p %c{{1}}: %m%n
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = {level}
"""


class PipelineError(OSError):
    """Something outside the library stopped the work; the message is one line that says what."""


def session(master: str | None = None, settings: dict[str, str] | None = None) -> "SparkSession":
    """The process's SparkSession, made on first use.  `settings` are Spark's own, and win over ours."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise PipelineError("this needs Spark: pip install 'ordercast[spark]'") from None
    if (active := SparkSession.getActiveSession()) is not None:
        if master is not None and master != active.sparkContext.master:
            raise PipelineError(f"a Spark session on {active.sparkContext.master} is running; {master} needs its own")
        return active
    master = master or LOCAL
    if not re.match(r"(local(-cluster)?(\[.*\])?$|spark://|k8s://|yarn$)", master):
        raise PipelineError(f"{master!r} is no Spark master: local[N], local-cluster[N,C,MB], spark://HOST:PORT, ...")
    here = _runs_here(master)
    if master.startswith("spark://"):
        _answers(master)
    os.environ["JAVA_HOME"] = str(java_home())
    if here or "PYSPARK_PYTHON" not in os.environ:  # else workers run whatever `python3` their path has
        os.environ["PYSPARK_PYTHON"] = sys.executable
    if here:
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"  # the machine's own name may resolve oddly, or not at all
    builder: Any = SparkSession.builder.master(master).appName("ordercast")
    for name, value in (_settings(here) | (settings or {})).items():
        builder = builder.config(name, value)
    for logger in (None, "py4j.clientserver"):
        logging.getLogger(logger).addFilter(_no_gateway_errors)
    interrupt = signal.getsignal(signal.SIGINT)
    try:
        spark: SparkSession = builder.getOrCreate()
    except Exception as error:
        raise PipelineError(f"no Spark session on {master}: {first_line(error)}") from None
    if threading.current_thread() is threading.main_thread():
        # PySpark's own handler calls the JVM from within an unfinished call, which fails; `tasks` cancels the jobs.
        signal.signal(signal.SIGINT, interrupt)
    atexit.register(spark.stop)
    return spark


def _no_gateway_errors(record: logging.LogRecord) -> bool:
    """PySpark's gateway logs the traceback of a call that failed or was interrupted, and raises it besides."""
    return not str(record.msg).endswith(("while sending command.", "while shutting down connection"))


def _settings(here: bool) -> dict[str, str]:
    logging = cache_directory() / "log4j2.properties"
    level = os.environ.get("ORDERCAST_SPARK_LOG", "fatal" if here else "error")
    _write_once(logging, _LOGGING.format(level=level).encode())
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(Path(tempfile.gettempdir()) / "ordercast-warehouse"),
        "spark.driver.extraJavaOptions": f"-XX:+UseSerialGC -Dlog4j2.configurationFile=file:{logging}",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
    }
    if here:
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return settings


def _runs_here(master: str) -> bool:
    return master.startswith("local") or urlsplit(master).hostname in ("127.0.0.1", "localhost")


def _answers(master: str) -> None:
    """Spark itself tries for a minute and then prints a page."""
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        try:
            with socket.create_connection((host, int(port)), timeout=_ANSWER_S):
                return
        except (OSError, ValueError) as error:
            reason = error
    raise PipelineError(f"the Spark master {master} does not answer ({reason})")


def first_line(error: BaseException) -> str:
    """What went wrong, without the stack of two languages."""
    cause = getattr(error, "java_exception", None)
    text = str(cause.getMessage() or cause.toString()) if cause is not None else str(error)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    raised = [line for line in lines if re.match(r"[\w.]*(Error|Exception|Interrupt)\b", line)]
    if any(line.startswith("Traceback") for line in lines) and raised:
        return raised[-1]
    return lines[0] if lines else type(error).__name__


def _package() -> list[tuple[str, bytes]]:
    """The files of the library as it runs here: (name in the package, content), in the order of their names."""
    package = Path(ordercast.__file__).parent
    files = sorted(path for path in package.rglob("*") if path.is_file() and path.suffix in (".py", ".typed", ".toml"))
    return [(str(path.relative_to(package)), path.read_bytes()) for path in files]


@cache
def code_version() -> str:
    """The version of the library and a digest of its source: what stands in a run's provenance."""
    digest = hashlib.sha256()
    for name, content in _package():
        digest.update(name.encode() + b"\0" + content + b"\0")
    return f"{ordercast.__version__}+{digest.hexdigest()[:12]}"


@cache
def _archive() -> Path:
    """A zip of the library's source, for as long as this process lives."""
    directory = Path(tempfile.mkdtemp(prefix="ordercast-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    archive = directory / f"ordercast-{code_version()}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in _package():
            out.writestr(zipfile.ZipInfo(f"ordercast/{name}"), content)
    return archive


def ship(spark: "SparkSession") -> None:
    """Make the library importable on the workers; a local session's workers have it already."""
    context = spark.sparkContext
    in_process = context.master.startswith("local") and not context.master.startswith("local-cluster")
    if not in_process and _archive().name not in {Path(name).name for name in context.listFiles}:
        context.addPyFile(str(_archive()))


def stop() -> None:
    """End the process's session, if there is one."""
    from pyspark.sql import SparkSession

    if (active := SparkSession.getActiveSession()) is not None:
        active.stop()


def _write_once(path: Path, content: bytes) -> None:
    with contextlib.suppress(OSError):
        if path.read_bytes() == content:
            return
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as unfinished:
        unfinished.write(content)
    os.replace(unfinished.name, path)
