"""Charts on a screen: how long a time they show, where they end, and when they are left alone."""

from collections.abc import Sequence

from cacheroute_tui.screens.resources import Resources
from cacheroute_tui.widgets.charts import Chart, Course
from tests.tui.fleet import StillClock
from tests.tui.showing import WIDE, console, settle, shown


def screen_of(app: object) -> Resources:
    screen = getattr(app, "screen", None)
    assert isinstance(screen, Resources)
    return screen


async def test_values_are_asked_for_only_when_a_chart_would_change() -> None:
    clock = StillClock()
    app = console(screen="resources", clock=clock)
    asked: list[float] = []

    def courses(since_s: float) -> Sequence[Course]:
        asked.append(since_s)
        return []

    async with shown(app, WIDE):
        screen = screen_of(app)
        chart = screen.query_one("#chart-cpu", Chart)
        screen.window_s = 3_600
        for _ in range(10):
            clock.move(1.0)
            screen.draw_chart(chart, (), courses)

    assert 1 <= len(asked) < 10
    # A little more than the window, so that its first column knows what held then.
    assert asked[0] < clock.now().mono_s - 3_600


async def test_a_chart_that_is_held_ends_when_it_was_held() -> None:
    clock = StillClock()
    app = console(screen="resources", clock=clock)
    async with shown(app, WIDE) as pilot:
        screen = screen_of(app)
        held = screen.chart_now()
        await pilot.press("p")
        clock.move(60.0)

        assert screen.chart_now() == held
        await pilot.press("p")
        await settle(pilot)
        assert screen.chart_now().mono_s == held.mono_s + 60


async def test_charts_are_drawn_again_when_their_screen_comes_back() -> None:
    clock = StillClock()
    app = console(screen="resources", clock=clock)
    async with shown(app, WIDE) as pilot:
        chart = screen_of(app).query_one("#chart-cpu", Chart)
        before = chart.text
        await pilot.press("2")
        clock.move(120.0)
        await app.feed.look()
        await settle(pilot)
        assert chart.text == before
        await pilot.press("3")
        await settle(pilot)

        assert chart.text != before


async def test_c_forgets_what_the_charts_have_drawn() -> None:
    clock = StillClock()
    app = console(screen="resources", clock=clock)
    async with shown(app, WIDE) as pilot:
        for _ in range(5):
            clock.move(1.0)
            await app.feed.look()
        await settle(pilot)
        chart = screen_of(app).query_one("#chart-cpu", Chart)
        before = chart.text
        await pilot.press("c")
        await settle(pilot)

        assert chart.text != before
