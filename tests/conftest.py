"""One Spark session for all tests that want one, made when the first of them does."""

import os
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def spark():
    from ordercast.pipeline.session import session, stop

    # Workers are processes of their own: they import the source under test, and the tests' functions by name.
    for folder in (HERE, HERE.parent, HERE.parent / "src"):
        os.environ["PYTHONPATH"] = f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    fast = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dlog4j2.level=OFF"}
    yield session("local[2,4]", fast)
    stop()
