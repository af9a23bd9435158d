"""When an app under test is idle, and its style sheets: what every test pays for, made cheap.

Textual's pilot looks 50 times a second whether the process uses the processor, and parses the
sheets of all widgets anew for each app. A test does that ten times and more, so here the loop is
let run until nothing in it is ready or soon due, and a sheet is parsed once.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import textual.app
import textual.pilot
import textual.screen
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.css.types import CSSLocation

TURNS = 40
"""Turns of the loop that a message may need on its way from widget to widget."""

SOON_S = 0.02
"""Longer than any wait of the toolkit for more of the same, as for a terminal's next size."""
TIMERS = 20
"""Timers that are waited for one after another: the frames of an app that has left never end."""
FRAME_S = 0.001
"""What is between two frames: what the toolkit lays out anew by the clock comes at once."""

_parsed: dict[object, list[RuleSet]] = {}
_parse_rules = Stylesheet._parse_rules
_to_thread = asyncio.to_thread
_delay_update = textual.app.App.delay_update
_waiting: list[asyncio.AbstractEventLoop] = []
"""The loop of whoever waits for a thread, once for each; a Proxy in a thread has its own loop."""


async def wait_for_idle(min_sleep: float = 0.0, max_sleep: float = 1.0) -> None:
    """Wait until the loop has nothing more to do, or for the longest time in seconds."""
    loop = asyncio.get_running_loop()
    ends_s = loop.time() + max_sleep
    timers = 0
    while loop.time() < ends_s and timers < TIMERS:
        for _ in range(TURNS):
            await asyncio.sleep(0)
        if loop._ready:  # type: ignore[attr-defined]
            continue
        if loop in _waiting:
            await asyncio.sleep(FRAME_S)
            continue
        due_s = due_in_s(loop)
        if due_s > SOON_S:
            return
        timers += 1
        await asyncio.sleep(due_s)


def due_in_s(loop: asyncio.AbstractEventLoop) -> float:
    """Return the seconds until the next timer goes off; infinite where there is none."""
    timers = loop._scheduled  # type: ignore[attr-defined]
    due_s = min((one.when() for one in timers if not one.cancelled()), default=float("inf"))
    return max(0.0, due_s - loop.time())


async def to_thread(call: Callable[..., object], /, *args: object, **kwargs: object) -> object:
    """Call it in a thread, as ever; an app that waits for it is not idle."""
    loop = asyncio.get_running_loop()
    _waiting.append(loop)
    try:
        return await _to_thread(call, *args, **kwargs)
    finally:
        _waiting.remove(loop)


def parse_once(
    self: Stylesheet,
    css: str,
    read_from: CSSLocation,
    is_default_rules: bool = False,
    tie_breaker: int = 0,
    scope: str = "",
) -> list[RuleSet]:
    """Return the rules of a sheet; those with other variables (a theme's colours) are others."""
    variables = tuple(sorted(self._variables.items()))
    key = (css, read_from, is_default_rules, tie_breaker, scope, variables)
    if key not in _parsed:
        _parsed[key] = _parse_rules(self, css, read_from, is_default_rules, tie_breaker, scope)
    return _parsed[key]


def delay_update(self: textual.app.App[object], delay: float = FRAME_S) -> None:
    """Mask what comes between two screens for a frame, not for 50 ms in which nothing is drawn."""
    _delay_update(self, min(delay, FRAME_S))


@contextmanager
def cheap_apps() -> Iterator[None]:
    """Let apps that run inside of this wait and parse no more than they need."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncio, "to_thread", to_thread)
        patch.setattr(textual.app, "wait_for_idle", wait_for_idle)
        patch.setattr(textual.pilot, "wait_for_idle", wait_for_idle)
        patch.setattr(textual.screen, "UPDATE_PERIOD", FRAME_S)
        patch.setattr(textual.app.App, "delay_update", delay_update)
        patch.setattr(Stylesheet, "_parse_rules", parse_once)
        yield
