"""Any number of lines to read: scrolled, wrapped, searched, copied; drawn as far as they are seen.

There are no borders at the sides, so that what a terminal selects is the text and nothing else.
Text may come from anywhere: it is made printable, cut where it is absurdly long, and never read
as markup.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from cacheroute.console.cells import ascii_only, cells, printable
from cacheroute.console.patterns import Expression
from cacheroute_tui.drawing import as_ascii, style_of
from cacheroute_tui.widgets.lines import Span, TextLine

MAX_LINE_CHARS = 4_000
"""What is longer is cut; no screen and no search goes on for ever."""
_MAX_FOUND = 10_000
_MAX_SEARCHED_CHARS, _OF_A_LINE = 1_000_000, 20
"""What one search looks at, so that a key is answered in time."""
_PLAIN = str.maketrans("└├─│▶►┌┐┘╭╮╯╰█░", "`|-|>>..'....#-")
"""Signs of drawings, for terminals that have none."""

Paint = Callable[[str], TextLine]
"""Colours one line; called for lines that are seen only."""


def unpainted(text: str) -> TextLine:
    """Return a line in the usual colour."""
    return (Span(text),)


class Pager(ScrollView, can_focus=True):
    """Lines to read."""

    DEFAULT_CSS = """
    Pager { height: 1fr; width: 1fr; overflow-x: hidden; overflow-y: auto;
        scrollbar-size-vertical: 1; }
    """
    ALLOW_SELECT = True
    BINDINGS: ClassVar[list[Binding]] = [  # type: ignore[assignment]
        Binding("up,k", "by(-1)", "Up", show=False, id="row.up"),
        Binding("down,j", "by(1)", "Down", show=False, id="row.down"),
        Binding("pageup", "page(-1)", "Page up", show=False, id="row.page_up"),
        Binding("pagedown", "page(1)", "Page down", show=False, id="row.page_down"),
        Binding("home,g", "to(0)", "Top", show=False, id="row.first"),
        Binding("end,G", "to(-1)", "End", show=False, id="row.last"),
        Binding("left,h", "aside(-8)", "Left", show=False, id="column.left"),
        Binding("right,l", "aside(8)", "Right", show=False, id="column.right"),
    ]

    def __init__(
        self,
        *,
        id: str | None = None,  # noqa: A002 - the toolkit's name
        paint: Paint = unpainted,
        wraps: bool = False,
        empty_text: str = "",
    ) -> None:
        super().__init__(id=id)
        self._paint = paint
        self._lines: Sequence[str | TextLine] = ()
        self._rows: list[str] = []
        self._line_of: list[int] = []
        """The line that each row is a part of; empty while a row is a line."""
        self.wraps = wraps
        self._laid_for = (0, False)
        self._follows = False
        """Whether new lines, and another size, leave it at its end."""
        self._aside = 0
        self._found: list[int] = []
        self.searched = 0
        """Lines that the search has come to."""
        self._pattern: Expression | None = None
        # The toolkit works it out anew each time, which costs more than a line does.
        self._base: Style | None = None
        self.empty_text = empty_text
        """What stands there while there is no line."""

    # -- what it shows -------------------------------------------------------------------

    def show(self, lines: Sequence[str | TextLine], *, keeps_end: bool = False) -> None:
        """Draw these lines; `keeps_end` stays at the end if that is where one is."""
        follows = keeps_end and (self._follows or self.is_at_end)
        top = round(self.scroll_y)
        self._lines = lines
        self._lay_out()
        self._follows = follows
        if follows:
            self._to_end()
        elif top > self.max_scroll_y:
            self.scroll_to(y=self.max_scroll_y, animate=False, immediate=True)
        self._search()
        self.refresh()

    def _to_end(self) -> None:
        # Its bar comes only with the next layout, and without one the toolkit does not scroll.
        self.scroll_end(animate=False, immediate=True, force=True)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Leave the end with whoever scrolls away from it."""
        super().watch_scroll_y(old_value, new_value)
        self._follows = self._follows and self.is_at_end

    @property
    def is_at_end(self) -> bool:
        """Whether the last line is seen."""
        return round(self.scroll_y) >= self.max_scroll_y

    @property
    def text(self) -> str:
        """All lines, without colours."""
        return "\n".join(text_of_line(line) for line in self._lines)

    @property
    def count(self) -> int:
        """How many lines there are."""
        return len(self._lines)

    def set_wrap(self, wraps: bool) -> None:
        """Break lines that are too long, or let them run out of sight."""
        self.wraps, self._aside = wraps, 0
        self._lay_out()
        self.refresh()

    def _lay_out(self) -> None:
        width = self.scrollable_content_region.width
        self._laid_for = (width, self.wraps)
        if self.wraps and width > 0:
            self._rows, self._line_of = _wrapped(self._lines, width)
        else:
            self._rows, self._line_of = [], []
        rows = len(self._rows) if self._line_of else len(self._lines)
        self.virtual_size = Size(width, max(1, rows))

    def on_resize(self) -> None:
        """Break lines anew."""
        if (self.scrollable_content_region.width, self.wraps) != self._laid_for:
            self._lay_out()
        if self._follows:
            # Where the end is was not known before the first layout, and a scroll bar moves it.
            self._to_end()
        self.refresh()

    # -- searching -----------------------------------------------------------------------

    def search(self, pattern: Expression | None) -> int:
        """Mark lines that match and go to the first from here on; returns how many do.

        Of very many lines, `searched` have been looked at.
        """
        self._pattern = pattern
        self._search()
        if self._found:
            at = bisect_left(self._found, self._top_line)
            self._go_to_line(self._found[at % len(self._found)])
        self.refresh()
        return len(self._found)

    def go_to_found(self, step: int) -> tuple[int, int]:
        """Go to the next line that matches, or the one before; returns which of how many."""
        if not self._found:
            return 0, 0
        here = self._top_line
        at = bisect_right(self._found, here) if step > 0 else bisect_left(self._found, here) - 1
        at %= len(self._found)
        self._go_to_line(self._found[at])
        return at + 1, len(self._found)

    def _search(self) -> None:
        self._found, self.searched = [], 0
        if self._pattern is None:
            return
        is_in, left = self._pattern.is_in, _MAX_SEARCHED_CHARS
        for at, line in enumerate(self._lines):
            text = text_of_line(line)[:MAX_LINE_CHARS]
            if is_in(text):
                self._found.append(at)
            self.searched = at + 1
            # A line costs something even when it is empty.
            left -= len(text) + _OF_A_LINE
            if left < 0 or len(self._found) >= _MAX_FOUND:
                break

    @property
    def _top_line(self) -> int:
        top = round(self.scroll_y)
        return self._line_of[top] if top < len(self._line_of) else top

    def _go_to_line(self, line: int) -> None:
        row = bisect_left(self._line_of, line) if self._line_of else line
        self.scroll_to(y=row, animate=False, immediate=True)

    # -- moving --------------------------------------------------------------------------

    def action_by(self, rows: int) -> None:
        """Scroll by so many rows."""
        self.scroll_to(y=round(self.scroll_y) + rows, animate=False, immediate=True)

    def action_page(self, pages: int) -> None:
        """Scroll by so many pages."""
        self.action_by(pages * max(1, self.size.height - 1))

    def action_to(self, end: int) -> None:
        """Go to the top, or with -1 to the end."""
        self.scroll_to(y=0 if end == 0 else self.max_scroll_y, animate=False, immediate=True)

    def action_aside(self, characters: int) -> None:
        """Scroll to the side, where lines are not broken."""
        if not self.wraps:
            self._aside = min(max(0, self._aside + characters), MAX_LINE_CHARS)
            self.refresh()

    # -- drawing -------------------------------------------------------------------------

    def _shown_row(self, y: int) -> tuple[TextLine, int] | None:
        """Return a row and the line it is of; None below the last."""
        if self._line_of:
            if y >= len(self._rows):
                return None
            return self._paint(self._rows[y]), self._line_of[y]
        if y >= len(self._lines):
            return None
        line = self._lines[y]
        return (self._paint(_cut(line)) if isinstance(line, str) else line), y

    def notify_style_update(self) -> None:
        """Draw in the new colours."""
        super().notify_style_update()
        self._base = None

    def render_line(self, y: int) -> Strip:
        """Draw one line of the screen."""
        width = self.scrollable_content_region.width
        if self._base is None:
            self._base = self.rich_style
        base = self._base
        row = y + round(self.scroll_y)
        shown = self._shown_row(row)
        if shown is None:
            text = f" {self.empty_text}" if row == 0 and not self._lines else ""
            dim = base + style_of(self, "dim")
            return Strip([Segment(printable(text), dim)]).adjust_cell_length(width, base)
        spans, line = shown
        is_ascii = as_ascii(self)
        if self._pattern is not None and line in self._found_set:
            base += style_of(self, "cursor")
        segments = []
        for span in spans:
            text = printable(span.text)
            segments.append(
                Segment(
                    ascii_only(text.translate(_PLAIN)) if is_ascii else text,
                    base + style_of(self, span.ink),
                )
            )
        strip = Strip(segments)
        selection = self.text_selection
        if selection is not None and (part := selection.get_span(row)) is not None:
            strip = self._selected(strip, *part)
        strip = strip.crop_extend(self._aside, self._aside + width, base)
        return strip.apply_offsets(self._aside, row)

    @property
    def _found_set(self) -> "_Sorted":
        return _Sorted(self._found)

    def _selected(self, strip: Strip, start: int, end: int) -> Strip:
        length = strip.cell_length
        end = length if end == -1 else min(end, length)
        if start >= end:
            return strip
        marked = self.screen.get_component_rich_style("screen--selection")
        left, middle, right = strip.divide([start, end, length]) if end < length else (
            *strip.divide([start, length]), Strip([])
        )  # fmt: skip
        return Strip.join([left, middle.apply_style(marked), right])

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return what was selected with the pointer."""
        rows = self._rows if self._line_of else [text_of_line(line) for line in self._lines]
        return selection.extract("\n".join(printable(row) for row in rows)), "\n"


class _Sorted:
    """Membership in a sorted list."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers = numbers

    def __contains__(self, number: int) -> bool:
        at = bisect_left(self._numbers, number)
        return at < len(self._numbers) and self._numbers[at] == number


def text_of_line(line: str | TextLine) -> str:
    """Return a line without colours."""
    return line if isinstance(line, str) else "".join(span.text for span in line)


def _cut(text: str) -> str:
    if len(text) <= MAX_LINE_CHARS:
        return text
    return f"{text[:MAX_LINE_CHARS]}… (cut at {MAX_LINE_CHARS} characters)"


def _wrapped(lines: Sequence[str | TextLine], width: int) -> tuple[list[str], list[int]]:
    rows: list[str] = []
    line_of: list[int] = []
    for at, line in enumerate(lines):
        text = printable(_cut(text_of_line(line)))
        if len(text) <= width and text.isascii():
            rows.append(text)
            line_of.append(at)
            continue
        for row in _broken(text, width):
            rows.append(row)
            line_of.append(at)
    return rows, line_of


def _broken(text: str, width: int) -> list[str]:
    """Break a text into rows of so many cells; a wide character is never cut in two."""
    if text.isascii():
        return [text[at : at + width] for at in range(0, len(text), width)] or [""]
    rows, row, room = [], "", width
    for character in text:
        taken = cells(character)
        if taken > room:
            rows.append(row)
            row, room = "", width
        row += character
        room -= taken
    return [*rows, row]
