"""total/: logs of Trans with the partial order and the total order that each processor must find (MMA II.C, III.A)."""

import json
import re

from ordercast.papers.message_log import read_log, replay
from ordercast.parts.partial_order import PartialOrder
from ordercast.parts.voting import Voting

NAME = "total"


def cases(path):
    for file in sorted(path.glob("*.json")):
        yield file.stem, file.read_text()


def check(text):
    case, log = json.loads(text), read_log(text)
    voting = Voting(case["n"], case["k"])
    assert (voting.decide_at, voting.vote_at) == (case["N_d"], case["N_v"])
    check_order(case, log)
    for processor, expected in case["expected"]["per_processor"].items():
        found = replay(log, processor)
        assert set(found.included) == set(expected["included"])
        assert found.received_not_included == sorted(expected["received_not_included"])
        assert found.total_order == expected["total_order"]
        assert found.candidates_left == sorted(expected["candidates_left"])
        extensions = [{"rx": each.rx, "set": each.set, "stage": each.stage} for each in found.extensions]
        assert extensions == expected["extensions"]
        for message, follows in found.follows.items():
            assert follows == sorted(set(case["expected"]["follows"][message]) & set(found.included))


def check_order(case, log):
    """What each message reaches (OPD) when everything has been received; and again with all let go that may be."""
    processors = log.processors
    opd = {name: set(before) for name, before in case["expected"]["opd"].items()}
    parts = {name: re.fullmatch(r"(.*?)(\d+)", name).groups() for name in log.messages}
    ids = {name: (processors.index(processor), int(number) - 1) for name, (processor, number) in parts.items()}
    for lets_go in (False, True):
        order = PartialOrder(range(len(processors)), lets_go)
        entries = {}
        for name, carried in log.messages.items():
            acks, lacks = ([ids[each] for each in each_list] for each_list in (carried.acks, carried.nacks))
            entries.update((entry.id, entry) for entry in order.receive(ids[name], acks, lacks))
        for name, reached in opd.items():
            assert {each for each in ids if entries[ids[name]].reaches(ids[each])} == reached | {name}
