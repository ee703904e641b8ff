"""What the README shows runs, and the pages made from the code are as the code would make them."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ordercast.net.processes import free_addresses

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text()
ENVIRONMENT = {"PYTHONPATH": str(ROOT / "src"), "COLUMNS": "120", "PATH": "/usr/bin:/bin"}


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.S)


def run(line, folder):
    words = line.removeprefix("$ ordercast ").split()
    return subprocess.run(
        [sys.executable, "-m", "ordercast", *words],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )


def test_the_console_examples_run(tmp_path):
    (plan,) = blocks("toml")
    (tmp_path / "plan.toml").write_text(plan)
    lines = [line for block in blocks("console") for line in block.splitlines()]
    assert len(lines) == 7
    for line in lines:
        done = run(line, tmp_path)
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    assert (tmp_path / "lossy" / "report.html").exists()


def test_the_first_group_runs(capsys):
    (text,) = blocks("python")
    world = {}
    exec(text, world)
    world["MEMBERS"] = dict(free_addresses(3))

    async def three():
        await asyncio.wait_for(asyncio.gather(*(world["main"](me) for me in range(3))), 30)

    asyncio.run(three())
    said = [line.split(" delivers ") for line in capsys.readouterr().out.splitlines()]
    orders = [[message for me, message in said if me == str(each)] for each in range(3)]
    assert len(orders[0]) >= 1
    shortest = min(map(len, orders))
    assert orders[0][:shortest] == orders[1][:shortest] == orders[2][:shortest]


def test_the_generated_pages_are_fresh():
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "make.py"), "--check"], env=ENVIRONMENT, capture_output=True, text=True
    )
    assert done.returncode == 0, f"run `make docs`: {done.stdout}{done.stderr}"


@pytest.mark.parametrize(
    "page", sorted(ROOT.glob("*.md")) + sorted(ROOT.glob("docs/**/*.md")), ids=lambda page: page.name
)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        if not target.startswith(("http:", "https:")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
