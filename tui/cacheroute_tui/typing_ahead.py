"""Keys and pastes are handled one at a time: each goes to what has the focus when its turn comes.

The toolkit sends each key, as it arrives, to the widget that has the focus at that moment. Of keys
that arrive faster than they are handled, from a fast hand or over a slow link, the letter behind
`/` would then be a command of the table instead of the first letter of the filter.
"""

from collections import deque
from functools import cached_property
from typing import Any

from textual import events
from textual.app import App
from textual.dom import DOMNode
from textual.screen import Screen

Typed = events.Key | events.Paste


class TypingAhead(App[int]):
    """Holds back what is typed while a key is being handled."""

    _is_handling = False

    @cached_property
    def _held_back(self) -> deque[Typed]:
        return deque()

    async def on_event(self, event: events.Event) -> None:
        """Send a key on, or hold it back; one that has bubbled up to here goes on as ever."""
        if not isinstance(event, Typed) or event.is_forwarded:
            await super().on_event(event)
        elif self._is_handling:
            self._held_back.append(event)
        else:
            await self._handle(event)

    async def _handle(self, typed: Typed) -> None:
        self._is_handling = True
        screen = self.screen
        target = self.focused or screen
        await super().on_event(typed)
        self._follow(target, screen)

    def _follow(self, node: DOMNode | None, screen: Screen[Any]) -> None:
        """Go the way that the key bubbles, queue by queue, so as to be behind it everywhere."""
        while node is not None and node is not self:
            if node.call_later(self._follow, node.parent, screen):
                return
            node = node.parent  # This one is closing, and handles nothing any more.
        self.call_later(self._handled, screen)

    async def _handled(self, screen: Screen[Any]) -> None:
        """Handle the next key, once a screen that this one has opened has taken the focus."""
        if self.screen is not screen:
            self._follow(self.screen, self.screen)
            return
        self._is_handling = False
        if self._held_back:
            await self._handle(self._held_back.popleft())
