"""Lines under a heading: a rule above where there is little room, a frame where there is more."""

from collections.abc import Sequence

from cacheroute.console.cells import clip, printable
from cacheroute_tui.drawing import as_ascii, to_ascii
from cacheroute_tui.widgets.lines import Lines, TextLine


class Panel(Lines):
    """A box of lines with a title."""

    DEFAULT_CSS = """
    Panel { border-top: solid $rule; border-title-color: $foreground; height: auto; }
    Panel.-framed { border: round $rule; }
    Panel.-ascii { border-top: ascii $rule; }
    Panel.-ascii.-framed { border: ascii $rule; }
    """

    def __init__(
        self,
        title: str = "",
        *,
        id: str | None = None,  # noqa: A002 - the toolkit's name
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.entitle(title)

    def on_mount(self) -> None:
        """Take a frame that the terminal can show."""
        self.set_class(as_ascii(self), "-ascii")

    def entitle(self, title: str) -> None:
        """Put another heading on it; never markup."""
        text = clip(printable(title), 200)
        if self.is_attached and as_ascii(self):
            text = to_ascii(text)
        text = text.replace("[", "\\[")
        if self.border_title != text:
            self.border_title = text

    def fill(self, title: str, lines: Sequence[TextLine]) -> None:
        """Put a heading and lines on it."""
        self.entitle(title)
        self.show(lines)
