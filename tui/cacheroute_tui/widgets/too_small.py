"""What stands over everything while the terminal is too small for it: one line, and its keys.

What is below stays as it is, so that the larger terminal shows what the smaller one hid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.strip import Strip
from textual.widget import Widget

from cacheroute.console.cells import cells
from cacheroute.console.rows.states import SIGNS as STATE_SIGNS
from cacheroute.console.rows.states import TONES
from cacheroute_tui.amounts import render_count, render_duration
from cacheroute_tui.screens.panels import alert_count, state_counts
from cacheroute_tui.widgets.header import SIGNS
from cacheroute_tui.widgets.lines import Span, TextLine, strip_of

if TYPE_CHECKING:
    from cacheroute_tui.app import ConsoleApp

MIN_WIDTH, MIN_HEIGHT = 60, 16
"""Cells and lines; below either there is no frame."""


class TooSmall(Widget):
    """Covers a screen, dialogs too."""

    DEFAULT_CSS = """
    TooSmall { layer: cover; dock: top; width: 100%; height: 100%; background: $background; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[TextLine] = []

    def show(self) -> None:
        """Draw how things are now."""
        app = cast("ConsoleApp", self.app)
        lines = small_lines(app)
        if lines != self._lines:
            self._lines = lines
            self.refresh()

    def on_mount(self) -> None:
        """Draw how things are."""
        self.show()

    def on_resize(self) -> None:
        """Draw as many lines as there are now; where there is room for all, go."""
        app = cast("ConsoleApp", self.app)
        if app.is_small:
            self.show()
        else:
            app.uncover()

    def render_line(self, y: int) -> Strip:
        """Draw one line."""
        base, width = self.rich_style, self.size.width
        if y >= len(self._lines):
            return Strip.blank(width, base)
        return strip_of(self, self._lines[y], width, base)


def small_lines(app: ConsoleApp) -> list[TextLine]:
    """Return what is said in as many lines as there are; the first of them is enough."""
    width, height = app.size
    if height < 2:
        return [status_line(app)]
    lines = [status_line(app), *([()] * (height - 2)), keys_line(app, width)]
    if height > 2:
        need = f"needs {MIN_WIDTH}x{MIN_HEIGHT}, is {width}x{height}"
        lines[1] = (Span(need, "dim"),)
    return lines


def status_line(app: ConsoleApp) -> TextLine:
    """Return the connection and the pool in a line, what matters most at its beginning."""
    now_s = app.clock.now().mono_s
    connection = app.store.snapshot.connection
    sign, word, tone = SIGNS[app.phase]
    line = [Span(sign, tone), Span(f" {word}", tone)]
    since_s = connection.age_s(now_s)
    if app.phase == "lost":
        retry_s = connection.retry_in_s(now_s)
        if connection.lost_at_s is not None:
            line.append(Span(f" {render_duration(now_s - connection.lost_at_s)}", tone))
        if retry_s is not None:
            line.append(Span(f" again in {max(1, round(retry_s))} s"))
    elif app.is_paused:
        line = [Span("■", "warn"), Span(f" PAUSED {render_duration(app.paused_for_s)}", "warn")]
    elif since_s is not None:
        line.append(Span(f" {render_duration(since_s)}", tone))
    look = app.shown.look
    if look is None:
        return line
    line.append(Span(" "))
    line += [
        Span(f" {STATE_SIGNS[shown]}{count}", TONES[shown])
        for shown, count in state_counts(look.rows).items()
        if count
    ]
    line.append(Span(f" infl {render_count(look.overview.inflight)} "))
    return [*line, *alert_count(look.alerts)]


def keys_line(app: ConsoleApp, width: int) -> TextLine:
    """Return the keys that work here, as many as have room."""
    line: list[Span] = []
    for key in app.small_keys():
        shown = app.shown_key(key)
        width -= cells(shown) + cells(key.label) + 1
        if width < 0:
            break
        line += [Span(shown, "accent"), Span(f" {key.label}  ")]
        width -= 2
    return line
