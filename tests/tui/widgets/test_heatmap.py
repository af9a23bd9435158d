"""The map of scores: its cursor belongs to an Instance, and it shows as many as there is room."""

from dataclasses import replace

from textual.app import App, ComposeResult

from cacheroute.console.look import Look
from cacheroute.console.rows.scores import ScoreRow, what_if
from cacheroute.console.score_map import of_rows
from cacheroute_tui.widgets.heatmap import Heatmap, Spot
from tests.tui.fleet import WEIGHTS, big_fleet, drawn_fleet


class Map(App[None]):
    """One map."""

    is_ascii = False

    def compose(self) -> ComposeResult:
        yield Heatmap(id="heat")

    @property
    def heat(self) -> Heatmap:
        return self.query_one(Heatmap)

    def draw(
        self,
        rows: list[ScoreRow],
        wanted: dict[str, float] | None = None,
        strategy: str = "least_load",
    ) -> str:
        if wanted:
            rows = what_if(rows, wanted)
        self.heat.show(
            of_rows(rows), weights=WEIGHTS, sources={}, wanted=wanted or {}, strategy=strategy
        )
        return self.heat.text


def rows_of(count: int | None = None) -> list[ScoreRow]:
    document = drawn_fleet() if count is None else big_fleet(count)
    return list(Look(snapshot=document, url="").scores)


async def test_where_scores_do_not_choose_a_place_is_no_rank() -> None:
    app = Map()
    async with app.run_test(size=(120, 20)):
        text = app.draw(rows_of(), strategy="round_robin")

    assert "rank" not in text
    assert " by score " in text
    assert "it does not choose" in text


async def test_the_map_has_the_totals_of_the_proxy_under_short_names() -> None:
    app = Map()
    async with app.run_test(size=(120, 20)):
        lines = app.draw(rows_of()).splitlines()

    assert lines[0].split()[2:7] == ["9001", "9004", "9002", "9008", "9007"]
    totals = next(line for line in lines if "TOTAL" in line).split()[1:]
    assert totals[:8] == ["4.90", "6.92", "9.80", "12.00", "18.60", "?", "2.30", "?"]
    ranks = next(line for line in lines if line.startswith(" rank")).split()[1:]
    assert ranks[:8] == ["1", "2", "3", "4", "5", "ex", "ex", "ex"]


async def test_a_what_if_has_lines_of_its_own() -> None:
    app = Map()
    async with app.run_test(size=(120, 20)):
        plain = app.draw(rows_of())
        weighed = app.draw(rows_of(), {"inflight": 2.0})

    assert "WHAT-IF" not in plain
    assert "WHAT-IF, only here" in weighed
    assert "7.90" in weighed
    assert plain.splitlines()[:9] == weighed.splitlines()[:9]


async def test_the_cursor_stays_on_its_instance_when_the_order_changes() -> None:
    app = Map()
    async with app.run_test(size=(120, 20)) as pilot:
        rows = rows_of()
        app.draw(rows)
        app.heat.focus()
        await pilot.press("right", "down")
        assert app.heat.spot == Spot(instance_id="inst-9004", signal="active_prepare")

        app.draw(rows[::-1])

        assert app.heat.spot.instance_id == "inst-9004"


async def test_the_cursor_goes_everywhere_and_no_further() -> None:
    app = Map()
    async with app.run_test(size=(80, 20)) as pilot:
        app.draw(rows_of(50))
        app.heat.focus()
        ids = [row.id for row in rows_of(50)]
        for key, there in (
            ("left", ids[0]), ("end", ids[-1]), ("right", ids[-1]), ("g", ids[0]),
            ("l", ids[1]), ("h", ids[0]), ("G", ids[-1]), ("home", ids[0]),
        ):  # fmt: skip
            await pilot.press(key)
            assert app.heat.spot.instance_id == there, key
        await pilot.press("pagedown")
        assert app.heat.spot.instance_id not in ids[:3]
        await pilot.press("pageup")
        assert app.heat.spot.instance_id == ids[0]
        await pilot.press(*["j"] * 20)
        assert app.heat.spot.signal is None
        await pilot.press("k", *["up"] * 20)
        assert app.heat.spot.signal == "inflight"


async def test_what_has_no_room_is_counted_and_the_cursor_is_always_seen() -> None:
    app = Map()
    async with app.run_test(size=(80, 20)) as pilot:
        first = app.draw(rows_of(50)).splitlines()[0]
        app.heat.focus()
        await pilot.press("end")
        last = app.heat.text.splitlines()[0]

    assert "›" in first
    assert "›" not in last
    assert "‹" in last
    assert rows_of(50)[-1].id.removeprefix("inst-") in last


async def test_a_click_goes_to_its_cell() -> None:
    app = Map()
    async with app.run_test(size=(120, 20)) as pilot:
        app.draw(rows_of())
        await pilot.click(Heatmap, offset=(40, 3))

        assert app.heat.spot == Spot(instance_id="inst-9004", signal="active_ready")


async def test_an_id_that_is_gone_leaves_the_cursor_where_it_was() -> None:
    app = Map()
    async with app.run_test(size=(120, 20)) as pilot:
        rows = rows_of()
        app.draw(rows)
        app.heat.focus()
        await pilot.press("right")
        app.draw([row for row in rows if row.id != "inst-9004"])

        assert app.heat.spot.instance_id == "inst-9002"
        assert app.heat.go_to("inst-9007")
        assert not app.heat.go_to("inst-9004")


async def test_wide_names_and_brackets_are_text() -> None:
    app = Map()
    async with app.run_test(size=(120, 20)):
        rows = [replace(rows_of()[0], id="推理-节点-1"), replace(rows_of()[1], id="[b]x[/b]")]
        app.draw(rows)
        strips = [app.heat.render_line(y) for y in range(9)]

    assert {strip.cell_length for strip in strips} == {120}
    assert "[b]x[/b]" in strips[0].text


async def test_a_map_of_nobody_is_no_trouble() -> None:
    app = Map()
    async with app.run_test(size=(80, 20)) as pilot:
        app.draw([])
        app.heat.focus()
        await pilot.press("right", "down", "end", "pagedown")

        assert app.heat.spot.instance_id is None
        assert app.heat.cursor_row is None


async def test_a_remapped_key_moves_its_cursor_too() -> None:
    app = Map()
    app.set_keymap({"row.down": "n"})
    async with app.run_test(size=(120, 20)) as pilot:
        app.draw(rows_of())
        app.heat.focus()
        before = app.heat.spot
        await pilot.press("n")
        await pilot.pause()

        assert app.heat.spot.instance_id == before.instance_id
        assert app.heat.spot.signal != before.signal
