"""When an app under test is idle, and its style sheets: what every test pays for, made cheap.

Textual's pilot looks 50 times a second whether the process uses the processor, and parses the
sheets of all widgets anew for each app. A test does that ten times and more, so here the loop is
let run until its chains of messages have come to their ends, and a sheet is parsed once.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, process_time

import pytest
import textual.app
import textual.pilot
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.css.types import CSSLocation

TURNS = 40
"""Turns of the loop that a message may need on its way from widget to widget."""

LOOK_S = 0.02
"""Longer than a frame of the toolkit, which lays out anew by the clock after a resize."""
IDLE_RATIO = 0.05
"""A look that used less of the processor than this has seen nothing at work: Textual's own bar."""

_parsed: dict[object, list[RuleSet]] = {}
_parse_rules = Stylesheet._parse_rules


async def wait_for_idle(min_sleep: float = 0.0, max_sleep: float = 1.0) -> None:
    """Wait until the loop has nothing more to do, or for the longest time in seconds."""
    began_s = monotonic()
    while True:
        for _ in range(TURNS):
            await asyncio.sleep(0)
        used_s = process_time()
        await asyncio.sleep(LOOK_S)
        used_s = process_time() - used_s
        waited_s = monotonic() - began_s
        if waited_s >= max_sleep or (waited_s > min_sleep and used_s < LOOK_S * IDLE_RATIO):
            return


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


@contextmanager
def cheap_apps() -> Iterator[None]:
    """Let apps that run inside of this wait and parse no more than they need."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(textual.app, "wait_for_idle", wait_for_idle)
        patch.setattr(textual.pilot, "wait_for_idle", wait_for_idle)
        patch.setattr(Stylesheet, "_parse_rules", parse_once)
        yield
