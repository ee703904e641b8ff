"""MMA's worked examples: every sentence about Figs 1 to 4 and the table of parameters, checked on the logs."""

from collections.abc import Callable, Mapping, Sequence
from math import hypot

from ordercast.papers.message_log import Log, Replay, covers, replay
from ordercast.papers.mma_figures import FIG_1, FIG_3, FIG_4, without
from ordercast.papers.paper import Claim, Drawing, Experiment, Findings, Line, Result, Table, Text
from ordercast.parts.voting import Voting

Votes = Mapping[tuple[frozenset[str], int], tuple[list[str], list[str]]]  # (set, stage) -> (for, against)


def votes_before(log: Log, count: int) -> Votes:
    """The votes on every polled set when the first `count` messages have been received and nothing is decided yet."""
    found: dict[tuple[frozenset[str], int], tuple[list[str], list[str]]] = {}
    part = Log(processors=log.processors, k=log.k, messages=dict(list(log.messages.items())[:count]))
    for message, chosen, stage, favour in replay(part).votes_left:
        found.setdefault((frozenset(chosen), stage), ([], []))[not favour].append(message)
    return found


def fact(id: str, section: str, text: str, holds: bool, measured: str) -> Claim:
    return Claim(id=f"MMA.{id}", section=section, text=text, holds=holds, measured=measured)


def figs_1_and_2() -> list[Claim]:
    seen = replay(FIG_1)
    follows, next_to = seen.follows, covers(seen)

    def says(text: str, holds: bool, of: str) -> Claim:
        return fact(f"fig2.{of}", "II.C", text, holds, f"{of} follows {', '.join(follows[of]) or 'nothing'}")

    return [
        says(
            "C1 does not follow A1, because A1 follows D1 and C had not received D1.", "A1" not in follows["C1"], "C1"
        ),
        says("A1 follows D1.", "D1" in follows["A1"], "A1"),
        says("Rather, C2 follows A1, because C had received D1 by then.", "A1" in follows["C2"], "C2"),
        says("The acknowledgment by D2 of its predecessor D1 is implicit.", "D1" in follows["D2"], "D2"),
        says("B2 does not follow C2; instead, B2 follows D2.", next_to["B2"] == ["D2"], "B2"),
    ]


def fig_3() -> list[Claim]:
    first = replay(FIG_3).extensions[0]
    decided = (first.set, first.rx, first.stage) == (["A1"], 4, 0)
    measured = f"{{{', '.join(first.set)}}} after {first.rx} messages, in stage {first.stage}"
    voting = Voting(6, 1)
    numbers = (voting.decide_at, voting.vote_at)
    return [
        fact(
            "fig3.votes",
            "III.B",
            "One-resilient, six processors: four votes for a decision, three for a further vote.",
            numbers == (4, 3),
            f"N_d = {numbers[0]}, N_v = {numbers[1]}",
        ),
        fact("fig3.decision", "III.B", "On receiving D1, every processor decides to include A1.", decided, measured),
    ]


def fig_4() -> list[Claim]:
    names = list(FIG_4.messages)
    whole, lost = replay(FIG_4), replay(without(FIG_4, "F2"))
    before = votes_before(FIG_4, names.index("E2") + 1)  # all but F2 and what follows: nothing is decided yet
    pair = frozenset({"E1", "F1"})
    both, later = whole.extensions[0], lost.extensions[0]
    favour = {stage: [m for m, at, is_for in later.votes if at == stage and is_for] for stage in (0, 1)}
    enough = [m for m, at, is_for in both.votes if at == 0 and is_for]
    every = {"A1", "E1", "F1"}
    after_all = [m for m in whole.included if every <= {*whole.follows[m], m}]
    alone = {m: before[frozenset({m}), 0] for m in sorted(every)}
    rejected = {m: len(against) for m, (_, against) in alone.items()}

    def says(id: str, text: str, holds: bool, measured: str) -> Claim:
        return fact(f"fig4.{id}", "III.B", text, holds, measured)

    return [
        says(
            "alone",
            "{E1} and {F1} are voted for only by the messages themselves.",
            alone["E1"][0] == ["E1"] and alone["F1"][0] == ["F1"],
            f"for {{E1}}: {' '.join(alone['E1'][0])}; for {{F1}}: {' '.join(alone['F1'][0])}",
        ),
        says(
            "a1", "A1 and B1 vote for {A1}.", alone["A1"][0] == ["A1", "B1"], f"for {{A1}}: {' '.join(alone['A1'][0])}"
        ),
        says(
            "rejected",
            "{A1}, {E1} and {F1} obtain too many negative votes in stage 0 and are decided against.",
            min(rejected.values()) >= 4,
            ", ".join(f"{{{m}}}: {count} against" for m, count in rejected.items()),
        ),
        says(
            "stage0",
            "{E1, F1} obtains four favorable votes in stage 0, from D1, C1, E2 and F2: enough for a decision.",
            (both.set, both.stage) == (["E1", "F1"], 0) and enough == ["D1", "C1", "E2", "F2"],
            f"{{{', '.join(both.set)}}} in stage {both.stage}, for it {' '.join(enough)}",
        ),
        says(
            "three",
            "If F2 is lost there are three favorable votes in stage 0.",
            favour[0] == ["D1", "C1", "E2"] and before[pair, 0][0] == favour[0],
            " ".join(favour[0]),
        ),
        says(
            "stage1",
            "But four in stage 1, from E2, D2, A2 and B2: again enough.",
            (later.set, later.stage) == (["E1", "F1"], 1) and favour[1] == ["E2", "D2", "A2", "B2"],
            f"{{{', '.join(later.set)}}} in stage {later.stage}, for it {' '.join(favour[1])}",
        ),
        says(
            "all",
            "The candidates in {A1, E1, F1} precede the four messages C2, D2, A2 and B2.",
            after_all == ["C2", "D2", "A2", "B2"],
            " ".join(after_all),
        ),
        says(
            "same",
            "With or without F2 every processor includes the same set at the same extension.",
            both.set == later.set,
            f"{{{', '.join(both.set)}}} and {{{', '.join(later.set)}}}",
        ),
    ]


