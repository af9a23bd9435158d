"""The last requests and how they went, kept by reference and put into words when read.

Every request ends here, so ending costs one tuple and one append; the record is the one that the
log writes. Stories have a ring of their own, or plain traffic would push them out.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from cacheroute.planes.traces import Traced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cacheroute.runtime.request_log import RequestRecord
    from cacheroute.runtime.story import Story

KEPT = 512
"""Of requests with a story, and as many again of those without."""


class Traces:
    """The last requests."""

    __slots__ = ("_plain", "_told", "total")

    def __init__(self, kept: int = KEPT) -> None:
        self._plain: deque[tuple[Any, ...]] = deque(maxlen=kept)
        self._told: deque[tuple[Any, ...]] = deque(maxlen=kept)
        self.total = 0
        """Requests that have ended since the Proxy started."""

    def add(self, record: RequestRecord, sent_s: float | None = None) -> None:
        """Keep a request without a story; `sent_s` is from its arrival until it was sent."""
        self.total = number = self.total + 1
        self._plain.append((number, record, sent_s, None))

    def add_story(self, record: RequestRecord, sent_s: float | None, story: Story) -> None:
        """Keep a request with its story, and nothing else of it: its body may be large."""
        self.total = number = self.total + 1
        self._told.append((number, record, sent_s, story.trace.values))

    def last(self, count: int) -> Iterator[Traced]:
        """Iterate over the newest, newest first."""
        plain, told = list(self._plain), list(self._told)
        while count > 0 and (plain or told):
            is_plain_next = not told or (bool(plain) and plain[-1][0] > told[-1][0])
            yield Traced._make((plain if is_plain_next else told).pop())
            count -= 1

    def find(self, request_id: str) -> Traced | None:
        """Return the newest of a name; None when there is none, or no longer."""
        named = [
            next((each for each in reversed(ring) if each[1].request_id == request_id), None)
            for ring in (self._plain, self._told)
        ]
        newest = max((each for each in named if each is not None), default=None, key=_number)
        return None if newest is None else Traced._make(newest)


def _number(entry: tuple[Any, ...]) -> int:
    number: int = entry[0]
    return number
