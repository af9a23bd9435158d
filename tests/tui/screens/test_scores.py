"""The screen of scores: the Proxy's totals, why they are so, and a what-if that stays here."""

from collections.abc import Sequence

import pytest
from textual.widgets import Input

from cacheroute.console.rows.decisions import DecisionRow
from cacheroute.console.source import SourceFault
from cacheroute_tui.screens.scores import Scores
from cacheroute_tui.widgets.heatmap import Heatmap
from cacheroute_tui.widgets.lines import Lines
from cacheroute_tui.widgets.panel import Panel
from cacheroute_tui.widgets.sheet import Sheet
from cacheroute_tui.widgets.vtable import VTable
from cacheroute_tui.widgets.weight_line import WeightLine
from tests.tui.fleet import WEIGHTS, StillClock, StillFleet, big_fleet, drawn_fleet
from tests.tui.screens.seen import seen
from tests.tui.showing import NARROW, NORMAL, WIDE, console, settle, shown, text_of


def screen_of(app: object) -> Scores:
    screen = getattr(app, "screen", None)
    assert isinstance(screen, Scores)
    return screen


@pytest.mark.parametrize("size", [NARROW, NORMAL, WIDE, (60, 16)])
async def test_map_totals_and_ranks_are_seen_at_every_size(size: tuple[int, int]) -> None:
    async with shown(console(screen="scores"), size) as pilot:
        text = seen(pilot)

    totals = next(line for line in text.splitlines() if line.startswith(" TOTAL"))
    assert totals.split()[1:4] == ["4.90", "6.92", "9.80"]
    assert any(line.startswith(" rank") for line in text.splitlines())
    assert "inst-9001 · rank 1/5" in text


async def test_every_total_is_the_proxys_in_a_big_pool_too() -> None:
    document = big_fleet(40)
    told = dict(zip(document.ids, document.instances.score, strict=True))  # type: ignore[arg-type]
    async with shown(console(StillFleet(document), screen="scores")) as pilot:
        screen = screen_of(pilot.app)
        seen = {}
        for _ in range(40):
            row = screen.heat.cursor_row
            assert row is not None
            panel = screen.query_one("#spot", Panel).text
            seen[row.id] = panel.split()[1]
            await pilot.press("right")
            await settle(pilot)

    assert seen == {id_: f"{score:.2f}" for id_, score in told.items()}


async def test_the_cell_under_the_cursor_is_explained_below_and_by_e() -> None:
    async with shown(console(screen="scores"), NORMAL) as pilot:
        screen = screen_of(pilot.app)
        await pilot.press("right", "down")
        await settle(pilot)
        spot = screen.query_one("#spot", Panel).text
        assert "active_prepare 1 × 1 = 1, 14% of the score" in spot
        assert "parts iiii p r b" in spot

        await pilot.press("e")
        await settle(pilot)
        assert isinstance(pilot.app.screen, Sheet)
        sheet = pilot.app.screen.query_one(Lines).text
        assert "counted by: queue_manager" in sheet
        assert "Requests that are being prepared" in sheet
        await pilot.press("escape")
        assert screen_of(pilot.app) is screen


async def test_e_says_why_an_instance_is_left_out_and_that_unknown_is_not_0() -> None:
    async with shown(console(screen="scores"), NORMAL) as pilot:
        await pilot.press("end", "down", "e")
        await settle(pilot)
        sheet = pilot.app.screen.query_one(Lines).text

    assert "not in the choice: expired" in sheet
    assert "It is not 0." in sheet


async def test_w_weighs_anew_here_and_nowhere_else() -> None:
    fleet = StillFleet(drawn_fleet())
    async with shown(console(fleet, screen="scores"), NORMAL) as pilot:
        screen = screen_of(pilot.app)
        await pilot.press("w")
        field = screen.query_one(WeightLine).query_one(Input)
        assert field.value == "inflight=1"
        await pilot.press("backspace", "5", "enter")
        await settle(pilot)
        text = seen(pilot)

        assert screen.wanted == {"inflight": 5.0}
        assert "what-if, only here: inflight 1→5" in text
        assert "the same order" in text
        assert "16.90" in text
        # The Proxy's own stay as they are.
        totals = next(line for line in text.splitlines() if line.startswith(" TOTAL"))
        assert totals.split()[1:4] == ["4.90", "6.92", "9.80"]
        assert fleet.document.weights == WEIGHTS
        assert screen.focused is screen.heat

        await pilot.press("W")
        await settle(pilot)
        assert screen.wanted == {}
        assert "WHAT-IF" not in seen(pilot)