def drawn(name: str, title: str, log: Log, arrows: Callable[[Replay], Mapping[str, Sequence[str]]]) -> Drawing:
    """Processors in rows, messages in the order of the log, an arrow from each message to those before it."""
    place = {m: (float(x), float(log.processors.index(m[0]))) for x, m in enumerate(log.messages)}
    marks: list[Line | Text] = [Text(at=(-1.2, float(y)), text=f"P{p}") for y, p in enumerate(log.processors)]
    for m, before in arrows(replay(log)).items():
        marks += [Line(start=place[m], end=_short_of(place[b], place[m]), arrow=True) for b in before if b in place]
    return Drawing(
        name=name, title=title, marks=[*marks, *(Text(at=at, text=m, circled=True) for m, at in place.items())]
    )


def _short_of(end: tuple[float, float], start: tuple[float, float]) -> tuple[float, float]:
    """Where an arrow ends so that the circle about its target does not hide its head."""
    (x, y), (u, v) = end, start
    share = 0.21 / hypot(u - x, v - y)
    return x + share * (u - x), y + share * (v - y)


def fig_1_drawn() -> Drawing:
    figure = drawn(
        "mma_fig1",
        "Fig. 1: positive (arrows) and negative (dashed, X) acknowledgments",
        FIG_1,
        lambda _: {m: carried.acks for m, carried in FIG_1.messages.items()},
    )
    place = {mark.text: mark.at for mark in figure.marks if isinstance(mark, Text)}
    marks: list[Line | Text] = []
    for m, carried in FIG_1.messages.items():
        for lack in carried.nacks:
            (x, y), (u, v) = place[m], place[lack]
            marks += [Line(start=(x, y), end=(u, v), dashed=True), Text(at=((x + u) / 2, (y + v) / 2), text="X")]
    return Drawing(name=figure.name, title=figure.title, marks=[*marks, *figure.marks])


def findings(results: Sequence[Result]) -> Findings:
    rows = [
        [n, k, Voting(n, k).decide_at, Voting(n, k).vote_at]
        for n in (4, 6, 7, 8, 10, 13, 20)
        for k in range(1, (n + 2) // 3)
    ]
    return Findings(
        claims=[*figs_1_and_2(), *fig_3(), *fig_4()],
        figures=[
            fig_1_drawn(),
            drawn("mma_fig2", "Fig. 2: the partial order of Fig. 1's messages", FIG_1, covers),
            drawn("mma_fig3", "Fig. 3: one candidate set, decided by A1, B1, C1 and D1", FIG_3, covers),
            drawn("mma_fig4", "Fig. 4: candidates A1, E1 and F1; the set {E1, F1} wins", FIG_4, covers),
        ],
        tables=[
            Table(
                name="mma_parameters",
                title="Votes required, rounded up",
                columns=["n", "resilience k", "N_d, for a decision", "N_v, for a further vote"],
                rows=rows,
            )
        ],
        notes=(
            "Figs 3 and 4 are missing from our copy of the paper; the logs drawn here satisfy every sentence about "
            "them. `ordercast order examples/figure4.json` prints the votes."
        ),
    )


EXAMPLES = Experiment("examples", "Worked examples", "II.C, III.B", findings=findings)
