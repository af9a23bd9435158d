"""The time of a recording in the hands of a reader: stopped, stepped, played, and at its end."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from cacheroute.sources.replay import ReplaySource
from cacheroute_tui.app import ConsoleApp
from cacheroute_tui.options import Target
from tests.cacheroute.sources.recordings import HandTime, a_recording
from tests.tui.operated import Operated
from tests.tui.showing import NORMAL, console, settle, shown, text_of


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """Record five looks, a second apart."""
    a_recording(tmp_path / "rec", looks=5)
    return tmp_path / "rec"


def of_recording(recorded: Path, time: HandTime) -> ConsoleApp:
    app = console(ReplaySource(recorded, mono_s=time.mono_s))
    app.target = Target(proxy_url="replay:rec", name="replay")
    return app


async def pressed(pilot: Pilot[int], *keys: str) -> str:
    await pilot.press(*keys)
    await settle(pilot)
    assert isinstance(pilot.app, ConsoleApp)
    await pilot.app.feed.look()
    await settle(pilot)
    return text_of(pilot.app)


async def test_steps_go_from_look_to_look_and_no_further_than_the_ends(recorded: Path) -> None:
    app = of_recording(recorded, HandTime())
    async with shown(app, NORMAL) as pilot:
        assert "look 1" not in text_of(app)
        text = await pressed(pilot, "right_curly_bracket", "right_curly_bracket")
        assert "look 3 of 5, 22:13:23.000 · { and } step, p plays" in text
        assert "■ PAUSED" in text
        assert " 22:13:23" in text.splitlines()[0]
        assert "look 2 of 5" in await pressed(pilot, "left_curly_bracket")
        assert "look 5 of 5" in await pressed(pilot, *["right_curly_bracket"] * 9)


async def test_p_stops_the_time_of_a_recording_and_lets_it_go_on(recorded: Path) -> None:
    time = HandTime()
    app = of_recording(recorded, time)
    async with shown(app, NORMAL) as pilot:
        assert "look 1 of 5" in await pressed(pilot, "p")
        time.passed_s += 2.0
        assert "look 1 of 5" in await pressed(pilot)
        assert "■ PAUSED" not in await pressed(pilot, "p")
        time.passed_s += 60.0
        text = await pressed(pilot)

    assert (
        "the recording ends here: look 5 of 5, 22:13:25.000 · { steps back, p plays it again"
        in text
    )


async def test_what_is_no_recording_has_no_steps(tmp_path: Path) -> None:
    operated = Operated(tmp_path)
    async with shown(operated.app) as pilot:
        await pilot.press("right_curly_bracket")
        await settle(pilot)

        assert operated.said[0].startswith("only a recording has steps")
