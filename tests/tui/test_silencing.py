"""`x` on any screen: an alert somebody knows of no longer counts, until it ends."""

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from cacheroute.console.look import Look
from cacheroute.wire.console import Columns, ConsoleSnapshot, Identities
from cacheroute_tui.app import SCREENS, ConsoleApp
from cacheroute_tui.palette import entries
from cacheroute_tui.widgets.alert_menu import AlertMenu
from tests.tui.fleet import WALL_S, StillFleet, drawn_fleet
from tests.tui.showing import NARROW, NORMAL, console, settle, shown, text_of


async def pressed(pilot: Pilot[int], *keys: str) -> None:
    await pilot.press(*keys)
    await settle(pilot)


def told(app: ConsoleApp) -> str:
    return " ".join(str(note.message) for note in app._notifications)


def states(app: ConsoleApp) -> dict[str, str]:
    look = app.shown.look
    assert look is not None
    return {f"{one.alert.kind} {one.alert.instance_id}": one.state for one in look.noted}


def fine(generated_at: float) -> ConsoleSnapshot:
    """Return the pool with everybody's GPU idle."""
    before = drawn_fleet()
    return replace(
        before,
        rev=2,
        generated_at=generated_at,
        instances=replace(before.instances, gpu_util_avg=10.0),
    )


@pytest.mark.parametrize("name", [one.NAME for one in SCREENS])
async def test_x_lists_the_alerts_on_every_screen(name: str) -> None:
    app = console(screen=name)
    async with shown(app) as pilot:
        await pressed(pilot, "x")

        assert isinstance(app.screen, AlertMenu)
        assert "inst-9010 last seen" in text_of(app)


async def test_an_alert_is_silenced_and_counts_again_by_x_twice() -> None:
    app = console(screen="overview")
    async with shown(app) as pilot:
        before = Look(snapshot=drawn_fleet(), url="u").alerts()
        assert f"alerts {len(before)}" in text_of(app)

        await pressed(pilot, "x", "x")
        assert states(app)["dead inst-9010"] == "silenced"
        assert f"alerts {len(before) - 1} · 1 silenced" in text_of(app)
        assert "dead inst-9010 is silenced until it ends; x again undoes it" in told(app)

        await pressed(pilot, "x", "end", "x")
        assert states(app)["dead inst-9010"] == "active"
        assert "dead inst-9010 counts again" in told(app)


async def test_the_list_begins_at_the_instance_under_the_cursor() -> None:
    app = console(screen="instances")
    async with shown(app) as pilot:
        assert app.front is not None
        while app.front.selected_id() != "inst-9007":
            await pressed(pilot, "down")
        await pressed(pilot, "x", "x")

        [silenced] = [name for name, state in states(app).items() if state == "silenced"]
        assert silenced.endswith("inst-9007")


async def test_the_header_of_the_pool_counts_active_ones_only() -> None:
    app = console(screen="instances")
    async with shown(app) as pilot:
        count = len(Look(snapshot=drawn_fleet(), url="u").alerts())
        assert f"▲{count} alerts" in text_of(app)
        await pressed(pilot, "x", "x")

        assert f"▲{count - 1} alerts" in text_of(app)


async def test_a_silenced_instance_is_among_the_faults_all_the_same() -> None:
    app = console(screen="instances")
    async with shown(app, NORMAL) as pilot:
        look = app.shown.look
        assert look is not None
        for alert in look.alerts:
            assert app.store.silence(alert.key)
        app.show_newest()
        await pressed(pilot, "f")

        assert "inst-9007" in text_of(app)


async def test_an_alert_that_ends_is_past_and_silenced_no_more() -> None:
    fleet = StillFleet(drawn_fleet())
    app = console(fleet, screen="overview")
    async with shown(app, NORMAL) as pilot:
        assert app.store.silence(("gpu", "inst-9007"))
        fleet.document = fine(WALL_S + 60)
        await app.feed.look()
        await settle(pilot)

        assert states(app)["gpu inst-9007"] == "past"
        assert "past: inst-9007 GPU use 97%" in text_of(app)
        await pressed(pilot, "x", "end", "x")
        assert "has ended; there is nothing to silence" in told(app)


async def test_while_what_is_shown_is_held_an_alert_can_be_silenced() -> None:
    app = console(screen="overview")
    async with shown(app) as pilot:
        await pressed(pilot, "p", "x", "x")

        assert app.is_paused
        assert states(app)["dead inst-9010"] == "silenced"
        assert "1 silenced" in text_of(app)


async def test_without_an_alert_x_says_so() -> None:
    alone = ConsoleSnapshot(
        rev=1,
        generated_at=WALL_S,
        identities=Identities(ids=["inst-1"], host="10.0.0.1", port=8000),
        instances=Columns(state="alive", age_s=0.4),
    )
    app = console(StillFleet(alone), screen="overview")
    async with shown(app) as pilot:
        await pressed(pilot, "x")

        assert not isinstance(app.screen, AlertMenu)
        assert "no alert is active" in told(app)


async def test_e_explains_an_alert_in_the_list_and_on_its_screen() -> None:
    app = console(screen="overview")
    async with shown(app, NORMAL) as pilot:
        await pressed(pilot, "x", "e")
        assert "the Proxy has given it up" in text_of(app)
        await pressed(pilot, "escape", "escape", "e")
        assert "three times the time to live" in text_of(app)


async def test_it_is_in_the_help_and_in_the_palette() -> None:
    app = console(screen="overview")
    async with shown(app, NARROW) as pilot:
        assert "silence (x)" in [name for name, _, _ in entries(app)]
        await pressed(pilot, "question_mark", *["pagedown"] * 3)

        assert "silence one until it ends" in text_of(app)


async def test_a_terminal_of_letters_gets_the_list_in_letters() -> None:
    app = console(screen="overview", ascii=True)
    async with shown(app) as pilot:
        assert app.store.silence(("dead", "inst-9010"))
        app.show_newest()
        await pressed(pilot, "x")
        text = text_of(app)

    assert text.isascii()
    assert "# 14:21:28 dead     silenced: inst-9010" in text


async def test_other_keys_for_both_work_in_the_list_and_are_written_wherever_it_is_told() -> None:
    app = console(screen="overview", keys={"silence": "z", "explain": "i"})
    async with shown(app, NORMAL) as pilot:
        assert "z silences, i explains" in text_of(app)
        await pressed(pilot, "z")
        assert "z silences, or counts again · i explains" in text_of(app)
        await pressed(pilot, "x", "e")
        assert isinstance(app.screen, AlertMenu)

        await pressed(pilot, "i")
        assert "the Proxy has given it up" in text_of(app)
        await pressed(pilot, "escape", "z")
        assert "z again undoes it" in told(app)
