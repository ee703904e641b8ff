"""po_state.json: PDUs as they arrive at one entity, with what each step moves, in every reading of NT."""
# ruff: noqa: SIM300 - the paper's names are in capitals, and no constants

import json

from ordercast.parts.receipt_logs import Moved, Pdu, ReceiptLogs

NAME = "po_state.json"


def cases(path):
    for case in json.loads(path.read_text()):
        for reading, expect in case["expect"].items():
            yield f"{case['id']}-{reading}", {**case, "reading": reading, "expect": expect}


def check(case):
    logs = ReceiptLogs(range(case["n"]), case["k"], case["ISS"], case["reading"])
    apl = [[] for _ in range(case["n"])]
    assert len(case["pdus"]) == len(case["expect"]["steps"])
    for k, (given, expect) in enumerate(zip(case["pdus"], case["expect"]["steps"], strict=True)):
        p = Pdu(given["src"], given["seq"], tuple(given["A"]), 0, ())
        verdict = logs.verdict(p)
        moved = logs.accept(p) if verdict == "accept" else Moved([], [])
        for q in moved.acked:
            apl[q.SRC].append(q.SEQ)
        wanted = (expect["verdict"], sorted(expect["packed"]), sorted(expect["acked"]))
        assert (verdict, numbers(moved.packed), numbers(moved.acked)) == wanted, f"step {k}: {given}"
    expect = case["expect"]
    assert logs.REQ == expect["REQ"]
    assert logs.least == expect["minAL"]
    assert apl == expect["APL"]
    assert [[p.SEQ for _, p in log] for log in logs.PPL] == expect["PPL"]
    assert [[p.SEQ for _, p in log] for log in logs.RPL] == expect["RPL"]


def numbers(pdus):
    return sorted([p.SRC, p.SEQ] for p in pdus)
