"""po_flow.json: the flow condition of NT, with the limit as an exact fraction."""

import json
from fractions import Fraction

from ordercast.parts.receipt_logs import may_send

NAME = "po_flow.json"


def cases(path):
    for k, case in enumerate(json.loads(path.read_text())):
        yield str(k), case


def check(case):
    given = {"least": case["minAL"], "window": case["W"], "free": case["minF"], "c": case["C"], "n": case["n"]}
    assert may_send(seq=case["SEQ"], **given) == case["may_send"]
    limit = Fraction(case["limit"])
    for ahead in range(-2, case["W"] + 2):
        assert may_send(seq=case["minAL"] + ahead, **given) == (0 <= ahead < limit)
