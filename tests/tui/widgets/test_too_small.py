"""What is said where there is no room for a screen."""

import pytest

from tests.tui.fleet import StillClock, StillFleet, drawn_fleet, lost
from tests.tui.showing import console, settle, shown, text_of


@pytest.mark.parametrize(
    ("size", "wanted"),
    [
        ((40, 10), ["● LIVE 0.0s  ●5 ■1 ◐1 ✕1 infl 31 ▲5 ale…", "needs 60x16, is 40x10",
                    *[""] * 7, "q Quit  p Pause  . Refresh"]),
        ((20, 5), ["● LIVE 0.0s  ●5 ■1 …", "needs 60x16, is 20x5", "", "",
                   "q Quit  p Pause"]),
        ((10, 3), ["● LIVE 0.…", "needs 60x…", "q Quit"]),
        ((10, 2), ["● LIVE 0.…", "q Quit"]),
        ((10, 1), ["● LIVE 0.…"]),
        ((1, 1), ["●"]),
    ],
)  # fmt: skip
async def test_a_line_its_reason_and_its_keys_as_far_as_there_is_room(
    size: tuple[int, int], wanted: list[str]
) -> None:
    app = console()
    async with shown(app, size):
        assert text_of(app).split("\n") == wanted


@pytest.mark.parametrize("size", [(59, 40), (200, 15)])
async def test_either_side_may_be_too_short(size: tuple[int, int]) -> None:
    app = console()
    async with shown(app, size):
        lines = text_of(app).split("\n")

    assert lines[0] == "● LIVE 0.0s  ●5 ■1 ◐1 ✕1 infl 31 ▲5 alerts"
    assert not any(lines[2:-1])


async def test_a_loss_and_a_pause_are_told_there_too() -> None:
    clock, fleet = StillClock(), StillFleet(drawn_fleet())
    app = console(fleet, clock=clock)
    async with shown(app, (60, 3)) as pilot:
        await pilot.press("p")
        clock.move(12.0)
        app._tick()
        await settle(pilot)
        assert text_of(app).startswith("■ PAUSED 12s  ●5")
        await pilot.press("p")
        fleet.trouble = lost()
        for _ in range(3):
            await app.feed.look()
        clock.move(0.5)
        app._tick()
        await settle(pilot)
        assert text_of(app).startswith("✕ LOST 0.5s again in")


async def test_it_is_ascii_where_the_terminal_is() -> None:
    app = console(ascii=True)
    async with shown(app, (40, 5)):
        text = text_of(app)

    assert text.isascii()
    assert text.startswith("* LIVE 0.0s  *5 #1 ~1 x1 infl 31 ^5 ale.")
