"""The same sweep on clusters made from the pip package: the same digests, also when an executor is killed."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ordercast.pipeline.java import java_home
from ordercast.pipeline.session import PipelineError, _answers
from ordercast.pipeline.simulating import named, simulated
from ordercast.pipeline.sweep import sweep
from tests.pipeline.on_a_cluster import plan
from tests.toys import Flood

RUNS = 8
SCRIPT = Path(__file__).parent / "on_a_cluster.py"


@pytest.fixture(scope="module")
def expected():
    return {named(run).name: simulated(Flood, named(run), "here").trace.digest() for run in plan(RUNS)}


def environment():
    return os.environ | {"JAVA_HOME": str(java_home()), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}


def start(master, out):
    command = [sys.executable, str(SCRIPT), master, str(out), str(RUNS)]
    return subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def answer(process):
    try:
        said, errors = process.communicate(timeout=400)
    finally:
        process.kill()
    assert process.returncode == 0, errors[-3000:]
    return json.loads(said.splitlines()[-1])


def wait_for(driver, directory, pattern):
    """Until a first file of the sweep is there."""
    deadline = time.monotonic() + 300
    while not any(directory.glob(pattern)):
        assert driver.poll() is None, driver.stderr.read()[-3000:]
        assert time.monotonic() < deadline
        time.sleep(0.02)


def judge(found, expected):
    assert not found["errors"]
    assert found["digests"] == expected
    assert found["verdicts"].keys() == expected.keys()
    assert all(".zip/ordercast/" in file for file in found["files"]), "the workers use the source that was shipped"


@pytest.fixture
def standalone(tmp_path):
    """A master and two workers on this machine: (its address, the processes)."""
    import pyspark

    spark_class = Path(pyspark.__file__).parent / "bin" / "spark-class"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    processes = []

    def begin(name, *arguments):
        command = [str(spark_class), f"org.apache.spark.deploy.{name}", *arguments, "--host", "127.0.0.1"]
        with (tmp_path / f"{len(processes)}.log").open("w") as log:
            env = environment() | {"SPARK_DAEMON_MEMORY": "256m"}
            processes.append(subprocess.Popen(command, env=env, stdout=log, stderr=log, cwd=tmp_path))

    address = f"spark://127.0.0.1:{port}"
    begin("master.Master", "--port", str(port), "--webui-port", "0")
    try:
        deadline = time.monotonic() + 180
        while True:
            try:
                _answers(address)
                break
            except PipelineError:
                assert time.monotonic() < deadline, (tmp_path / "0.log").read_text()[-2000:]
                time.sleep(0.1)
        for _ in range(2):
            begin(
                "worker.Worker", address, "--cores", "1", "--memory", "600m", "--webui-port", "0", "-d", str(tmp_path)
            )
        yield address, processes
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
            process.kill()
            process.wait()


def executors(workers):
    """The executors that these workers started."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError, IndexError):
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if parent in workers and b"CoarseGrainedExecutorBackend" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found


def test_a_sweep_whose_driver_was_killed_goes_on_where_it_stopped(spark, tmp_path, expected):
    driver = start("local[2]", tmp_path)
    wait_for(driver, tmp_path / "rows", "*.rows.jsonl")
    driver.kill()
    driver.communicate()
    finished = {path: path.stat().st_mtime_ns for path in (tmp_path / "traces").glob("flood*")}
    assert 0 < len(finished) < RUNS
    again = sweep(spark, plan(RUNS), tmp_path, protocols={"flood": Flood})
    assert again.reused > 0
    assert {run: row["trace_hash"] for run, row in again.rows.items()} == expected
    assert sum(path.stat().st_mtime_ns == written for path, written in finished.items()) >= again.reused


def test_a_local_cluster_finds_the_same(tmp_path, expected):
    judge(answer(start("local-cluster[2,1,1024]", tmp_path)), expected)


def test_a_standalone_cluster_loses_an_executor_in_mid_sweep_and_finds_the_same(standalone, tmp_path, expected):
    address, processes = standalone
    out = tmp_path / "out"
    driver = start(address, out)
    wait_for(driver, out / "traces", "flood*")
    running = executors({process.pid for process in processes[1:]})
    assert len(running) == 2
    os.kill(running[0], signal.SIGKILL)
    assert len(list((out / "traces").glob("flood*"))) < RUNS, "the sweep was not over"
    judge(answer(driver), expected)
