"""Signs as letters on all that is drawn: the last word where a terminal shows ASCII only.

What we draw ourselves is written in letters where it is made, which keeps the meaning of a sign.
Frames, toasts and scroll bars are the toolkit's, and it knows no such terminals.
"""

from collections.abc import Sequence

from rich.segment import Segment
from textual.app import App
from textual.color import Color
from textual.filter import LineFilter

from cacheroute_tui.drawing import to_ascii

_FRAMES = str.maketrans(
    {
        **dict.fromkeys("╭╮╰╯┌┐└┘├┤┬┴┼▛▜▙▟", "+"),
        **dict.fromkeys("─━▔▁▀▄", "-"),
        **dict.fromkeys("│┃▌▐▏▕▊▎█▍▋▉▂▃▅▆▇", "|"),
    }
)
"""One cell for one cell."""


class PlainSigns(LineFilter):
    """Writes each line in ASCII, cell for cell."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        """Write the text of a line anew; its styles stay."""
        return [
            segment
            if segment.text.isascii()
            else Segment(to_ascii(segment.text.translate(_FRAMES)), segment.style, segment.control)
            for segment in segments
        ]


_PLAIN_SIGNS = PlainSigns()
"""One for all, as what it has drawn is kept under it."""


class PlainlyDrawn(App[int]):
    """An app whose terminal may show ASCII only."""

    is_ascii: bool

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return what goes over each line that is drawn."""
        return [*super().get_line_filters(), *([_PLAIN_SIGNS] if self.is_ascii else [])]
