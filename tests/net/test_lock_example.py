"""examples/lock_and_update.py: the members that are left agree on the locks and the transfers."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_lock_survives_its_holder():
    printed = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "lock_and_update.py")],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout.splitlines()
    assert printed[0] == "member 2 was killed while it held the lock"
    holders = [int(word) for word in printed[1].split(":")[1].split()]
    assert sorted(holders) == [0] * 5 + [1] * 5 + [2] + [3] * 5
    assert printed[2:] == [
        "transfers that had the money: 10 of 16",
        "alice has 0, bob 10, at every survivor",
    ]
