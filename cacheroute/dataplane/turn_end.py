"""What is put off to the end of the event loop's turn, so that bytes leave together.

A turn reads from every socket that has something. If each message were passed on in between,
whoever it goes to would be woken for it alone, and waking costs the sender as much as sending.
"""

import asyncio
from collections.abc import Callable


class TurnEnd:
    """Calls that are made once everything that this turn has read has been looked at."""

    __slots__ = ("_due", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._due: list[Callable[[], None]] = []

    def call(self, action: Callable[[], None]) -> None:
        """Call it at the end of this turn, in the order of asking."""
        if not self._due:
            self._loop.call_soon(self._run)
        self._due.append(action)

    def _run(self) -> None:
        due, self._due = self._due, []
        for action in due:
            try:
                action()
            except Exception as error:  # the others are due all the same
                self._loop.call_exception_handler(
                    {"message": f"{action!r} failed at the end of a turn", "exception": error}
                )
