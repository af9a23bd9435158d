"""The screen of resources: figures with their age, unknown as such, and charts with room."""

import msgspec
import pytest

from cacheroute.console.source import SourceFault
from cacheroute.wire.console import Columns, Identities
from cacheroute_tui.screens.resources import Resources
from cacheroute_tui.widgets.charts import Chart
from cacheroute_tui.widgets.panel import Panel
from cacheroute_tui.widgets.vtable import VTable
from tests.tui.fleet import StillClock, StillFleet, big_fleet, drawn_fleet, lost
from tests.tui.screens.seen import seen
from tests.tui.showing import NARROW, NORMAL, WIDE, console, settle, shown, text_of


def screen_of(app: object) -> Resources:
    screen = getattr(app, "screen", None)
    assert isinstance(screen, Resources)
    return screen


def row_of(text: str, instance_id: str) -> list[str]:
    return next(
        line.removeprefix(">").split()
        for line in text.splitlines()
        if instance_id in line.split()[:3]
    )


@pytest.mark.parametrize("size", [NARROW, NORMAL, WIDE])
async def test_every_host_has_its_figures_at_every_size(size: tuple[int, int]) -> None:
    async with shown(console(screen="resources"), size) as pilot:
        text = seen(pilot)

    for figure in ("97!", "deg!", "903", "0.9s"):
        assert figure in row_of(text, "inst-9007")
    assert "reports 6/8" in text


async def test_what_nobody_has_reported_is_a_question_mark_and_never_0() -> None:
    document = drawn_fleet()
    blank = Columns(state="alive", age_s=0.5, inflight=1)
    fleet = StillFleet(msgspec.structs.replace(document, instances=blank))
    async with shown(console(fleet, screen="resources"), NORMAL) as pilot:
        text = seen(pilot)

    cells = row_of(text, "inst-9001")[3:]
    assert cells == ["?"] * len(cells)
    assert "no report has come" in text
    assert "reports 0/8" in text


async def test_an_agent_that_measures_0_is_told_as_0() -> None:
    document = drawn_fleet()
    columns = msgspec.structs.replace(document.instances, cpu_util=0.0, network_tx_mbps=0.0)
    fleet = StillFleet(msgspec.structs.replace(document, instances=columns))
    async with shown(console(fleet, screen="resources"), NORMAL) as pilot:
        text = seen(pilot)

    assert row_of(text, "inst-9001")[3] == "0"


async def test_the_card_follows_the_cursor() -> None:
    async with shown(console(screen="resources")) as pilot:
        screen = screen_of(pilot.app)
        await pilot.press("down")
        await settle(pilot)

        assert screen.selected_id() == "inst-9002"
        card = screen.query_one("#card", Panel)
        assert "35%" in card.text
        assert "admission accepting" in card.text


async def test_i_shows_what_is_stale_or_dead_and_m_what_has_a_report() -> None:
    document = drawn_fleet()
    ages = [0.4, None, 0.2, 0.3, 0.9, 0.5, 41.0, None]
    columns = msgspec.structs.replace(document.instances, report_age_s=ages)
    fleet = StillFleet(msgspec.structs.replace(document, instances=columns))
    async with shown(console(fleet, screen="resources")) as pilot:
        screen = screen_of(pilot.app)

        def ids() -> list[str]:
            return [row.id for row in screen.table.rows]

        assert len(ids()) == 8
        await pilot.press("i")
        assert ids() == ["inst-9003", "inst-9010"]
        await pilot.press("m")
        assert ids() == ["inst-9003"]
        await pilot.press("i")
        assert "inst-9004" not in ids()
        assert len(ids()) == 6
        await pilot.press("m", "a")
        assert ids() == [f"inst-{port}" for port in (9001, 9002, 9004, 9005, 9007, 9008)]
        await pilot.press("a", "f")
        assert ids() == ["inst-9004", "inst-9007", "inst-9003", "inst-9010"]
        await pilot.press("f")
        assert len(ids()) == 8


async def test_b_turns_figures_into_bars_and_back() -> None:
    async with shown(console(screen="resources"), NORMAL) as pilot:
        await pilot.press("b")
        await settle(pilot)
        assert "██" in next(line for line in seen(pilot).splitlines() if "● inst-9002" in line)
        await pilot.press("b")
        await settle(pilot)
        assert "██" not in next(line for line in seen(pilot).splitlines() if "● inst-9002" in line)


