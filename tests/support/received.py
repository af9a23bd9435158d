"""What a scripted backend remembers of one request."""

import asyncio
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from tests.support.wire import Head


@dataclass(slots=True, eq=False)
class Received:
    """One request, as it came in, and what became of its answer."""

    head: Head
    body: bytes
    connection: int
    """Which connection it came on, counted from 0."""
    writes: list[float] = field(default_factory=list)
    """When each `Write` of the script went out, in seconds of the event loop's clock."""
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the peer has left before the script was over."""
    done: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the script is over, one way or the other."""

    @property
    def method(self) -> str:
        """The method, for example `POST`."""
        return self.head.start.split(b" ")[0].decode()

    @property
    def target(self) -> str:
        """Path and query, as sent."""
        return self.head.start.split(b" ")[1].decode("latin-1")

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    @property
    def sha256(self) -> str:
        """Digest of the raw body."""
        return hashlib.sha256(self.body).hexdigest()

    def json(self) -> Any:
        """Return the body, read as JSON."""
        return json.loads(self.body)
