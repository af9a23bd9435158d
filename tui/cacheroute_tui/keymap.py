"""Every key of the console as data: what it is called, what it does, and on which screens.

Bindings, the footer, the help and the tests are made of these rows; which key each is stands in
`cacheroute.console.keys`, where the configuration reads it too. A screen adds its own in `KEYS`;
two keys that collide on a screen are an error when the screen is defined.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from textual.binding import Binding

from cacheroute.console.keys import KEYS as USUAL_KEYS


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One key, or several that do the same."""

    id: str
    """What the key is remapped by in `[keys]`."""
    keys: str = ""
    """Textual's names, with commas between; without them those of the shared table."""
    label: str
    """One or two words, for the footer."""
    doc: str
    """What it does, in a sentence for the help."""
    action: str
    """`app.pause` calls `action_pause` of the app, `sort` calls `action_sort` of the screen."""
    shown: str | None = None
    """How the footer and the help write it; None is the key itself."""
    rank: int = 0
    """Place in the footer: 1 comes first and goes last when there is no room; 0 is not in it."""
    writes: bool = False
    """Whether it changes something, so that it is off in a read-only console."""

    def __post_init__(self) -> None:
        if not self.keys:
            object.__setattr__(self, "keys", USUAL_KEYS[self.id])

    @property
    def display(self) -> str:
        """How it is written for people."""
        return self.shown or written(self.keys)

    def binding(self) -> Binding:
        """Return it as the toolkit wants it."""
        return Binding(self.keys, self.action, self.label, show=bool(self.rank), id=self.id)


_DISPLAY = {
    "question_mark": "?", "slash": "/", "colon": ":", "enter": "⏎", "escape": "esc",
    "plus": "+", "minus": "-", "full_stop": ".", "space": "space", "up": "↑", "down": "↓",
    "left": "←", "right": "→", "pageup": "PgUp", "pagedown": "PgDn", "less_than_sign": "<",
    "greater_than_sign": ">", "left_square_bracket": "[", "right_square_bracket": "]",
    "left_curly_bracket": "{", "right_curly_bracket": "}", "equals_sign": "=",
    "home": "Home", "end": "End", "ctrl+c": "^c", "ctrl+p": "^p", "ctrl+z": "^z",
    "backspace": "⌫", "tab": "tab",
}  # fmt: skip


def written(keys: str) -> str:
    """Return keys as people write them; those of the toolkit have commas between."""
    return "/".join(_DISPLAY.get(key, key) for key in keys.split(","))


COMMON: tuple[Key, ...] = (
    Key(id="help", label="Help", action="app.help", rank=1,
        doc="Show the keys of this screen, or close them."),
    Key(id="quit", label="Quit", action="app.quit", rank=2, doc="Leave the console."),
    Key(id="quit.now", label="Quit", action="app.copy_or_quit",
        doc="Copy what is selected; with nothing selected, leave the console."),
    Key(id="suspend", label="Suspend", action="app.suspend_process",
        doc="Go to the background; fg comes back."),
    Key(id="pause", label="Pause", action="app.pause", rank=6,
        doc="Hold what is shown, or go on; of a recording, stop its time."),
    Key(id="step.back", label="Step back", action="app.step(-1)",
        doc="Go to the look before, in a recording, and stop its time there."),
    Key(id="step.on", label="Step", action="app.step(1)",
        doc="Go to the next look of a recording, and stop its time there."),
    Key(id="refresh", label="Refresh", action="app.refresh_now", rank=8,
        doc="Look now, without waiting for the next look; when the Proxy is lost, try now."),
    Key(id="slower", label="Slower", action="app.slower", rank=0,
        doc="Look less often, down to every 10 s."),
    Key(id="faster", label="Interval", action="app.faster", shown="+-",
        rank=9, doc="Look more often, up to every 0.5 s; - looks less often."),
    Key(id="theme", label="Theme", action="app.next_theme", rank=10,
        doc="Take the next theme."),
    Key(id="explain", label="Explain", action="app.explain", rank=11,
        doc="Say what the column or the panel means: its unit, its source, its unknown."),
    Key(id="context", label="Context", action="app.context", rank=12,
        doc="Look at another Proxy; works while this one is lost."),
    Key(id="clear", label="Clear", action="app.clear_history",
        doc="Forget the history and begin anew."),
    Key(id="back", label="Back", action="app.close",
        doc="Close what is open, or leave a field."),
    *(
        Key(id=f"screen.{number}", label="", action=f"app.screen({number})",
            doc="Go to the screen of this number.")
        for number in range(1, 10)
    ),
    Key(id="previous", label="Last view", action="app.previous_view",
        doc="Go back to the screen that was shown before."),
)  # fmt: skip
"""Keys of every screen."""

