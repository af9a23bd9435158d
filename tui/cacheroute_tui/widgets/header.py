"""The first line: which Proxy, how the connection is, whether changes are allowed, the time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cacheroute.console.cells import UNTOLD, cells, clip
from cacheroute.console.columns import Tone
from cacheroute.console.overview import modes_in_force
from cacheroute.console.store import Phase
from cacheroute_tui.amounts import render_duration
from cacheroute_tui.widgets.lines import Lines, Span, spread

if TYPE_CHECKING:
    from cacheroute_tui.screens.base import ConsoleScreen

SIGNS: dict[Phase, tuple[str, str, Tone]] = {
    "connecting": ("◐", "CONNECTING", "warn"),
    "live": ("●", "LIVE", "good"),
    "lagging": ("◐", "LAGGING", "warn"),
    "lost": ("✕", "LOST", "bad"),
}
"""Sign, word and tone of each phase."""
_LEAST_ID = 4
"""Cells of the Proxy's own name without which it says nothing."""


class Header(Lines):
    """One line on top."""

    DEFAULT_CSS = "Header { height: 1; background: $bar; }"

    def update_frame(self, screen: ConsoleScreen) -> None:
        """Draw it anew."""
        width = self.size.width or self.app.size.width
        self.show([header_line(screen, width)])


def header_line(screen: ConsoleScreen, width: int) -> list[Span]:
    """Return the line for so many cells."""
    app = screen.console
    now = app.clock.now()
    connection = app.store.snapshot.connection
    look = app.store.snapshot.look
    sign, word, tone = SIGNS[app.phase]
    is_wide = width >= 140
    gap = "   " if is_wide else " "
    proxy = None if look is None else look.look.snapshot.proxy
    brand = Span(" CacheRoute ", "title")
    where = Span(gap + short_url(app.target.proxy_url), "dim")
    title = Span(("▸ " if is_wide else "▸") + app.target.title, "accent")
    proxy_id = (proxy.proxy_id if proxy else None) or UNTOLD
    age_s = connection.age_s(now.mono_s)
    facts = [Span(f"{sign} {word}", tone)]
    if age_s is not None:
        facts.append(Span(f"{' age' if is_wide else ''} {render_duration(age_s)}", tone))
    if app.is_paused or app.is_stopped:
        if is_wide:
            facts = [Span("■ PAUSED ", "warn"), *facts]
        else:
            # A loss is told before all else; the banner tells that it is paused as well.
            facts = facts[:1] if app.phase == "lost" else [Span("■ PAUSED", "warn")]
    if is_wide and connection.rtt_ms is not None:
        facts.append(Span(f"  rtt {connection.rtt_ms:.0f} ms", "dim"))
    pace = f"{connection.pace_s:g}s"
    facts.append(Span(f"{'  ' if is_wide else ' '}every {pace}", "dim"))
    if is_wide and look is not None and proxy is not None:
        rules = look.look.snapshot.queue_rules
        release = None if rules is None else rules.release_policy
        modes = modes_in_force(proxy.strategy, proxy.injection_strategy, release)
        facts.append(Span(f"   strategy {modes or UNTOLD}"))
    write = Span("WRITE", "warn") if app.may_write else Span("RO")
    # What a recording shows was true when it was made.
    told = look.look.at if look is not None and app.source.kind == "replay" else None
    at = datetime.fromtimestamp(now.wall_s, UTC) if told is None else told
    clock = f"{at.astimezone():%H:%M:%S}"
    right = [*facts, Span("  "), write, Span(f"  {clock} ")]
    room = width - sum(cells(span.text) for span in (title, where, *right)) - len(gap) - 1
    if room < cells(brand.text) + cells(proxy_id):
        # The address, port and all, is what tells two Proxies apart at night.
        brand, proxy_id = Span(" "), clip(proxy_id, room - 1)
    named = [Span(gap + proxy_id)] if room > _LEAST_ID else []
    return spread([brand, title, *named, where], right, width)


def short_url(url: str) -> str:
    """Write an address without what is usual."""
    return url.removeprefix("http://")
