"""The screen of raw pages: indented, searched, copied; what is in them is text."""

import json
from collections.abc import Sequence
from pathlib import Path

from cacheroute.console.source import SourceFault
from cacheroute_tui.screens.raw import MAX_PAGE_BYTES, indented
from tests.tui.fleet import StillFleet, drawn_fleet
from tests.tui.operated import Operated, until, until_shown
from tests.tui.showing import settle, shown, text_of

_STATUS = {"ok": True, "name": "[b]一[/b]", "list": list(range(40))}


class _Pages(StillFleet):
    def __init__(self) -> None:
        super().__init__(drawn_fleet())
        self.asked: list[str] = []

    async def raw(self, path: str) -> bytes:
        """Return one page, and not the other."""
        self.asked.append(path)
        if path == "/metrics":
            raise SourceFault("it answered 503: [red]busy", code="refused")
        return json.dumps(_STATUS).encode()

    def pages(self) -> Sequence[str]:
        """Return the paths."""
        return ("/debug/status", "/metrics")


async def test_a_page_is_shown_indented_and_copied_whole(tmp_path: Path) -> None:
    operated = Operated(tmp_path, _Pages(), screen="raw")
    async with shown(operated.app) as pilot:
        await until_shown(pilot, '"name": "[b]一[/b]"')
        await pilot.press("Y", "y")
        await until(pilot, lambda: len(operated.clipboard.texts) == 2)

        assert json.loads(operated.clipboard.texts[0]) == _STATUS
        assert operated.clipboard.texts[1] == "/debug/status"


async def test_the_last_error_stays_while_the_page_is_another(tmp_path: Path) -> None:
    operated = Operated(tmp_path, _Pages(), screen="raw")
    async with shown(operated.app) as pilot:
        await until_shown(pilot, '"ok": true')
        await pilot.press("down")
        await until_shown(pilot, "/metrics: it answered 503")
        await pilot.press("up")
        await until_shown(pilot, '"ok": true')
        assert "last error 0.0s ago: /metrics: it answered 503: [re" in text_of(operated.app)


async def test_lines_are_found(tmp_path: Path) -> None:
    operated = Operated(tmp_path, _Pages(), screen="raw")
    async with shown(operated.app) as pilot:
        await until_shown(pilot, '"ok": true')
        await pilot.press("slash", *" 3\\d")
        await settle(pilot)
        assert "10 lines" in text_of(operated.app)
        await pilot.press("enter", "n")
        await settle(pilot)
        assert operated.said == ["1 of 10"] or operated.said == ["2 of 10"]
        await pilot.press("N", "w", "tab")
        await settle(pilot)
        assert " 31," in text_of(operated.app)


async def test_a_page_is_asked_for_again_only_after_a_while_and_while_it_is_shown(
    tmp_path: Path,
) -> None:
    source = _Pages()
    operated = Operated(tmp_path, source, screen="raw")
    clock = operated.app.clock
    async with shown(operated.app) as pilot:
        await until_shown(pilot, '"ok": true')
        operated.app._tick()
        await settle(pilot)
        assert source.asked == ["/debug/status"]
        clock.move(6.0)  # type: ignore[attr-defined]
        operated.app._tick()
        await settle(pilot)
        assert source.asked == ["/debug/status"] * 2
        await pilot.press("2")
        clock.move(6.0)  # type: ignore[attr-defined]
        operated.app._tick()
        await settle(pilot)
        assert source.asked == ["/debug/status"] * 2


def test_what_is_no_json_is_shown_as_it_came() -> None:
    assert indented(b"# HELP x\nx 1\n") == "# HELP x\nx 1\n"
    assert indented(b"[" * 100_000).startswith("[[[")
    assert indented(b"\xff\x00") == "\ufffd\x00"


def test_a_page_that_is_too_large_is_cut_and_says_so() -> None:
    text = indented(b"x" * (MAX_PAGE_BYTES + 1))

    assert text.endswith(f"… cut at {MAX_PAGE_BYTES:,} of {MAX_PAGE_BYTES + 1:,} bytes")
