"""One request to an upstream peer, and what has come back of the answer so far.

Its listener is told of the head, of each piece of the body and of the end, in the turn of
the event loop that read them. The last piece comes with the end, so that a listener can
settle its books before it passes the end on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from cacheroute.core.errors import UpstreamError
    from cacheroute.dataplane.upstream import UpstreamConnection


class Listener(Protocol):
    """Whoever sent the request."""

    def on_head(self) -> None:
        """The head of the answer is there."""
        ...

    def on_body(self, data: bytes) -> None:
        """A piece of the body has come, and it is not the last; empty if only the head has."""
        ...

    def on_end(self, data: bytes) -> None:
        """The answer is complete; `data` is its last piece, maybe empty."""
        ...

    def on_fail(self, error: UpstreamError) -> None:
        """The answer will not be complete."""
        ...


class Deaf:
    """Hears nothing: the listener of a request that is over."""

    __slots__ = ()

    def on_head(self) -> None:
        """Nobody cares."""

    def on_body(self, data: bytes) -> None:
        """Nobody cares."""

    def on_end(self, data: bytes) -> None:
        """Nobody cares."""

    def on_fail(self, error: UpstreamError) -> None:
        """Nobody cares."""


_DEAF = Deaf()


class Outbound:
    """A request on its way; `head` and `body` are exactly the bytes that are sent."""

    __slots__ = (
        "age_s", "begun", "body", "connection", "content_length", "done", "expects_body", "fields",
         "head", "heard", "is_paused", "life_s", "lines", "listener", "may_resend",
        "status", "until_close",
    )  # fmt: skip

    def __init__(
        self,
        head: bytes,
        body: bytes,
        listener: Listener,
        *,
        expects_body: bool = True,
    ) -> None:
        self.head = head
        self.body = body
        self.listener: Listener = listener
        self.expects_body = expects_body
        """False for HEAD, whose answer has a body's headers and no body."""
        self.connection: UpstreamConnection | None = None
        self.may_resend = True
        """Whether a reused connection that dies unheard may be replaced, once."""
        self.status = 0
        self.lines: list[bytes] = []
        """Rendered end-to-end header lines of the answer, without any framing."""
        self.fields: dict[bytes, bytes] = {}
        """Headers of the answer that are needed here, by lower-case name."""
        self.content_length: int | None = None
        self.until_close = False
        """Whether the answer says nothing of its length, so that closing is its only end."""
        self.heard = False
        """Whether any byte of an answer has come."""
        self.begun = False
        """Whether any byte of its body has come; a head alone may be long before that."""
        self.done = False
        """Whether the listener has been told of the end, good or bad, or has walked away."""
        self.is_paused = False
        self.age_s = 0.0
        """Seconds since something was last heard, as the sweeper counts them."""
        self.life_s = 0.0

    def close(self) -> Listener:
        """Be over; returns the listener, which is still to be told how it ended.

        It is let go here, since most listeners hold their request: two objects that hold
        each other stay until the collector comes round, one pair per request.
        """
        self.done = True
        listener, self.listener = self.listener, _DEAF
        return listener

    def abandon(self) -> None:
        """Walk away: the peer sees a reset at once, and the listener hears no more."""
        if not self.done:
            self.close()
            if self.connection is not None:
                self.connection.reset()

    def pause(self) -> None:
        """Stop reading the answer, because its reader is behind."""
        self.is_paused = True
        if self.connection is not None:
            self.connection.pause()

    def resume(self) -> None:
        """Go on reading the answer."""
        self.is_paused = False
        self.age_s = 0.0
        if self.connection is not None:
            self.connection.resume()
