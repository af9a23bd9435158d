"""Lines that are drawn when they are looked at: of thousands, a terminal shows fifty."""

from collections.abc import Callable, Sequence
from typing import overload

from cacheroute_tui.widgets.lines import Span, TextLine

Part = TextLine | Callable[[], TextLine]
"""A line, or what draws it."""


class LaterLines(Sequence[TextLine]):
    """As many lines as there are parts."""

    def __init__(self, parts: Sequence[Part], *, is_grey: bool = False) -> None:
        self._parts = parts
        self._is_grey = is_grey

    def __len__(self) -> int:
        return len(self._parts)

    @overload
    def __getitem__(self, at: int) -> TextLine: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[TextLine]: ...
    def __getitem__(self, at: int | slice) -> TextLine | Sequence[TextLine]:
        """Return a line, drawn now."""
        if isinstance(at, slice):
            return LaterLines(self._parts[at], is_grey=self._is_grey)
        part = self._parts[at]
        line = part() if callable(part) else part
        return tuple(Span(span.text, "dim") for span in line) if self._is_grey else line
