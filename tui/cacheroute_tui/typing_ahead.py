"""Keys that were typed ahead go to what has the focus when their turn comes.

The toolkit hands each key to the widget that has the focus as the key arrives. `/` and a letter
right behind it, as a fast hand or a slow link sends them, would both reach the table: the letter
would be a command instead of the first letter of the filter.
"""

from textual import events
from textual.app import App

_SENT_TO = "_sent_to"


class TypingAhead(App[int]):
    """Sends a key on when the focus has moved while it waited."""

    async def on_event(self, event: events.Event) -> None:
        """Send a key where the focus is; one that comes back from there is not text."""
        if not isinstance(event, events.Key):
            await super().on_event(event)
            return
        target = self.focused or self.screen
        was_sent_to = getattr(event, _SENT_TO, target)
        if event.is_forwarded and was_sent_to is not target:
            # A new one, since the way of this one ends here.
            again = events.Key(event.key, event.character)
            setattr(again, _SENT_TO, target)
            target._forward_event(again)  # noqa: SLF001 - as the toolkit sends its own
            return
        setattr(event, _SENT_TO, target)
        await super().on_event(event)