async def test_escape_takes_the_what_if_away() -> None:
    async with shown(console(screen="scores"), NORMAL) as pilot:
        screen = screen_of(pilot.app)
        await pilot.press("w", "backspace", "5")
        await settle(pilot)
        assert screen.wanted == {"inflight": 5.0}
        await pilot.press("escape")
        await settle(pilot)
        assert screen.wanted == {}


async def test_what_is_no_weight_changes_nothing_and_is_told() -> None:
    async with shown(console(screen="scores"), NORMAL) as pilot:
        screen = screen_of(pilot.app)
        await pilot.press("w", *["backspace"] * 12, *"nothing=1")
        await settle(pilot)

        assert screen.wanted == {}
        assert "no signal is called 'nothing'" in seen(pilot)
        # Letters go into the field that has the focus.
        await pilot.press("q")
        assert screen.query_one(WeightLine).query_one(Input).value == "nothing=1q"


async def test_a_shows_only_those_in_the_choice() -> None:
    async with shown(console(screen="scores"), NORMAL) as pilot:
        await pilot.press("a")
        await settle(pilot)
        head = seen(pilot).splitlines()[2]
        assert head.split()[2:7] == ["9001", "9004", "9002", "9008", "9007"]
        assert "9005" not in head
        await pilot.press("a")
        await settle(pilot)
        assert "9005" in seen(pilot).splitlines()[2]


async def test_enter_on_a_decision_goes_to_the_instance_that_got_it() -> None:
    async with shown(console(screen="scores"), NORMAL) as pilot:
        screen = screen_of(pilot.app)
        await pilot.press("right", "right", "tab")
        assert isinstance(screen.focused, VTable)
        await pilot.press("down")
        await settle(pilot)
        assert "tie, by turns" in seen(pilot)
        assert screen.selected_id() == "inst-9004"
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(screen.focused, Heatmap)
        assert screen.heat.spot.instance_id == "inst-9004"


async def test_a_decision_for_nobody_says_why() -> None:
    async with shown(console(screen="scores"), NORMAL) as pilot:
        screen = screen_of(pilot.app)
        screen.set_focus(screen.decisions)
        await pilot.press("G", "enter")
        await settle(pilot)

        assert screen.focused is screen.decisions
        assert "no Instance is eligible" in seen(pilot)


async def test_a_proxy_that_does_not_tell_its_decisions_still_shows_scores() -> None:
    class Silent(StillFleet):
        async def decisions(self, *, last: int = 100) -> Sequence[DecisionRow]:
            raise SourceFault("this Proxy has no decisions", code="missing")

    async with shown(console(Silent(drawn_fleet()), screen="scores"), NORMAL) as pilot:
        text = seen(pilot)

    assert "this Proxy has no decisions" in text
    assert "18.60" in text


async def test_the_selected_score_is_a_document() -> None:
    async with shown(console(screen="scores")) as pilot:
        found = screen_of(pilot.app).selected_json()

    assert isinstance(found, dict)
    assert (found["instance_id"], found["score"], found["rank"]) == ("inst-9001", 4.9, 1)
    assert {"signal": "inflight", "value": 3.0, "weight": 1.0, "weighted": 3.0,
            "source": "proxy_lifecycle"} in found["terms"]  # fmt: skip


async def test_a_hidden_screen_is_not_drawn() -> None:
    clock, fleet = StillClock(), StillFleet(drawn_fleet())
    app = console(fleet, screen="scores", clock=clock)
    async with shown(app, NORMAL) as pilot:
        heat = screen_of(app).heat
        await pilot.press("2")
        await settle(pilot)
        before = heat.text
        fleet.document = big_fleet(3)
        clock.move(1.0)
        await app.feed.look()
        await settle(pilot)
        assert heat.text == before
        await pilot.press("5")
        await settle(pilot)

        assert heat.text != before


async def test_in_ascii_nothing_else_is_drawn() -> None:
    app = console(screen="scores", ascii=True)
    async with shown(app, WIDE):
        body = text_of(app).splitlines()[2:]

    assert "".join(body).isascii()