LISTING: tuple[Key, ...] = (
    Key(id="filter", label="Filter", action="filter", rank=3,
        doc="Show only rows that match: a word, /regex/, ~fuzzy, key:value, key>80, !not."),
    Key(id="sort", label="Sort", action="sort", rank=5,
        doc="Choose the column to sort by."),
    Key(id="sort.left", label="Sort left", action="sort_by(-1)",
        doc="Sort by the column to the left."),
    Key(id="sort.right", label="Sort right", action="sort_by(1)",
        doc="Sort by the column to the right."),
    Key(id="sort.reverse", label="Reverse", action="reverse",
        doc="Turn the order round."),
    Key(id="all", label="All", action="all",
        doc="Show all rows, or only those that are alive."),
    Key(id="faults", label="Faults", action="faults",
        doc="Show only rows that something is wrong with, or all again."),
    Key(id="wide", label="Wide", action="wide",
        doc="Show more columns, or the usual ones; arrows scroll to those outside."),
    Key(id="mark", label="Mark", action="mark",
        doc="Mark the row under the cursor, or unmark it: y, Y, d and u act on all that are "
        "marked. A click in front of a row does it too; esc takes all marks away."),
)  # fmt: skip
"""Keys of every screen whose body is a table of rows."""


MOVING: tuple[Key, ...] = (
    Key(id="row.down", label="Down", action="move(1)", doc="Go to the next row."),
    Key(id="row.up", label="Up", action="move(-1)", doc="Go to the row before."),
    Key(id="row.page_down", label="Page down", action="page(1)",
        doc="Go down by a page."),
    Key(id="row.page_up", label="Page up", action="page(-1)",
        doc="Go up by a page."),
    Key(id="row.first", label="First", action="first", doc="Go to the first row."),
    Key(id="row.last", label="Last", action="last", doc="Go to the last row."),
    Key(id="column.left", label="Left", action="column(-1)",
        doc="Choose the column to the left."),
    Key(id="column.right", label="Right", action="column(1)",
        doc="Choose the column to the right."),
)  # fmt: skip
"""Keys of a table that has the focus."""


CHARTING: tuple[Key, ...] = (
    Key(id="window.shorter", label="Window", action="window(-1)",
        shown="[]", rank=7, doc="Let charts show a shorter time: 60, 15 or 5 minutes."),
    Key(id="window.longer", label="Longer", action="window(1)",
        doc="Let charts show a longer time."),
)  # fmt: skip
"""Keys of every screen with charts."""


class KeyConflict(ValueError):
    """Two rows of one screen want the same key, or have the same id."""


def bindings(keys: Iterable[Key]) -> list[Binding]:
    """Return the bindings of one screen; raises KeyConflict."""
    taken: dict[str, Key] = {}
    ids: set[str] = set()
    found = []
    for key in keys:
        if key.id in ids:
            raise KeyConflict(f"two keys have the id {key.id!r}")
        ids.add(key.id)
        for name in key.keys.split(","):
            if name in taken:
                raise KeyConflict(f"{name!r} is both {taken[name].id!r} and {key.id!r}")
            taken[name] = key
        found.append(key.binding())
    return found


def in_footer(keys: Sequence[Key], *, may_write: bool) -> list[Key]:
    """Return those the footer shows, in its order."""
    return sorted(
        (key for key in keys if key.rank and (may_write or not key.writes)), key=lambda k: k.rank
    )
