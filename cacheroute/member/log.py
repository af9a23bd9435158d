"""One line on stderr for each change of state, and none in between."""

import sys


class StateLog:
    """Says what has changed about one thing; the same news twice is no news."""

    __slots__ = ("_about", "_last")

    def __init__(self, about: str) -> None:
        self._about = about
        self._last: str | None = None

    def say(self, event: str, text: str) -> None:
        """Write a line unless the last one was of the same event."""
        if event != self._last:
            self._last = event
            sys.stderr.write(f"{self._about}: {text}\n")
            sys.stderr.flush()
