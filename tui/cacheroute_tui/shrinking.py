"""A terminal that is too small: every screen and dialog is covered by one line, and few keys work.

Nothing below is changed, and no key reaches what cannot be seen: a dialog that nobody can read
must not be answered.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from textual import events
from textual.app import App
from textual.screen import Screen
from textual.widgets import Input

from cacheroute_tui.keymap import COMMON, Key
from cacheroute_tui.widgets.too_small import MIN_HEIGHT, MIN_WIDTH, TooSmall

if TYPE_CHECKING:
    from cacheroute_tui.app import ConsoleApp

_ALWAYS = ("quit.now", "suspend")
_LETTERS = ("quit", "pause", "refresh")
_KEYS = {key.id: key for key in COMMON if key.id in (*_LETTERS, *_ALWAYS)}


class Shrinking(App[int]):
    """An app whose terminal may have any size."""

    @property
    def is_small(self) -> bool:
        """Whether the terminal is too small for a frame."""
        return self.size.width < MIN_WIDTH or self.size.height < MIN_HEIGHT

    def small_keys(self) -> Sequence[Key]:
        """Return the keys that work while it is: letters belong to a field that has the focus."""
        ids = ("quit.now",) if isinstance(self.focused, Input) else _LETTERS
        return [_KEYS[one] for one in ids]

    def watch_sizes(self) -> None:
        """Cover screens from now on while the terminal is too small."""
        self.screen_change_signal.subscribe(self, self._cover, immediate=True)
        self._cover(None)

    def on_resize(self) -> None:
        """Cover what is open; the cover goes by itself, when it has grown."""
        # The toolkit notes the size after this.
        self.call_next(self._cover, None)

    def _cover(self, _: Screen[Any] | None) -> None:
        if not self.is_small:
            return
        for screen in self.screen_stack:
            if not screen.has_class("-small"):
                screen.add_class("-small")
                _hold_size(screen, holds=True)
            cover = next(iter(screen.query(TooSmall)), None)
            if cover is not None:
                cover.display = True
            elif screen.is_attached:
                screen.mount(TooSmall())
        self.show_small()

    def uncover(self) -> None:
        """Show again what was covered."""
        for screen in self.screen_stack:
            screen.remove_class("-small")
            _hold_size(screen, holds=False)
            for cover in screen.query(TooSmall):
                cover.display = False

    def show_small(self) -> None:
        """Draw the line anew, where it is to be seen."""
        if self.is_small:
            for cover in self.screen.query(TooSmall):
                cover.show()

    async def on_event(self, event: events.Event) -> None:
        """Keep keys and the pointer from what cannot be seen."""
        is_input = isinstance(event, events.InputEvent | events.Paste)
        if not (is_input and self.is_small and not event.is_forwarded):
            await super().on_event(event)
        elif isinstance(event, events.Key):
            await self._small_key(event.key)

    async def _small_key(self, name: str) -> None:
        me = cast("ConsoleApp", self)
        ids = {key.id for key in self.small_keys()} | set(_ALWAYS)
        for key in _KEYS.values():
            if key.id in ids and name in me.options.keys.get(key.id, key.keys).split(","):
                await self.run_action(key.action.removeprefix("app."))
                self.show_small()
                return


def _hold_size(screen: Screen[Any], *, holds: bool) -> None:
    """Let what is hidden keep its size, so that no list has to scroll for its cursor."""
    for body in screen.query("#body"):
        width, height = body.size
        body.styles.min_width = width if holds and width else None
        body.styles.min_height = height if holds and height else None
