"""Text in lines, drawn line by line: a panel of facts costs one segment a run, and no markup.

What stands in a line may come over the wire, so it is made printable and never read as markup.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from cacheroute.console.cells import cells, clip, printable
from cacheroute_tui.drawing import Ink, as_ascii, style_of, to_ascii


@dataclass(frozen=True, slots=True)
class Span:
    """A run of text in one style."""

    text: str
    ink: Ink = "plain"
    """A tone, the name of a style of the palette, or a style."""


TextLine = Sequence[Span]
"""One line, left to right."""


def plain(text: str, ink: Ink = "plain") -> TextLine:
    """Return a line of one span."""
    return (Span(text, ink),)


def spread(left: Sequence[Span], right: Sequence[Span], width: int) -> list[Span]:
    """Put some spans left and some right; the left ones give way, and the right ones stay."""
    right_cells = sum(cells(span.text) for span in right)
    kept = fitted(left, max(0, width - right_cells - 1))
    blank = width - right_cells - sum(cells(span.text) for span in kept)
    return [*kept, Span(" " * max(0, blank)), *right]


def fitted(spans: Iterable[Span], width: int) -> list[Span]:
    """Cut spans at so many cells."""
    found = []
    for span in spans:
        if width <= 0:
            break
        text = clip(printable(span.text), width)
        width -= cells(text)
        found.append(Span(text, span.ink))
    return found


class Lines(Widget):
    """A widget of as many lines as it is given; it wants that height, and cuts what is longer."""

    DEFAULT_CSS = "Lines { height: auto; width: 1fr; }"

    def __init__(
        self,
        lines: Sequence[TextLine] = (),
        *,
        id: str | None = None,  # noqa: A002 - the toolkit's name
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._lines: list[TextLine] = list(lines)
        # The toolkit works it out anew each time, which costs more than a line does.
        self._base: Style | None = None

    @property
    def lines(self) -> Sequence[TextLine]:
        """What is drawn."""
        return self._lines

    def show(self, lines: Sequence[TextLine]) -> None:
        """Draw these lines; those that are as before are left alone."""
        before, self._lines = self._lines, list(lines)
        if len(before) != len(self._lines):
            self.refresh(layout=self.styles.is_auto_height)
            return
        for y, (old, new) in enumerate(zip(before, self._lines, strict=True)):
            if list(old) != list(new):
                self.refresh(self._line_region(y))

    def _line_region(self, y: int) -> Region:
        return Region(0, y, self.size.width, 1)

    @property
    def text(self) -> str:
        """What is drawn, without styles."""
        return "\n".join("".join(span.text for span in line) for line in self._lines)

    def get_content_width(self, container: Size, viewport: Size) -> int:  # noqa: ARG002
        """Return what the longest line needs."""
        return max((sum(cells(s.text) for s in line) for line in self._lines), default=0)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """Return the number of lines."""
        return len(self._lines)

    def notify_style_update(self) -> None:
        """Draw in the new colours."""
        super().notify_style_update()
        self._base = None

    def render_line(self, y: int) -> Strip:
        """Draw one line."""
        if self._base is None:
            self._base = self.rich_style
        base = self._base
        width = self.size.width
        if y >= len(self._lines):
            return Strip.blank(width, base)
        return strip_of(self, self._lines[y], width, base)


def strip_of(widget: Widget, line: Iterable[Span], width: int, base: Style) -> Strip:
    """Draw spans, cut and filled to so many cells."""
    is_ascii = as_ascii(widget)
    segments = []
    used = 0
    for span in fitted(line, width):
        used += cells(span.text)
        text = to_ascii(span.text) if is_ascii else span.text
        segments.append(Segment(text, base + style_of(widget, span.ink)))
    if used < width:
        segments.append(Segment(" " * (width - used), base))
    return Strip(segments, width)
