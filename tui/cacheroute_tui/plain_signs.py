"""Signs as letters on all that is drawn: the last word where a terminal shows ASCII only.

What we draw ourselves is written in letters where it is made, which keeps the meaning of a sign.
Frames, toasts and scroll bars are the toolkit's, and it knows no such terminals.
"""

from rich.segment import Segment
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