async def test_charts_stand_where_there_is_room_and_v_brings_them_anywhere() -> None:
    async with shown(console(screen="resources"), NARROW) as pilot:
        screen = screen_of(pilot.app)
        assert not screen.query_one("#charts").display
        await pilot.press("v")
        await settle(pilot)
        assert "CPU %" in seen(pilot)
        assert screen.table.size.height == 0
        await pilot.press("v")
        await settle(pilot)
        assert screen.table.display
        await pilot.resize_terminal(*NORMAL)
        await settle(pilot)
        assert not screen.query_one("#charts").display
        await pilot.press("v")
        await settle(pilot)
        assert screen.query_one("#charts").display
        assert screen.table.display


async def test_the_window_goes_from_5_to_60_minutes_and_back() -> None:
    async with shown(console(screen="resources"), WIDE) as pilot:
        screen = screen_of(pilot.app)
        for key, window_s in (("[", 300), ("]", 900), ("]", 3_600), ("]", 3_600), ("[", 900)):
            await pilot.press("left_square_bracket" if key == "[" else "right_square_bracket")
            await settle(pilot)
            assert screen.window_s == window_s
            minutes = f"{window_s // 60} min"
            assert minutes in screen.query_one("#chart-cpu", Chart).text


async def test_c_empties_the_charts() -> None:
    clock = StillClock()
    app = console(screen="resources", clock=clock)
    async with shown(app, WIDE) as pilot:
        for _ in range(20):
            clock.move(2.0)
            await app.feed.look()
        await settle(pilot)
        chart = screen_of(app).query_one("#chart-cpu", Chart)
        assert "mean 31.5" in chart.text
        await pilot.press("c")
        await settle(pilot)

        assert "mean ?" in chart.text


async def test_an_outage_is_a_gap_in_the_charts() -> None:
    clock, fleet = StillClock(), StillFleet(drawn_fleet())
    app = console(fleet, screen="resources", clock=clock)
    async with shown(app, WIDE) as pilot:
        for trouble in (None, lost(), None):
            fleet.trouble = trouble
            for _ in range(60):
                clock.move(1.0)
                await app.feed.look()
        await settle(pilot)
        chart = screen_of(app).query_one("#chart-cpu", Chart)
        row = next(line[5:] for line in chart.text.splitlines()[1:] if line[5:].strip())

    drawn = row.strip()
    assert "  " in drawn
    assert drawn.replace(" ", "")


async def test_ages_go_on_while_the_proxy_is_lost() -> None:
    clock, fleet = StillClock(), StillFleet(drawn_fleet())
    app = console(fleet, screen="resources", clock=clock)
    async with shown(app) as pilot:
        fleet.trouble = lost()
        for _ in range(3):
            clock.move(10.0)
            await app.feed.look()
        await settle(pilot)

        assert "30s" in row_of(text_of(app), "inst-9001")


async def test_charts_that_are_not_to_be_seen_are_not_drawn() -> None:
    app = console(screen="resources")
    async with shown(app, NARROW):
        assert screen_of(app).query_one("#chart-cpu", Chart).text == ""


async def test_a_thousand_hosts_and_none_are_shown() -> None:
    nobody = msgspec.structs.replace(
        drawn_fleet(), instances=Columns(), identities=Identities(ids=[])
    )
    for document, told in ((big_fleet(1_000), "reports 1000/1000"), (nobody, "no hosts")):
        async with shown(console(StillFleet(document), screen="resources"), WIDE) as pilot:
            assert told in seen(pilot)


async def test_nothing_at_all_is_told_in_words() -> None:
    fleet = StillFleet(drawn_fleet())
    fleet.trouble = SourceFault("cannot reach it", code="unreachable")
    async with shown(console(fleet, screen="resources"), NORMAL) as pilot:
        text = seen(pilot)

    assert "no look has come yet" in text
    assert "cannot reach it" in text


@pytest.mark.parametrize("key", ["slash", "less_than_sign", "r", "a", "f", "w", "b", "i", "m"])
async def test_a_key_that_is_about_the_table_brings_it_back(key: str) -> None:
    async with shown(console(screen="resources"), NARROW) as pilot:
        screen = pilot.app.screen
        await pilot.press("v")
        await settle(pilot)
        assert screen.query_one(VTable).size.height == 0
        await pilot.press(key)
        await settle(pilot)

        assert screen.query_one(VTable).size.height > 0


async def test_charts_in_the_place_of_the_table_follow_its_cursor() -> None:
    async with shown(console(screen="resources"), NARROW) as pilot:
        await pilot.press("v", "j")
        await settle(pilot)
        table = pilot.app.focused
        assert isinstance(table, VTable)
        assert table.cursor_id is not None
        assert table.cursor_id in seen(pilot)
