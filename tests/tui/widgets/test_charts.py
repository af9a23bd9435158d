"""Charts: axes, windows, gaps, and how little they cost."""

from array import array
from collections.abc import Sequence
from math import nan
from time import process_time

from textual.app import App, ComposeResult
from textual.containers import Grid

from cacheroute.console.points import Points
from cacheroute.core.clock import Instant
from cacheroute_tui.widgets.charts import Chart, ChartKind, Course
from tests.tui.fleet import WALL_S

LOOKS = 300


def points(values: Sequence[float]) -> Points:
    return Points(
        times_s=array("d", [1_000.0 - len(values) + at for at in range(len(values))]),
        values=array("f", values),
    )


def at(passed_s: float = 0.0) -> Instant:
    return Instant(mono_s=1_000.0 + passed_s, wall_s=WALL_S + passed_s)


class Charts(App[None]):
    """So many charts, three in a row."""

    CSS = "Grid { grid-size: 3; } Chart { height: 1fr; }"

    def __init__(
        self, count: int = 1, *, kind: ChartKind = "lines", top: float | None = 100.0,
        is_ascii: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.is_ascii = is_ascii
        self.charts = [
            Chart(f"chart {n}", unit="%", top=top, kind=kind, id=f"c{n}") for n in range(count)
        ]

    def compose(self) -> ComposeResult:
        with Grid():
            yield from self.charts

    def draw(
        self, *courses: Course, window_s: float = 300.0, passed_s: float = 0.0, **more: bool
    ) -> str:
        for chart in self.charts:
            chart.show(courses, window_s=window_s, now=at(passed_s), usual_s=1.0, **more)
        return self.charts[0].text


async def test_a_chart_has_a_heading_with_the_last_value_and_an_axis() -> None:
    app = Charts()
    async with app.run_test(size=(120, 10)):
        text = app.draw(Course(label="mean", points=points([41.0] * LOOKS)))

    head, *plot, foot = text.splitlines()
    assert head.startswith(" chart 0 %  mean 41".replace("  mean", "  mean"))
    assert plot[0].startswith(" 100┤")
    assert plot[-1].startswith("   0┤")
    assert foot.startswith("    └")
    assert foot.endswith("now")


async def test_an_unknown_last_value_is_a_question_mark_and_not_0() -> None:
    app = Charts()
    async with app.run_test(size=(120, 10)):
        text = app.draw(Course(label="mean", points=points([5.0, nan])))

    assert "mean ?" in text.splitlines()[0]


async def test_a_gap_is_not_drawn_through() -> None:
    values = [50.0] * LOOKS
    values[100:200] = [nan] * 100
    app = Charts()
    async with app.run_test(size=(120, 10)):
        text = app.draw(Course(label="mean", points=points(values)))

    row = next(line for line in text.splitlines()[1:-1] if line[5:].strip())
    drawn = row[5:]
    middle = drawn[len(drawn) * 4 // 10 : len(drawn) * 6 // 10]
    assert middle.strip() == ""
    assert drawn.strip() != ""


async def test_a_longer_window_shows_the_same_looks_in_less_room() -> None:
    app = Charts()
    async with app.run_test(size=(120, 10)):
        course = Course(label="mean", points=points([50.0] * LOOKS))
        short, long = app.draw(course), app.draw(course, window_s=3_600.0)

    def cells(text: str) -> int:
        return sum(len(line[5:].replace(" ", "")) for line in text.splitlines()[1:-1])

    assert cells(long) * 5 < cells(short)


async def test_a_chart_in_ascii_has_nothing_else() -> None:
    app = Charts(is_ascii=True)
    async with app.run_test(size=(120, 10)):
        app.draw(
            Course(label="a", points=points([20.0] * LOOKS)),
            Course(label="b", points=points([80.0] * LOOKS)),
        )
        strips = [app.charts[0].render_line(y) for y in range(10)]

    text = "".join(strip.text for strip in strips)
    assert text.isascii()
    assert {"*", "o"} <= set(text)


async def test_a_row_with_one_line_is_two_segments() -> None:
    app = Charts()
    async with app.run_test(size=(120, 10)):
        app.draw(Course(label="mean", points=points([float(n % 90) for n in range(LOOKS)])))
        strips = [app.charts[0].render_line(y) for y in range(1, 9)]

    assert all(len(list(strip)) <= 2 for strip in strips)


async def test_columns_stand_on_the_axis() -> None:
    app = Charts(kind="blocks", top=None)
    async with app.run_test(size=(120, 10)):
        text = app.draw(Course(label="waiting", points=points([4.0] * LOOKS)))

    assert text.splitlines()[1].startswith("   4┤█")
    assert text.splitlines()[-2].startswith("   0┤█")


async def test_a_long_window_is_worked_out_less_often_than_looks_come() -> None:
    app = Charts()
    async with app.run_test(size=(120, 10)):
        chart = app.charts[0]
        assert chart.is_due(1_000.0, 3_600.0, ["mean"])
        app.draw(Course(label="mean", points=points([50.0] * LOOKS)), window_s=3_600.0)

        assert not chart.is_due(1_001.0, 3_600.0, ["mean"])
        assert chart.is_due(1_001.0, 300.0, ["mean"])
        assert chart.is_due(1_001.0, 3_600.0, ["another"])
        assert chart.is_due(1_060.0, 3_600.0, ["mean"])
        chart.forget()
        assert chart.is_due(1_001.0, 3_600.0, ["mean"])


async def test_a_chart_without_room_or_values_is_blank_and_no_trouble() -> None:
    app = Charts()
    async with app.run_test(size=(20, 2)):
        app.draw()
        app.draw(Course(label="mean", points=points([])))
        assert app.charts[0].render_line(0).cell_length == app.charts[0].size.width


async def test_six_charts_cost_a_few_dozen_plain_loops() -> None:
    # A style for each cell, as generic widgets draw, costs ten times that.
    app = Charts(6)
    async with app.run_test(size=(160, 48)) as pilot:
        courses = [Course(label="mean", points=points([float(n % 97) for n in range(LOOKS)]))]
        app.draw(*courses)
        await pilot.pause()
        began_s = process_time()
        for look in range(10):
            app.draw(*courses, passed_s=2.0 * look)
            for chart in app.charts:
                for y in range(chart.size.height):
                    chart.render_line(y)
        took_s = (process_time() - began_s) / 10

    assert took_s < 60 * _plain_loop_s()


def _plain_loop_s() -> float:
    """Return what ten thousand additions cost here and now."""
    best_s = float("inf")
    for _ in range(20):
        began_s = process_time()
        total = 0
        for number in range(10_000):
            total += number
        best_s = min(best_s, process_time() - began_s)
    return best_s
