"""The help of a screen and the meaning of words, as lines: made of the registries, not written."""

from collections.abc import Iterable, Sequence
from textwrap import wrap

from cacheroute.console.explain import Explanation, UnknownTerm, explain
from cacheroute_tui.keymap import COMMON, LISTING, MOVING, Key
from cacheroute_tui.operating_keys import OPERATING_KEYS
from cacheroute_tui.screens.base import ConsoleScreen
from cacheroute_tui.widgets.lines import Span, TextLine

_WIDTH = 72
_KEY_CELLS = 11

MOUSE = (
    "A click chooses a row, a second one opens it; a click on a header sorts, one on a tab goes "
    "there. With shift held, dragging selects text as in any terminal."
)


def help_lines(screen: ConsoleScreen) -> list[TextLine]:
    """Return every key of a screen, by what it is about."""
    keys = screen.every_key()
    numbers = [key for key in keys if key.id.startswith("screen.")]
    listing = [key for key in keys if key in LISTING]
    shared = (*COMMON, *OPERATING_KEYS)
    common = [key for key in keys if key in shared and key not in numbers]
    own = [key for key in keys if key not in (*numbers, *listing, *common)]
    has_rows = bool(screen.query("VTable, Heatmap, Pager, ReadingPane"))
    sections: list[tuple[str, Iterable[Key]]] = [
        (f"this screen: {screen.TITLE}", own),
        ("rows", [*listing, *(MOVING if has_rows else ())]),
        ("everywhere", common),
    ]
    lines: list[TextLine] = []
    for title, of_section in sections:
        found = [key for key in of_section if screen.console.may_write or not key.writes]
        if not found:
            continue
        lines += [[Span(title, "title")]]
        for key in found:
            lines += _entry(screen.console.shown_key(key), key.doc)
        lines.append([Span("")])
    names = "  ".join(f"{one.NUMBER} {one.TITLE}" for one in screen.console.screens_in_order())
    lines += [[Span("screens", "title")], *_entry("1-9", names), [Span("")]]
    hidden = [key.label for key in keys if key.writes]
    if hidden and not screen.console.may_write:
        lines += _entry("read-only", f"off: {', '.join(hidden)}; start with --write to change")
    return [*lines, [Span("mouse", "title")], *_entry("", MOUSE)]


def _entry(head: str, text: str) -> list[TextLine]:
    rows = wrap(text, _WIDTH - _KEY_CELLS) or [""]
    first: TextLine = [Span(f" {head:<{_KEY_CELLS - 1}}", "accent"), Span(rows[0])]
    return [first, *([Span(" " * _KEY_CELLS + row)] for row in rows[1:])]


def explained_lines(terms: Sequence[str], of: str | None = None) -> list[TextLine]:
    """Return what words mean, in the sense of one list where it has them.

    Words that nothing is known of are left out.
    """
    lines: list[TextLine] = []
    for term in terms:
        try:
            senses = explain(term)
        except UnknownTerm:
            continue
        own = [sense for sense in senses if sense.of == of]
        for sense in own or _told_once(senses):
            lines += _sense(sense)
    return lines or [[Span("there is nothing here to explain", "dim")]]


def _told_once(senses: Sequence[Explanation]) -> list[Explanation]:
    seen: dict[str, Explanation] = {}
    for sense in senses:
        seen.setdefault(sense.meaning, sense)
    return list(seen.values())


def _sense(sense: Explanation) -> list[TextLine]:
    unit = f"  in {sense.unit}" if sense.unit else ""
    lines: list[TextLine] = [
        [Span(sense.term, "accent"), Span(f"  of {sense.of}{unit}", "dim")],
        *([Span(f"  {row}")] for row in wrap(sense.meaning, _WIDTH - 2)),
    ]
    for name, text in (("from", sense.source), ("unknown", sense.unknown)):
        if text:
            lines += [[Span(f"  {row}", "dim")] for row in wrap(f"{name}: {text}", _WIDTH - 2)]
    return [*lines, [Span("")]]
