"""fill.json: who is sent what, in how few multicasts, and what the filler may ask for (GK, Appendix I).

Numbers count from 1 there, and a host is described by <highest, gaps>.
"""

import json

from ordercast.parts.fill import ask, fill, filled
from ordercast.parts.runs import below, minus, numbers, runs

NAME = "fill.json"


def cases(path):
    for k, case in enumerate(json.loads(path.read_text())):
        yield str(k), case


def received(highest, gaps):
    return runs(n for n in range(1, highest + 1) if n not in gaps)


def described(of):
    whole = ((1, below(of)),) if below(of) > 1 else ()
    return [max(below(of) - 1, 0), list(numbers(minus(whole, of)))]


def check(case):
    have = runs(case["have_i"])
    desc = {host: received(*described) for host, described in case["DESC"].items()}
    assert {host: list(numbers(of)) for host, of in desc.items()} == case["received"]

    sends = [(n, to) for start, end, to in fill(have, desc) for n in range(start, end)]
    assert [n for n, _ in sends] == sorted({n for n, _ in sends}), "one multicast each"
    assert {str(n): set(to) for n, to in sends} == {n: set(to) for n, to in case["multicasts"].items()}
    assert {host: [n for n, to in sends if host in to] for host in desc} == case["send"]
    assert {host: described(of) for host, of in filled(have, desc).items()} == case["DESC_after"]

    lacked = {host: list(numbers(minus(of, have))) for host, of in desc.items()}
    assert lacked == case["i_lacks"]
    # Each lacked message is asked of one holder, which then sends it once, to all who lack it.
    asked = ask(have, {"i": have, **desc}, cost=lambda host: 1.0)
    got = [(n, to) for holder, there in asked.items() for a, b, to in fill(desc[holder], there) for n in range(a, b)]
    assert sorted(n for n, _ in got) == sorted({n for lacks in lacked.values() for n in lacks})
    for n, to in got:
        assert set(to) == {"i"} | {host for host in desc if n not in case["received"][host]}
