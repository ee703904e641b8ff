"""Small runs with the verdict of every property."""

import json

from ordercast.spec import History
from ordercast.spec import check as verdicts_of

NAME = "histories.json"


def cases(path):
    for case in json.loads(path.read_text()):
        yield case["id"], case


def check(case):
    members = [
        (str(member["id"]), member["status"], [(kind, str(origin), n) for kind, origin, n in member["events"]])
        for member in case["members"]
    ]
    to = {}
    for message, some in case["to"].items():
        origin, n = message.split(",")
        to[origin, int(n)] = [str(p) for p in some]
    verdicts = verdicts_of(History.from_logs(members, to))
    assert {name: verdicts[name].result for name in case["expect"]} == case["expect"]
