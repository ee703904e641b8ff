"""What figures of runs show: labels that tell curves apart and nothing else, each curve to be seen."""

import matplotlib
import pytest

from ordercast.papers import Curve, Estimate, Figure, Panel
from ordercast.report import figures
from ordercast.report.groups import Group, figure, shared, varying
from ordercast.report.runs import runs_page

PLAIN = {"messages": 400, "size_bytes": 500, "interval_s": 0.1, "network": "bus", "faults": "none"}
PLAIN["parameters"] = "default"


def simulated(protocol, members, mean=1.0, half=0.1, **more):
    settings = {"protocol": protocol, "members": members, **PLAIN, **more}
    return Group(settings, 2, {"delivery_s": Estimate(mean, half, 2)})


LIVE = Group({"protocol": "dtp", "members": 5}, 1, {"delivery_s": Estimate(3.0, float("nan"), 1)})
FOUR = [simulated(protocol, members) for protocol in ("cm", "dtp") for members in (5, 10)]


def labels(groups):
    return [curve.label for curve in figure(groups).panels[0].curves]


def test_a_label_holds_what_tells_a_curve_from_the_others():
    assert labels(FOUR) == ["cm", "dtp"]
    assert figure(FOUR).title == (
        "Metrics against group size (400 messages, 500 bytes, 1/λ 0.1 s, bus, no faults, default parameters)"
    )
    assert labels([*FOUR, simulated("dtp", 5, parameters="T=0.2")]) == [
        "cm, default parameters",
        "dtp, default parameters",
        "dtp, T=0.2",
    ]
    each_its_own = [simulated(name, n, parameters=f"{name}=1") for name in ("cm", "dtp") for n in (5, 10)]
    assert labels(each_its_own) == ["cm", "dtp"]


def test_a_live_run_is_no_curve_among_simulated_ones_and_has_a_table_of_its_own():
    assert labels([*FOUR, LIVE]) == ["cm", "dtp"]
    html = runs_page("there", [], [*FOUR, LIVE], {}, {}).html()
    assert "Live and foreign runs" in html
    assert "All with 400 messages, 500 bytes" in html
    assert "None" not in html
    larger = Group({"protocol": "dtp", "members": 9}, 1, LIVE.metrics)
    assert labels([LIVE, larger]) == ["dtp"]


def test_what_groups_share_and_where_they_differ():
    assert varying(FOUR) == ["protocol", "members"]
    assert varying(FOUR[:1]) == ["protocol"]
    assert shared(FOUR[:1]).startswith("5 members, 400 messages")
    assert shared([]) == ""


@pytest.fixture
def draw():
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    drawn = []

    def run(*panels):
        drawn.append(figures._figure(plt, Figure(name="f", title="t", panels=panels)))
        drawn[-1].draw_without_rendering()
        return drawn[-1]

    yield run
    for each in drawn:
        plt.close(each)


def panel(*curves, **more):
    return Panel(x_label="group size", y_label="y", curves=curves, **more)


CURVES = [Curve(label=name, x=[5, 10, 20], y=[1.0, 2.0, 3.0], half=[0.5, 2.5, 0.5]) for name in ("a", "b", "c")]


def test_a_legend_covers_no_panel(draw):
    other = Curve(label="a formula of its own", x=[1, 2], y=[1, 2], dashed=True)
    for panels, count in (([panel(*CURVES)] * 4, 1), ([panel(*CURVES), panel(other)], 2)):
        drawn = draw(*panels)
        legends = [*drawn.legends, *(place.get_legend() for place in drawn.axes if place.get_legend())]
        assert len(legends) == count
        for legend in legends:
            assert not any(legend.get_window_extent().overlaps(place.get_window_extent()) for place in drawn.axes)


def test_ticks_of_a_group_size_are_whole(draw):
    for ticks in (draw(panel(*CURVES)).axes[0].get_xticks(), draw(panel(CURVES[0])).axes[0].get_xticks()):
        assert all(float(tick).is_integer() for tick in ticks)


def test_an_interval_that_reaches_zero_does_not_stretch_a_logarithmic_axis(draw):
    bottom, top = draw(panel(*CURVES, log_y=True)).axes[0].get_ylim()
    assert 0.3 < bottom < 0.5
    assert 4.5 < top < 7


def test_curves_that_coincide_are_all_seen(draw):
    apart = Curve(label="d", x=[5, 10, 20], y=[9.0, 8.0, 7.0])
    *lines, other = [bars.lines[0] for bars in draw(panel(*CURVES, apart)).axes[0].containers]
    assert other.get_linewidth() == min(line.get_linewidth() for line in lines)
    sizes = [line.get_markersize() for line in lines]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == len(sizes)
    assert all(line.get_markerfacecolor() == "none" for line in lines)
    assert [line.get_zorder() for line in lines] == sorted(line.get_zorder() for line in lines)
