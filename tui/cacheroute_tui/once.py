"""One picture of a screen, without a terminal: for cron, for documents, and for bug reports."""

import asyncio
from pathlib import Path

from cacheroute_cli.diagnostics import Exit, Fault
from cacheroute_cli.output import print_text
from cacheroute_tui.app import ConsoleApp
from cacheroute_tui.frame import svg_of, text_of

_PAUSE_S = 0.02
_PATIENCE_S = 30.0
_LOOKS = 2
"""Two, so that what only a difference tells is there."""


def print_once(app: ConsoleApp, *, size: tuple[int, int], svg: str | None) -> int:
    """Draw the screen once there is something to show, and print it, or write it as SVG."""
    text, picture, is_good = asyncio.run(_drawn(app, size, with_svg=svg is not None))
    if svg is None:
        print_text(text)
    else:
        try:
            Path(svg).write_text(picture, encoding="utf-8")
        except OSError as problem:
            raise Fault(f"{svg} cannot be written ({problem.strerror})") from None
    return Exit.OK if is_good else Exit.UNREACHABLE


async def _drawn(
    app: ConsoleApp, size: tuple[int, int], *, with_svg: bool
) -> tuple[str, str, bool]:
    async with app.run_test(size=size) as pilot:
        until_s = app.clock.now().mono_s + _PATIENCE_S
        good = 0
        seen = None
        while app.clock.now().mono_s < until_s:
            await pilot.pause(_PAUSE_S)
            snapshot = app.store.snapshot
            if snapshot.look is not None and snapshot.look is not seen:
                seen, good = snapshot.look, good + 1
            if good >= _LOOKS or snapshot.connection.failures or app.bug:
                break
        await pilot.pause(_PAUSE_S)
        picture = svg_of(app) if with_svg else ""
        return text_of(app.screen), picture, seen is not None
