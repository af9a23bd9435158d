"""What is wrong with the connection, and when it is tried again; not there when all is well."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cacheroute.console.amounts import render_duration
from cacheroute_tui.widgets.lines import Lines, Span, fitted

if TYPE_CHECKING:
    from cacheroute_tui.screens.base import ConsoleScreen

_ADDRESS = re.compile(r"https?://\S+ ?")
_FOR_ADDRESSES = 120


class Banner(Lines):
    """One line below the tabs, or none."""

    DEFAULT_CSS = "Banner { height: 1; display: none; }"

    def update_frame(self, screen: ConsoleScreen) -> None:
        """Show it, or take it away."""
        text = banner_text(screen)
        self.display = text is not None
        if text is None:
            return
        width = self.app.size.width
        self.show([fitted([Span(f" {text}".ljust(width), "alarm")], width)])


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
    when = "" if retry_s is None else f" · again in {retry_s:.0f} s, . tries now"
    since = ""
    if connection.lost_at_s is not None:
        since = f" {render_duration(now_s - connection.lost_at_s)}"
    why = connection.trouble or "no answer"
    if app.size.width < _FOR_ADDRESSES:
        # The address stands in the header.
        why = _ADDRESS.sub("", why)
    if app.is_paused:
        why = f"{held}, p goes on"
    return f"✕ LOST{since} · {why}{when}"
