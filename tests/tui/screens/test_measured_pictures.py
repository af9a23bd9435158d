"""Pictures of Resources, Queues and Scores: at each size, and in each state that shows."""

import msgspec
import pytest

from cacheroute.wire.console import Columns, ConsoleSnapshot, Knowledge
from tests.tui.conftest import Picture
from tests.tui.fleet import StillClock, StillFleet, big_fleet, drawn_fleet, lost
from tests.tui.requests import links, requests
from tests.tui.showing import console, settle, shown, text_of

SCREENS = ("resources", "queues", "scores")
SIZES = ((80, 24), (120, 36), (160, 48))


def long_ids() -> ConsoleSnapshot:
    document = drawn_fleet()
    assert document.identities is not None
    names = [f"推理节点-華東-{n}-with-a-name-that-does-not-end" for n in range(8)]
    return msgspec.structs.replace(
        document, identities=msgspec.structs.replace(document.identities, ids=names)
    )


def unknowns() -> ConsoleSnapshot:
    states: list[str | None] = [*["alive"] * 6, "stale", "dead"]
    blank = Columns(state=states, age_s=1.0, inflight=1)
    return msgspec.structs.replace(drawn_fleet(), instances=blank)


STATES: dict[str, ConsoleSnapshot] = {
    "unknown": unknowns(),
    "long-ids": long_ids(),
    "thousand": big_fleet(1_000),
    "one": big_fleet(1),
}


def fleet_of(document: ConsoleSnapshot) -> StillFleet:
    knowledge = Knowledge(kv_inject=122, text_inject=78, fallback=2)
    fleet = StillFleet(msgspec.structs.replace(document, knowledge=knowledge))
    fleet.requests, fleet.links = requests(), links()
    return fleet


async def body_of(
    screen: str,
    document: ConsoleSnapshot,
    size: tuple[int, int],
    *keys: str,
    ascii: bool = False,  # noqa: A002 - the option's name
    is_lost: bool = False,
) -> str:
    """Return what stands between the tabs and the footer, after two minutes of looks."""
    clock, fleet = StillClock(), fleet_of(document)
    app = console(fleet, screen=screen, clock=clock, ascii=ascii)
    async with shown(app, size) as pilot:
        for look in range(60):
            fleet.trouble = lost() if is_lost and look > 40 else None
            clock.move(2.0)
            await app.feed.look()
        await settle(pilot)
        for key in keys:
            await pilot.press(key)
            await settle(pilot)
        lines = text_of(app).splitlines()[2:-1]
    assert all(len(line) <= size[0] for line in lines)
    # When the next attempt comes is left to chance, and the banner says it.
    return "\n".join(line for line in lines if " LOST " not in line).rstrip("\n")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("screen", SCREENS)
async def test_a_screen_at_each_size(screen: str, size: tuple[int, int], picture: Picture) -> None:
    text = await body_of(screen, drawn_fleet(), size)

    picture(f"measured/{screen}-{size[0]}x{size[1]}", text)


@pytest.mark.parametrize("screen", SCREENS)
async def test_a_screen_in_ascii(screen: str, picture: Picture) -> None:
    text = await body_of(screen, drawn_fleet(), (80, 24), ascii=True)

    assert text.isascii()
    picture(f"measured/{screen}-ascii", text)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("screen", SCREENS)
async def test_a_screen_in_each_state(screen: str, state: str, picture: Picture) -> None:
    text = await body_of(screen, STATES[state], (80, 24))

    picture(f"measured/{screen}-{state}", text)


@pytest.mark.parametrize("screen", SCREENS)
async def test_a_screen_whose_proxy_is_lost(screen: str, picture: Picture) -> None:
    text = await body_of(screen, drawn_fleet(), (120, 36), is_lost=True)

    picture(f"measured/{screen}-lost", text)


async def test_charts_instead_of_the_table(picture: Picture) -> None:
    picture("measured/resources-charts", await body_of("resources", drawn_fleet(), (80, 24), "v"))


async def test_knowledge_instead_of_slots(picture: Picture) -> None:
    picture("measured/queues-knowledge", await body_of("queues", drawn_fleet(), (80, 24), "v"))


async def test_bars_instead_of_figures(picture: Picture) -> None:
    picture("measured/resources-bars", await body_of("resources", drawn_fleet(), (120, 36), "b"))


async def test_a_what_if(picture: Picture) -> None:
    keys = ("w", "backspace", "0", "enter")

    picture("measured/scores-what-if", await body_of("scores", drawn_fleet(), (80, 24), *keys))
