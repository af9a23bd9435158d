"""The screen of raw pages: what an endpoint says, indented; brackets in it are text."""

import json
import re
from collections.abc import Sequence

import msgspec
from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from cacheroute.console.amounts import render_duration
from cacheroute.console.cells import printable
from cacheroute.console.patterns import search_pattern
from cacheroute.console.source import SourceFault
from cacheroute.console.store import Snapshot
from cacheroute_tui.keymap import Key
from cacheroute_tui.screens.base import ConsoleScreen
from cacheroute_tui.widgets.lines import Lines, Span, TextLine
from cacheroute_tui.widgets.pager import Pager
from cacheroute_tui.widgets.text_field import TextField, pattern_problem

EVERY_S = 5.0
"""Time between two questions for the same page, while it is shown."""
MAX_PAGE_BYTES = 16 * 1024 * 1024
"""A larger page is cut, and not read as JSON."""
_ESCAPE = "\\u"
"""A letter that is written as a number; few servers do."""
_LINE = re.compile(r'^(\s*)("(?:[^"\\]|\\.)*"(?=:))?(.*)$', re.DOTALL)


class Raw(ConsoleScreen):
    """Any page of the control plane."""

    NAME, TITLE, NUMBER, SHORT = "raw", "Raw", 9, "Raw"
    DEFAULT_CSS = """
    Raw #pages { width: 30; height: 1fr; border: none; background: $background; padding: 0;
        scrollbar-size-vertical: 1; }
    Raw #raw-head { height: 1; }
    """
    KEYS = (
        Key(id="raw.search", label="Search", action="search", rank=3,
            doc="Go to lines that match an expression."),
        Key(id="raw.next", label="Next", action="found(1)", rank=4,
            doc="Go to the next line that matches."),
        Key(id="raw.previous", label="Previous", action="found(-1)",
            doc="Go to the line before that matches."),
        Key(id="raw.wrap", label="Wrap", action="wrap", rank=6,
            doc="Break long lines, or let them run out of sight."),
        Key(id="raw.pane", label="Pane", action="other_pane", rank=5,
            doc="Go from the pages to the text, or back."),
    )  # fmt: skip
    AUTO_FOCUS = "#pages"

    def __init__(self) -> None:
        super().__init__()
        self._pages: Sequence[str] = ()
        self.page: str | None = None
        self._text = ""
        self._fault: str | None = None
        """The last thing that went wrong here; it stays until another takes its place."""
        self._fault_at_s = 0.0
        self._asked_at_s: float | None = None
        self._asking: str | None = None
        self._answered_at_s: float | None = None
        self._source: object = None
        self._searched = ""

    def body(self) -> ComposeResult:
        """Make the list of pages and the text."""
        yield Lines(id="raw-head")
        with Horizontal():
            yield OptionList(id="pages")
            yield Pager(id="text", paint=painted, empty_text="asking …")

    def bottom(self) -> ComposeResult:
        """Make the field of the search."""
        yield TextField("/", id="search", problem_of=pattern_problem)
        yield from super().bottom()

    def source_changed(self) -> None:
        """Forget the page of the Proxy before, and what went wrong there."""
        self.workers.cancel_group(self, "raw")
        self._text, self._fault, self._answered_at_s = "", None, None
        self.query_one("#text", Pager).show(())

    # -- asking --------------------------------------------------------------------------

    def draw(self, snapshot: Snapshot) -> None:  # noqa: ARG002 - pages are asked for one by one
        """Show the pages that there are, and ask for the first."""
        source = self.console.source
        pages = tuple(source.pages())
        if pages != self._pages or source is not self._source:
            self._pages, self._source = pages, source
            options = self.query_one(OptionList)
            options.clear_options()
            options.add_options(
                Option(Text(printable(page), no_wrap=True, overflow="ellipsis")) for page in pages
            )
            if self.page not in pages:
                self.page = pages[0] if pages else None
            if self.page is not None:
                options.highlighted = pages.index(self.page)
            self._asked_at_s = None
        self._ask_if_due()
        self._show_head()

    def tick(self) -> None:
        """Ask again when it is time."""
        if not self.console.is_paused:
            self._ask_if_due()
        self._show_head()

    def _ask_if_due(self) -> None:
        at_s, now_s = self._asked_at_s, self.now()
        if self.page is not None and (at_s is None or now_s - at_s >= EVERY_S):
            self.ask(self.page)

    @work(exclusive=True, group="raw")
    async def ask(self, page: str) -> None:
        """Ask for a page and show it."""
        self._asked_at_s, self._asking = self.now(), page
        try:
            body = await self.console.source.raw(page)
        except SourceFault as fault:
            self._fault, self._fault_at_s = f"{page}: {fault.message}", self.now()
            self._show_head()
            return
        if page != self.page or not self.query("#text"):
            # Another is asked for, or the screen is being taken apart.
            return
        self._answered_at_s = self.now()
        text = indented(body)
        if text != self._text:
            self._text = text
            self.query_one("#text", Pager).show(text.split("\n"))
        self._show_head()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Ask for the page under the cursor."""
        event.stop()
        if event.option_index >= len(self._pages):
            return
        page = self._pages[event.option_index]
        if page != self.page:
            self.page, self._text, self._answered_at_s = page, "", None
            self.query_one("#text", Pager).show(())
            self.ask(page)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Go to the text."""
        event.stop()
        self.set_focus(self.query_one("#text", Pager))

    def _show_head(self) -> None:
        if not self.query("#raw-head"):
            return
        age = "asking …"
        if self._answered_at_s is not None:
            age = f"{render_duration(self.now() - self._answered_at_s)} old"
        parts = [Span(f" {self.page or 'no page'}", "accent"), Span(f"  {age}", "dim")]
        if self._text and self._fault is None:
            parts.append(Span(f"  {len(self._text):,} characters", "dim"))
        if self._fault is not None:
            ago = render_duration(self.now() - self._fault_at_s)
            parts.append(Span(f"  last error {ago} ago: {self._fault}", "bad"))
        self.query_one("#raw-head", Lines).show([parts])

    # -- keys ----------------------------------------------------------------------------

    def action_search(self) -> None:
        """Type what to search for."""
        self.query_one("#search", TextField).open(self._searched)

    def on_text_field_changed(self, message: TextField.Changed) -> None:
        """Search while it is typed."""
        pattern = search_pattern(message.text)
        self._searched = message.text
        pager = self.query_one("#text", Pager)
        count = pager.search(pattern)
        of = "" if pager.searched == pager.count else f" of the first {pager.searched:,}"
        message.field.tell(f"{count} lines{of}" if pattern is not None else "")

    def on_text_field_closed(self) -> None:
        """Give the focus to the text."""
        self.set_focus(self.query_one("#text", Pager))

    def action_found(self, step: int) -> None:
        """Go to another line that matches."""
        at, of = self.query_one("#text", Pager).go_to_found(step)
        self.notify(f"{at} of {of}" if of else "nothing matches; / searches", timeout=2)

    def action_wrap(self) -> None:
        """Break long lines, or not."""
        pager = self.query_one("#text", Pager)
        pager.set_wrap(not pager.wraps)

    def action_other_pane(self) -> None:
        """Go to the text, or back to the pages."""
        text = self.query_one("#text", Pager)
        self.set_focus(self.query_one(OptionList) if self.focused is text else text)

    def selected_id(self) -> str | None:
        """Return the path of the page."""
        return self.page

    def selected_text(self) -> str | None:
        """Return the page as it is shown."""
        return self._text or None


def indented(body: bytes) -> str:
    """Write JSON indented; anything else as it came, both within bounds."""
    text = body[:MAX_PAGE_BYTES].decode("utf-8", "replace")
    if len(body) > MAX_PAGE_BYTES:
        return f"{text}\n… cut at {MAX_PAGE_BYTES:,} of {len(body):,} bytes"
    try:
        if _ESCAPE in text:
            return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
        # Read and written anew, a page of a large pool would hold up the screen for half a second.
        return msgspec.json.format(text, indent=2)
    except (ValueError, RecursionError):
        return text


def painted(text: str) -> TextLine:
    """Colour the key of a line of JSON."""
    match = _LINE.match(text)
    if match is None or not match[2]:
        return (Span(text),)
    return (Span(match[1]), Span(match[2], "accent"), Span(match[3]))
