"""The screen of queues: who waits, until when, how right that was, and how knowledge came in."""

import msgspec
import pytest

from cacheroute.wire.console import Knowledge
from cacheroute.wire.queue_rules import QueueRules
from cacheroute_tui.screens.queues import Queues
from cacheroute_tui.widgets.charts import Chart
from cacheroute_tui.widgets.panel import Panel
from tests.tui.fleet import StillFleet, drawn_fleet
from tests.tui.requests import links, requests
from tests.tui.screens.seen import seen
from tests.tui.showing import NARROW, NORMAL, WIDE, console, settle, shown, text_of


class BusyFleet(StillFleet):
    """One whose requests have stories."""

    def __init__(self) -> None:
        knowledge = Knowledge(kv_inject=122, text_inject=78, fallback=2)
        super().__init__(msgspec.structs.replace(drawn_fleet(), knowledge=knowledge))
        self.requests = requests()
        self.links = links()


def screen_of(app: object) -> Queues:
    screen = getattr(app, "screen", None)
    assert isinstance(screen, Queues)
    return screen


def panel_of(app: object, name: str) -> str:
    return screen_of(app).query_one(f"#{name}", Panel).text


@pytest.mark.parametrize("size", [NARROW, NORMAL, WIDE])
async def test_the_longest_wait_is_on_top_at_every_size(size: tuple[int, int]) -> None:
    async with shown(console(BusyFleet(), screen="queues"), size) as pilot:
        text = seen(pilot)
        ids = [row.id for row in screen_of(pilot.app).table.rows]

    assert ids[:2] == ["inst-9007", "inst-9008"]
    assert "max 4.1s inst-9007" in text
    assert "a new request waits 4.1s" in text


async def test_queues_that_nobody_tells_of_are_unknown_and_not_0() -> None:
    document = drawn_fleet()
    blank = {
        name: None
        for name in document.instances.__struct_fields__
        if "queue" in name or name.startswith(("active", "pending", "next", "prefill", "predicted"))
    }
    columns = msgspec.structs.replace(document.instances, **blank)
    fleet = StillFleet(msgspec.structs.replace(document, instances=columns))
    async with shown(console(fleet, screen="queues"), NORMAL) as pilot:
        text = seen(pilot)

    assert "prep —/12 · ready —/24" in text
    row = next(line for line in text.splitlines() if "● inst-9001" in line)
    assert row.partition("inst-9001")[2].split() == [*["—"] * 9, "3", "—"]


async def test_slots_are_drawn_with_what_was_predicted() -> None:
    async with shown(console(BusyFleet(), screen="queues"), NORMAL) as pilot:
        lines = panel_of(pilot.app, "slots").splitlines()

    assert "slot in 0.9s" in lines[0]
    assert "145 /150 ms -3%" in lines[1]
    assert "┃" in lines[1]
    # One without knowledge is not predicted, and has no mark.
    assert "┃" not in lines[2]
    assert "predicted first token" in lines[-1]


async def test_slots_follow_the_cursor() -> None:
    async with shown(console(BusyFleet(), screen="queues"), NORMAL) as pilot:
        await pilot.press("down", "down", "down", "down")
        await settle(pilot)

        assert screen_of(pilot.app).selected_id() == "inst-9001"
        assert "r-0001" in panel_of(pilot.app, "slots")
        await pilot.press("down")
        await settle(pilot)
        assert "no request of inst-9005" in panel_of(pilot.app, "slots")


async def test_a_proxy_without_traces_shows_its_figures_and_why_there_is_no_more() -> None:
    fleet = StillFleet(drawn_fleet(), missing=["traces", "topology"])
    async with shown(console(fleet, screen="queues"), NORMAL) as pilot:
        slots, knowledge = panel_of(pilot.app, "slots"), panel_of(pilot.app, "knowledge")

    assert "slot in 0.9s" in slots
    assert "no requests: not told" in slots
    assert "lately ?  not told" in knowledge
    assert "links ?  not told" in knowledge
    assert "paths ?" in knowledge


async def test_knowledge_is_counted_by_path_with_its_links() -> None:
    async with shown(console(BusyFleet(), screen="queues"), NORMAL) as pilot:
        knowledge = panel_of(pilot.app, "knowledge")

    assert "202 requests with knowledge · kv 122 60% · text 78 39% · fallback 2 1%" in knowledge
    assert "kv_inject 4 · text_inject 4" in knowledge
    assert "KV links busy" in knowledge
    assert "820 Mbps 1.9ms" in knowledge


async def test_the_limits_and_the_release_policy_are_those_of_the_rules() -> None:
    fleet = BusyFleet()
    rules = QueueRules(
        prepare_concurrency=2, ready_concurrency=4, max_queue=3, release_policy="text_bypass"
    )
    fleet.document = msgspec.structs.replace(fleet.document, queue_rules=rules)
    async with shown(console(fleet, screen="queues"), NORMAL) as pilot:
        text = seen(pilot)

    assert "prep 4/12 +4 · ready 9/24 +9" in text
    assert "release text_bypass" in text
    row = next(line for line in text.splitlines() if "inst-9007" in line and "●" in line)
    assert row.partition("inst-9007")[2].split()[:4] == ["2/3", "2/2", "3/3!", "3/4"]


async def test_an_older_proxy_has_figures_without_limits_and_the_reason() -> None:
    document = msgspec.structs.replace(drawn_fleet(), queue_rules=None)
    async with shown(console(StillFleet(document), screen="queues")) as pilot:
        text = seen(pilot)

    assert "prep 4 +4 · ready 9 +9" in text
    assert "limits ?  this Proxy" in text
    row = next(line for line in text.splitlines() if "● inst-9007" in line)
    assert row.partition("inst-9007")[2].split()[:4] == ["2", "2", "3", "3"]


async def test_v_goes_through_the_panels_where_there_is_room_for_one() -> None:
    async with shown(console(BusyFleet(), screen="queues"), NARROW) as pilot:
        screen = screen_of(pilot.app)

        def seen() -> list[str]:
            return [name for name in ("slots", "knowledge", "charts")
                    if screen.query_one(f"#{name}").display]  # fmt: skip

        assert seen() == ["slots"]
        for there in ("knowledge", "charts", "slots"):
            await pilot.press("v")
            await settle(pilot)
            assert seen() == [there]


async def test_v_adds_the_charts_where_the_panels_are_seen_anyway() -> None:
    async with shown(console(BusyFleet(), screen="queues"), NORMAL) as pilot:
        screen = screen_of(pilot.app)
        assert not screen.query_one("#charts").display
        await pilot.press("v")
        await settle(pilot)
        assert screen.query_one("#charts").display
        assert screen.query_one("#slots").display
        assert "waiting" in screen.query_one("#chart-ready", Chart).text
        await pilot.press("right_square_bracket")
        assert screen.window_s == 900


async def test_filters_and_orders_are_those_of_the_list() -> None:
    async with shown(console(BusyFleet(), screen="queues")) as pilot:
        screen = screen_of(pilot.app)
        await pilot.press("a")
        assert len(screen.table.rows) == 6
        await pilot.press("slash", *"9004", "enter")
        await settle(pilot)
        assert [row.id for row in screen.table.rows] == ["inst-9004"]
        assert screen.selected_json() is not None


async def test_in_ascii_nothing_else_is_drawn() -> None:
    app = console(BusyFleet(), screen="queues", ascii=True)
    async with shown(app, WIDE):
        body = text_of(app).splitlines()[2:]

    assert "".join(body).isascii()
