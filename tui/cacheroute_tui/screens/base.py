"""The base of every screen: what it is handed, when it draws, and what it gets for nothing.

How to write a screen:

    class Queues(ConsoleScreen):
        NAME, TITLE, NUMBER = "queues", "Queues", 4     # `--screen queues`, the tab, the key
        NEEDS = frozenset({"predictions"})              # names of `feed.PARTS` beside the usual
        KEYS = (Key(id="queues.slots", keys="v", label="Slots", action="slots", doc="..."),)
                                                        # LISTING + (...) for screens of rows
        def body(self) -> ComposeResult:                # between the tabs and the footer
            yield VTable(columns, id_of=lambda row: row.id, now=self.now, id="rows")
        def draw(self, snapshot: Snapshot) -> None:     # only while it is the visible screen
            look = snapshot.look                        # None before the first good look
            if look is not None:
                self.table.show_rows(look.queues, is_stale=self.is_stale)

`draw` is called for each new snapshot while the screen is visible and not paused, once when it
becomes visible with something new to show, and after a resize when the `shape` changed. It
must not await. Widgets keep a cursor and nothing else; all data is in `snapshot.look` (see
`cacheroute.console.store.Seen`) and `self.history` (`cacheroute.console.history.History`).
Anything else that a source can tell is asked for by name in `asks`, and comes in
`snapshot.look.beside.more[name]`, or `self.missing(name)` says why not:

    self.snapshot, self.history, self.now()             # Snapshot, History, monotonic seconds
    self.is_stale                                       # lost or lagging: draw in grey
    self.missing("decisions")                           # why a part is not there, or None
    self.shape                                          # "line", "narrow", "normal", "wide"
    self.console                                        # the app: options, clock, palette, feed
    self.selected_id(), self.selected_json()            # what y, Y, d and u act on: override
    self.selected_ids(), self.changed(ids)              # of many: for screens that take marks
    self.explained()                                    # terms that `e` explains: override

Drawing: `widgets.lines.Lines` for panels of `Span(text, ink)`, where an ink is a tone ("good",
"warn", "bad", "dim", "plain"), a name of the palette ("title", "accent", …) or a rich Style;
`widgets.vtable.VTable` for rows; `drawing.palette_of(widget)` for styles; `drawing.as_ascii`.
A table's screen inherits `ListScreen` of `screens.listing`, which does filter, sort, a, f and w.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar, Literal, cast

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.css.query import NoMatches
from textual.screen import Screen

from cacheroute.console.history import History
from cacheroute.console.store import Snapshot, Store
from cacheroute_tui.feed import Question
from cacheroute_tui.keymap import COMMON, Key, bindings
from cacheroute_tui.operating_keys import OPERATING_KEYS
from cacheroute_tui.widgets.banner import Banner
from cacheroute_tui.widgets.footer import Footer
from cacheroute_tui.widgets.header import Header
from cacheroute_tui.widgets.lines import Span, TextLine
from cacheroute_tui.widgets.tabs import Tabs
from cacheroute_tui.widgets.too_small import MIN_HEIGHT, MIN_WIDTH

if TYPE_CHECKING:
    from cacheroute_tui.app import ConsoleApp

Shape = Literal["line", "narrow", "normal", "wide"]
"""By the width of the terminal; `line` is where one line covers it, and nothing is drawn."""

_NORMAL_WIDTH, _WIDE_WIDTH = 100, 140
_FRAMED_FOR_S = 0.9
"""How long the frame stays as a look has drawn it: with one a second it is drawn once a second."""
_FRAME: tuple[type[Header | Tabs | Banner | Footer], ...] = (Header, Tabs, Banner, Footer)


class ConsoleScreen(Screen[None]):
    """One screen of the console."""

    NAME: ClassVar[str] = ""
    """What `--screen` takes."""
    TITLE: ClassVar[str | None] = ""
    """What its tab says."""
    SHORT: ClassVar[str] = ""
    """The same where there is little room."""
    NUMBER: ClassVar[int] = 0
    """The key that goes to it; 0 is none."""
    NEEDS: ClassVar[frozenset[str]] = frozenset()
    """Parts of a look that only this screen wants."""
    EXPLAINS: ClassVar[str | None] = None
    """The list whose columns `e` explains first."""
    KEYS: ClassVar[tuple[Key, ...]] = ()
    """Keys beside the common ones."""

    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - as the toolkit declares it
        (0, "-line"),
        (60, "-narrow"),
        (100, "-normal"),
        (140, "-wide"),
    ]
    VERTICAL_BREAKPOINTS = [  # noqa: RUF012 - as above
        (0, "-flat"),
        (16, "-low"),
        (22, "-mid"),
        (30, "-tall"),
    ]
    BINDINGS: ClassVar[list[Binding]] = bindings(COMMON)  # type: ignore[assignment]
    AUTO_FOCUS = "VTable"

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)  # type: ignore[arg-type]
        kind = getattr(cls, "KIND", None)
        if kind is not None:
            cls.EXPLAINS = kind.name
        cls.BINDINGS = bindings(cls.every_key())
        # The toolkit merged the bindings of the bases before it saw those.
        cls._merged_bindings = cls._merge_bindings()

    def __init__(self) -> None:
        super().__init__(id=self.NAME or None)
        self._drawn_rev = -1
        self._drawn_of: Store | None = None
        self._drawn_shape: tuple[Shape, bool] | None = None
        self._framed: Sequence[Header | Tabs | Banner | Footer] = ()
        self._framed_at_s = 0.0

    @classmethod
    def every_key(cls) -> tuple[Key, ...]:
        """Return the keys of this screen, the common ones too; its own outrank those."""
        own = {name for key in cls.KEYS for name in key.keys.split(",")}
        common = (*COMMON, *OPERATING_KEYS)
        return (*(key for key in common if not own & set(key.keys.split(","))), *cls.KEYS)

    # -- what a screen reads -------------------------------------------------------------

    @property
    def console(self) -> "ConsoleApp":
        """The app."""
        return cast("ConsoleApp", self.app)

    @property
    def snapshot(self) -> Snapshot:
        """What is to be drawn; while paused, what was shown then."""
        return self.console.shown

    @property
    def history(self) -> History:
        """What was seen in the last minutes."""
        return self.console.store.history

    def now(self) -> float:
        """Return monotonic seconds."""
        return self.console.clock.now().mono_s

    def since_s(self) -> float:
        """Return how long ago what is drawn was true; 0 while looks come as they should."""
        look = self.snapshot.look
        if look is None or self.console.phase == "live":
            return 0.0
        return max(0.0, self.now() - look.taken.mono_s)

    @property
    def is_stale(self) -> bool:
        """Whether what is shown is old, and should look so."""
        return self.console.phase == "lost"

    @property
    def shape(self) -> Shape:
        """How much room there is."""
        width, height = self.app.size
        if width < MIN_WIDTH or height < MIN_HEIGHT:
            return "line"
        if width < _NORMAL_WIDTH:
            return "narrow"
        return "normal" if width < _WIDE_WIDTH else "wide"

    @property
    def is_tall(self) -> bool:
        """Whether there is room for panels above and below."""
        return self.app.size.height >= 30

    def missing(self, part: str) -> str | None:
        """Return why a part of the look is not there, in a sentence; None when it is."""
        return self.snapshot.missing.get(part)

    # -- what a screen overrides ---------------------------------------------------------

    def body(self) -> ComposeResult:
        """Make what stands between the tabs and the footer."""
        yield from ()

    def draw(self, snapshot: Snapshot) -> None:
        """Draw a snapshot."""

    def tick(self) -> None:
        """Let ages go on while nothing comes; the frame is taken care of."""
        if self.console.phase != "live" and not self.console.is_paused:
            self.redraw()

    def history_cleared(self) -> None:
        """Draw that the history begins anew."""
        self.redraw()

    def asks(self) -> Mapping[str, Question]:
        """Return what only this screen asks of the source with each look, by name."""
        return {}

    def selected_id(self) -> str | None:
        """Return the id of what is selected, usually an Instance."""
        return None

    def selected_ids(self) -> tuple[str, ...]:
        """Return the ids of all that is selected."""
        selected = self.selected_id()
        return () if selected is None else (selected,)

    def selected_json(self) -> object | None:
        """Return what is selected as a document."""
        return None

    def changed(self, ids: Sequence[str]) -> None:
        """Note that what was asked for is done to these."""

    def step_back(self) -> bool:
        """Undo what escape undoes before it leaves; False when there is nothing of the kind."""
        return False

    def source_changed(self) -> None:
        """Forget what belongs to the Proxy that was looked at before."""

    def explained(self) -> tuple[str, ...]:
        """Return the terms that `e` explains here, the most likely one first."""
        return ()

    def explained_beside(self) -> Sequence[TextLine]:
        """Return what `e` says after the first of those, such as what alerts mean."""
        return ()

    def beside_tabs(self) -> Sequence[Span]:
        """Return what stands to the right of the tabs, such as order and filter."""
        return ()

    # -- the frame -----------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        """Put the body into the frame."""
        yield Header(id="header")
        yield Tabs(id="tabs")
        yield Banner(id="banner")
        with Vertical(id="body"):
            yield from self.body()
        yield from self.bottom()
        yield Footer(id="footer")

    def bottom(self) -> ComposeResult:
        """Make what stands right above the footer: the command line, and fields."""
        yield from self.console.command_line()

    def refresh_frame(self) -> None:
        """Draw the header, the tabs, the banner and the footer."""
        self._framed_at_s = self.now()
        for widget in self._frame:
            widget.update_frame(self)

    def tick_frame(self) -> None:
        """Draw them as time goes by, unless a look has just done so."""
        if self.now() - self._framed_at_s >= _FRAMED_FOR_S:
            self.refresh_frame()

    @property
    def _frame(self) -> Sequence[Header | Tabs | Banner | Footer]:
        # Looked for each time, they take longer to be found than to be drawn.
        if len(self._framed) < len(_FRAME):
            self._framed = [widget for kind in _FRAME for widget in self.query(kind)]
        return self._framed

    def refresh_data(self) -> None:
        """Draw what is new, when it is to be seen."""
        if not self.is_mounted or self.app.screen is not self or self.shape == "line":
            return
        self.refresh_frame()
        snapshot = self.snapshot
        if self._drawn_of is not self.console.store:
            # Another Proxy counts its looks from the start, and may be at the same number.
            self._drawn_rev, self._drawn_of = -1, self.console.store
            self.source_changed()
        shape = (self.shape, self.is_tall)
        if snapshot.rev == self._drawn_rev and shape == self._drawn_shape:
            return
        self._drawn_rev, self._drawn_shape = snapshot.rev, shape
        with self.app.batch_update(), suppress(NoMatches):
            # A screen that is being taken apart may have lost some of its widgets already.
            self.draw(snapshot)

    def redraw(self) -> None:
        """Draw again although nothing is new, as for another theme or filter."""
        self._drawn_rev = -1
        self.refresh_data()

    def on_mount(self) -> None:
        """Draw what there is already."""
        self.call_after_refresh(self.refresh_data)

    def on_screen_resume(self) -> None:
        """Draw what has come while another screen was on top."""
        self.console.screen_shown(self)
        self.refresh_data()

    def on_resize(self, event: events.Resize) -> None:  # noqa: ARG002 - the toolkit's signature
        """Draw for the new size."""
        self.call_after_refresh(self.refresh_data)

    def focus_body(self) -> None:
        """Give the focus back to the body."""
        target = next((w for w in self.query("#body *") if w.can_focus and w.display), None)
        self.set_focus(target)
