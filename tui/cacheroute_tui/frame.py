"""What a screen shows right now, as text or as SVG: for `--once`, for copies and for tests."""

from textual.app import App
from textual.screen import Screen


def text_of(screen: Screen[object]) -> str:
    """Return the lines of a screen without colours; blanks at their ends are left out."""
    # The one place that reads the compositor: the toolkit offers no text of a screen.
    strips = screen._compositor.render_strips()  # noqa: SLF001
    return "\n".join(strip.text.rstrip() for strip in strips)


def svg_of(app: App[int]) -> str:
    """Return the screen that is on top as an SVG document."""
    return app.export_screenshot(title="cacheroute")
