"""The screen of traces: the last requests, slow ones first, and each of them room by room."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from cacheroute.console.rows.traces import TraceRow
from cacheroute.console.source import NotTold
from cacheroute_tui.screens.traces import Traces
from tests.tui.fleet import StillFleet, drawn_fleet
from tests.tui.operated import Operated
from tests.tui.screens.requests import decided, plain_request, request
from tests.tui.showing import WIDE, settle, shown, text_of


class _NoTraces(StillFleet):
    async def traces(self, *, last: int = 100) -> Sequence[TraceRow]:
        """Have none."""
        raise NotTold("traces", "this Proxy keeps no traces")


def _fleet() -> StillFleet:
    source = StillFleet(drawn_fleet())
    source.requests = [
        request(3, "r-3"), plain_request(2, "r-[i]二[/i]"), request(1, "r-1", e2e_ms=9_000.0)
    ]  # fmt: skip
    source.choices = [decided("r-3")]
    return source


async def test_the_rooms_of_a_request_are_drawn_beside_what_was_predicted(tmp_path: Path) -> None:
    operated = Operated(tmp_path, _fleet(), screen="traces")
    async with shown(operated.app, WIDE):
        lines = text_of(operated.app).splitlines()

    at = next(at for at, line in enumerate(lines) if line.startswith(" r-3 "))
    assert lines[at] == " r-3  inst-9001  ok  llama-3  /v1/chat/completions  scheduler"
    assert lines[at + 1] == (
        " ttft from the choice on:  predicted 350.0ms  actual 395.0ms  off by 11.4%"
    )
    assert lines[at + 2].startswith(" room                took predicted 0 ")
    assert lines[at + 5].startswith(" prepare          200.0ms   180.0ms     ██")
    assert lines[at + 6].startswith(" · inject         170.0ms   160.0ms       ██")
    assert lines[at + 7].rstrip().endswith("█░░░░░░░░")
    assert lines[at + 11].startswith(" injection  kvcache  kv is faster  by iws")
    assert lines[at + 12].startswith("   text    800 ms  of text prepare 20 ms + ready wait 100 ms")
    assert lines[at + 13].startswith("   kv      350 ms  of kv transfer 160 ms + kv prepare 180 ms")
    assert "margin 100 ms  kv bandwidth 820 Mbps" in lines[at + 14]


async def test_the_slowest_come_first_when_asked_for(tmp_path: Path) -> None:
    operated = Operated(tmp_path, _fleet(), screen="traces")
    async with shown(operated.app) as pilot:
        await pilot.press("v", "g")
        await settle(pilot)
        screen = operated.app.front
        assert screen is not None
        assert screen.selected_id() == "r-1"
        await pilot.press("v", "g")
        await settle(pilot)
        assert screen.selected_id() == "r-3"


async def test_a_cursor_that_moved_before_the_screen_was_left_asks_nothing_of_the_next_one(
    tmp_path: Path,
) -> None:
    operated = Operated(tmp_path, _fleet(), screen="traces")
    async with shown(operated.app) as pilot:
        traces = operated.app.front
        assert isinstance(traces, Traces)
        assert operated.app.feed.asks
        await pilot.press("2")
        await settle(pilot)
        traces.table.action_move(1)
        await settle(pilot)

        assert operated.app.feed.asks == {}


async def test_what_is_marked_are_requests_by_their_names(tmp_path: Path) -> None:
    operated = Operated(tmp_path, _fleet(), screen="traces")
    async with shown(operated.app) as pilot:
        await pilot.press("space", "G", "space")
        await settle(pilot)
        screen = operated.app.front
        assert screen is not None
        assert screen.selected_ids() == ("r-3", "r-1")
        documents = screen.selected_json()
        assert isinstance(documents, list)
        assert [one.request_id for one in documents] == ["r-3", "r-1"]


async def test_a_request_without_a_story_says_so_and_its_name_is_text(tmp_path: Path) -> None:
    operated = Operated(tmp_path, _fleet(), screen="traces")
    async with shown(operated.app, WIDE) as pilot:
        await pilot.press("j")
        await settle(pilot)
        text = text_of(operated.app)

    assert " r-[i]二[/i]  inst-9001" in text
    assert "no time to first token was predicted" in text
    assert "its decision is no longer known" in text


async def test_a_proxy_without_traces_says_why(tmp_path: Path) -> None:
    operated = Operated(tmp_path, _NoTraces(drawn_fleet()), screen="traces")
    async with shown(operated.app):
        assert "this Proxy keeps no traces" in text_of(operated.app)


async def test_rows_are_filtered(tmp_path: Path) -> None:
    operated = Operated(tmp_path, _fleet(), screen="traces")
    async with shown(operated.app) as pilot:
        await pilot.press("slash", *"slow>5s", "enter")
        await settle(pilot)
        screen = operated.app.front
        assert screen is not None
        assert screen.selected_id() == "r-1"


async def test_letters_only(tmp_path: Path) -> None:
    operated = Operated(tmp_path, _fleet(), screen="traces", ascii=True)
    async with shown(operated.app, WIDE):
        assert text_of(operated.app).isascii()


async def test_the_newest_are_on_top_although_an_older_one_has_ended_later(tmp_path: Path) -> None:
    source = StillFleet(drawn_fleet())
    later, sooner = request(1, "r-1"), request(2, "r-2")
    assert later.at is not None
    source.requests = [sooner, replace(later, at=later.at + timedelta(seconds=5))]
    operated = Operated(tmp_path, source, screen="traces")
    async with shown(operated.app):
        text = text_of(operated.app)

    assert "sort newest" in text
    assert text.index("r-1") < text.index("r-2")


async def test_a_low_terminal_shows_requests_beside_the_way_of_one(tmp_path: Path) -> None:
    operated = Operated(tmp_path, _fleet(), screen="traces")
    async with shown(operated.app, (60, 16)):
        lines = text_of(operated.app).splitlines()

    assert sum("inst-9001 ok" in line for line in lines) >= 3
    assert any("ttft from the choice on" in line for line in lines)
