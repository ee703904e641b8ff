"""`ordercast order`: the library part, on the messages of Figs 1 and 3 (MMA II.C, III.B)."""

import json

import pytest

from ordercast.papers.message_log import covers, dot, read_log, replay, text


def log(processors, messages, **more):
    carried = {name: {"acks": acks, "nacks": nacks} for name, (acks, nacks) in messages.items()}
    return read_log(json.dumps({"processors": processors, "messages": carried, **more}))


FIG_1 = {
    "B1": ([], []),
    "D1": ([], []),
    "A1": (["D1"], []),
    "C1": (["B1", "A1"], ["D1"]),
    "D2": (["C1"], ["A1"]),
    "C2": (["D2", "D1"], []),
    "B2": (["C2"], ["A1"]),
}
FIG_3 = {"A1": ([], []), "B1": (["A1"], []), "C1": (["B1"], []), "D1": (["C1"], []), "E1": (["D1"], [])}


def test_the_order_of_fig_1_is_that_of_fig_2():
    replayed = replay(log(list("ABCD"), FIG_1))
    assert covers(replayed)["C2"] == ["A1", "C1", "D2"]
    assert covers(replayed)["B2"] == ["D2"]
    assert covers(replayed)["D2"] == ["B1", "D1"]


def test_an_extension_tells_the_votes_that_decided():
    replayed = replay(log(list("ABCDEF"), FIG_3, k=1))
    first = replayed.extensions[0]
    assert (first.rx, first.set, first.stage) == (4, ["A1"], 0)
    assert first.votes[:4] == [("A1", 0, True), ("B1", 0, True), ("C1", 0, True), ("D1", 0, True)]
    assert replayed.total_order == ["A1", "B1"]
    assert replayed.candidates_left == ["C1"]
    assert "1. {A1} in stage 0, after 4 received" in text(replayed)
    assert "stage 0: for A1 B1 C1 D1; against -" in text(replayed)


def test_a_processor_sees_what_it_received():
    seen = log(list("ABCDEF"), FIG_3, k=1, views={"F": ["A1", "C1", "D1", "E1"]})
    replayed = replay(seen, "F")
    assert replayed.included == ["A1"]
    assert replayed.received_not_included == ["C1", "D1", "E1"]
    assert "antecedents missing: C1, D1, E1" in text(replayed)


def test_the_drawing_has_an_arrow_for_what_follows_next_and_a_crossed_line_for_what_was_lacked():
    figure = log(list("ABCD"), FIG_1)
    drawn = dot(figure, replay(figure))
    assert '"B2" -> "D2";' in drawn
    assert '"C1" -> "D1" [style=dashed, label="X"' in drawn
    assert '"C1" -> "A1";' not in drawn


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("[]", "not a message log"),
        ('{"processors": ["A"], "messages": {"B1": {}}}', "'B1' is not a processor and a number"),
        ('{"processors": ["A"], "messages": {"A0": {}}}', "'A0' is not a processor and a number"),
        ('{"processors": ["A"], "messages": {}, "views": {"A": ["A1"]}}', "A received A1, which is not among"),
        ('{"processors": ["A", "B"], "messages": {}, "k": 1}', "fewer than n/3"),
        ('{"processors": ["A"], "messages": {"A1": {"acks": [1]}}}', "not a message log"),
    ],
)
def test_a_wrong_log_is_refused_with_a_reason(given, says):
    with pytest.raises(ValueError, match=says):
        read_log(given)


def test_an_unknown_processor_is_named_with_those_there_are():
    with pytest.raises(ValueError, match=r"no processor 'Z'; it has: \*"):
        replay(log(["A"], {}), "Z")
