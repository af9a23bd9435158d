"""What is wrong with the connection, and when it is tried again; not there when all is well."""

from __future__ import annotations

import re
from textwrap import wrap
from typing import TYPE_CHECKING

from cacheroute.console.amounts import render_duration
from cacheroute_tui.widgets.lines import Lines, Span, fitted

if TYPE_CHECKING:
    from cacheroute_tui.screens.base import ConsoleScreen

_FOR_ADDRESSES = 120
_MOST_LINES = 3


class Banner(Lines):
    """A line below the tabs, or none; what does not fit goes on in the next ones."""

    DEFAULT_CSS = "Banner { display: none; }"

    def update_frame(self, screen: ConsoleScreen) -> None:
        """Show it, or take it away."""
        text = banner_text(screen)
        self.display = text is not None
        if text is None:
            return
        width = self.app.size.width
        lines = wrap(text, max(1, width - 1), max_lines=_MOST_LINES, placeholder=" …")
        self.show([fitted([Span(f" {line}".ljust(width), "alarm")], width) for line in lines])


def banner_text(screen: ConsoleScreen) -> str | None:
    """Return what is to be said; None when there is nothing."""
    app = screen.console
    now_s = app.clock.now().mono_s
    held = f"paused {render_duration(app.paused_for_s)}"
    if app.phase != "lost":
        looks = "1 look" if app.feed.missed == 1 else f"{app.feed.missed} looks"
        return f"{held}, {looks} missed; p goes on" if app.is_paused else app.replay_line()
    connection = app.store.snapshot.connection
    retry_s = connection.retry_in_s(now_s)
    when = ""
    if retry_s is not None:
        left_s = max(1, round(retry_s))
        when = f" · again in {left_s} s, . tries now" if retry_s else " · asking again"
    since = ""
    if connection.lost_at_s is not None:
        since = f" {render_duration(now_s - connection.lost_at_s)}"
    why = connection.trouble or "no answer"
    if app.size.width < _FOR_ADDRESSES:
        # The address stands in the header.
        why = re.sub(rf"(of )?{re.escape(connection.name)}\S* ?", "", why)
    if app.is_paused:
        why = f"{held}, p goes on"
    text = f"✕ LOST{since} · {why}{when}"
    # What goes on in other lines may be cut, but not when it is tried again.
    return text if len(text) < app.size.width else f"✕ LOST{since}{when} · {why}"
