"""Pages: escaped, whole, and saying what the verdicts say."""

import os

import pytest

from ordercast.papers import Claim, Estimate, Experiment, Findings, Paper, Table
from ordercast.report.groups import Group
from ordercast.report.page import Cell, Page
from ordercast.report.paper_page import paper_page
from ordercast.report.runs import count_verdicts, runs_page


def run(name, protocol="dtp", promised=("fifo",), **verdicts):
    broken = [each for each in promised if verdicts.get(each) == "violated"]
    return {
        "run": name,
        "protocol": protocol,
        "deliveries": 10,
        "verdicts": verdicts,
        "promised": list(promised),
        "broken": broken,
        "witnesses": {each: {"text": f"{name}: a <before> b"} for each in verdicts if verdicts[each] == "violated"},
    }


RUNS = [
    run("a", fifo="holds", causal="violated"),
    run("b", fifo="violated", causal="not_measured"),
    run("c", protocol="", fifo="holds", causal="holds"),
]


def test_verdicts_are_counted_by_protocol_and_property():
    counts = count_verdicts(RUNS)
    assert counts["dtp", "fifo"] == (1, 1, 0, True)
    assert counts["dtp", "causal"] == (0, 1, 1, False)
    assert counts["unknown", "causal"].numbers == (1, 0, 0)


def test_a_page_of_runs_tells_what_broke_and_escapes_what_it_quotes():
    groups = [
        Group({"protocol": "dtp", "members": n}, 2, {"delivery_s": Estimate(0.001 * n, 0.0001, 2)}) for n in (3, 5)
    ]
    html = runs_page("there", RUNS, groups, {"x": "cannot be read"}, {"y": "AssertionError"}).html()
    for said in (
        "1 of 3 runs broke a promise",
        "1 traces could not be read",
        "1 runs of the sweep failed",
        '<td class="bad">1 of 2 violated</td>',
        '<td class="mild">1 of 2 violated; not promised</td>',
        "a &lt;before&gt; b",
        "3.00 ± 0.10",
        "data:image/svg+xml;base64,",
        "AssertionError",
    ):
        assert said in html
    assert "<before>" not in html
    assert html.index("broken promise") < html.index("not promised</td><td>a: a"), "the broken ones come first"


def test_no_figure_without_an_axis():
    one = [Group({"protocol": "dtp", "members": 3}, 1, {"delivery_s": Estimate(0.1, float("nan"), 1)})]
    html = runs_page("there", RUNS[2:], one, {}, {}).html()
    assert "No run broke a promise" in html
    assert "data:image" not in html


def test_a_page_of_a_paper_has_every_claim_with_its_verdict():
    claims = [
        Claim(id=f"P.{holds}", text="x < y", section="4", holds=holds, measured="1") for holds in (True, False, None)
    ]
    long = Table(name="t", title="Long", columns=("n",), rows=[(n,) for n in range(50)])
    experiment = Experiment("one", "One", "4")
    page = paper_page(
        Paper("P", "A paper", [experiment]), [(experiment, Findings(claims=claims, tables=[long]))], ["boo"]
    )
    html = page.html()
    for said in ("1 of 3 claims hold", "does not hold", "not judged", "x &lt; y", "50 rows", "1 points could not"):
        assert said in html


def test_cells_are_formatted_by_what_they_are():
    page = Page("t")
    page.table(("a",), [(None,), (float("nan"),), (1234567,), (0.123456,), (True,), (Cell("x", "good"),)])
    html = page.html()
    assert html.count('<td class="none">–</td>') == 2
    for said in ("1,234,567", "0.1235", "<td>yes</td>", '<td class="good">x</td>'):
        assert said in html


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_page_that_cannot_be_written_names_its_file(tmp_path):
    (tmp_path / ".page.html.tmp").symlink_to("/dev/full")
    with pytest.raises(OSError, match=r"No space left on device: '.*/page\.html'"):
        Page("t").write(tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []
