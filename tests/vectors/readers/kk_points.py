"""Means of the four token protocols of KK at given points, computed elsewhere: the simulator meets them."""

import json

from ordercast.measure import metrics
from ordercast.protocols.catalog import protocol
from ordercast.sim import Run, simulate, workloads
from ordercast.trace import Recorder

NAME = "kk_points.json"
WITHIN = 0.04  # of a raw value: the arrival rate alone scatters by 1 %, Totem's hops fall with it
OF_THE_RATE = 0.015


def cases(path):
    for point in json.loads(path.read_text()):
        yield f"{point['protocol']}-{point['members']}-{point['interval_s']}", point


def check(point):
    quiet = point["protocol"] == "totem"  # a token that never rests: a tenth of the messages says as much
    run = Run(
        protocol=point["protocol"],
        members=point["members"],
        messages=1500 if quiet else 10_000,
        workload=workloads.Poisson(interval=point["interval_s"]),
        seed=4,
    )
    recorder = Recorder(("broadcast", "deliver", "reach", "send", "receive"), control_receipts=False)
    found = metrics(simulate(protocol(run.protocol), run, recorder).trace())
    rate = found.interval_s / point["interval_s"]  # what this run's arrivals happened to be, against their mean
    for name in ("delivery_s", "stability_s", "overhead_per_broadcast", "buffer_messages", "stability_times_rate"):
        if name not in point:
            continue
        value, expected = getattr(found, name), point[name]
        if quiet and name == "overhead_per_broadcast":
            value /= rate
        if quiet and name == "buffer_messages":
            value *= rate
        within = OF_THE_RATE if name == "stability_times_rate" else WITHIN
        assert abs(value / expected - 1) <= within, f"{name}: {value:.6g}, expected {expected:.6g}"
