"""`ordercast protocols`: readable at 80 columns, and one protocol in full."""

import json

import pytest
from typer.testing import CliRunner

from ordercast.cli import app
from ordercast.protocols.catalog import CATALOG


def run(*words):
    return CliRunner(env={"COLUMNS": "80"}).invoke(app, ["protocols", *words])


def test_the_list_fits_80_columns_and_breaks_no_word():
    lines = run().stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 2 * len(CATALOG) + 3
    rows = {line.split()[0]: line.split() for line in lines if line[:1] not in ("", " ")}
    words = set(" ".join(lines).split())
    for name, kind in CATALOG.items():
        assert rows[name][1:3] == [kind.contract.paper, kind.contract.order]
        assert set(kind.contract.title.split()) <= words


@pytest.mark.parametrize("name", CATALOG)
def test_one_protocol_is_shown_in_full(name):
    done = run(name)
    assert done.exit_code == 0
    assert max(map(len, done.stdout.splitlines())) <= 80
    said = " ".join(done.stdout.split())
    entry = json.loads(run(name, "--json").stdout)
    assert entry["name"] == name
    for promise in entry["promises"]:
        assert promise in said
    for fault in entry["safe_under"]:
        assert fault in said
    for each in entry["parameters"]:
        assert f"{each['name']}={each['default']}" in said
        assert " ".join(each["text"].split()) in said


def test_the_json_list_has_all_and_a_stranger_is_named():
    assert [entry["name"] for entry in json.loads(run("--json").stdout)] == list(CATALOG)
    assert "no protocol is called 'nope'" in str(run("nope").exception)
