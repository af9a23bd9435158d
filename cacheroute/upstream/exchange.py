"""One request with one Instance, from the first byte sent to the last byte passed on.

The pipeline waits for it twice: until it is known how the answer opens, and until it has
ended. In between, every piece goes to the client in the turn in which it was read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cacheroute.core.errors import UpstreamClosed, UpstreamError, UpstreamProtocolError
from cacheroute.dataplane.outbound import Outbound
from cacheroute.dataplane.turns import Signal
from cacheroute.formats.sse_done import DoneFilter
from cacheroute.upstream.answer import UNWATCHED, JsonWatch, StreamWatch, Watch

if TYPE_CHECKING:
    from collections.abc import Callable

    from cacheroute.dataplane.inbound import Inbound
    from cacheroute.dataplane.pool import Peer

_NO_CACHE = b"Cache-Control: no-cache, no-transform\r\n"
_NO_BUFFERING = b"X-Accel-Buffering: no\r\n"
_HELD_MAX_BYTES = 256 * 1024
WHOLE_MAX_BYTES = 8 * 1024 * 1024
"""A JSON answer longer than this goes on as it comes, with nothing added."""
_OF_OTHER_BYTES = (b"content-type", b"content-digest", b"content-md5", b"digest", b"etag")
"""What a head says of a body that is no longer the one that is sent."""


class Exchange:
    """An answer on its way through."""

    __slots__ = (
        "_clock", "_done", "_event_limit_bytes", "_held", "_held_bytes", "_inbound", "_last",
        "_outbound", "_signal", "ended", "error", "is_stream", "is_whole", "keeps_whole",
        "on_first_token", "opened", "peer", "watch", "wraps_text",
    )  # fmt: skip

    def __init__(
        self,
        peer: Peer,
        head: bytes,
        body: bytes,
        *,
        expects_body: bool,
        clock: Callable[[], float],
        event_limit_bytes: int,
    ) -> None:
        self.peer = peer
        self._outbound = Outbound(head, body, self, expects_body=expects_body)
        self._signal = Signal()
        self._clock = clock
        self._event_limit_bytes = event_limit_bytes
        self._inbound: Inbound | None = None
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._last = b""
        self._done: DoneFilter | None = None
        self.keeps_whole = False
        """Whether something is to be said at the end of the answer, so that it must stay open:
        a stream goes on without its end mark, and a JSON answer waits until it is complete."""
        self.wraps_text = False
        """Whether plain text is kept as well, since its reader expects nothing but JSON."""
        self.is_whole = False
        """Whether this is an answer that is kept until it is complete."""
        self.watch: Watch = UNWATCHED
        self.is_stream = False
        """Whether the answer is a stream of events."""
        self.opened = False
        """Whether it is known how the answer opens."""
        self.ended = False
        """Whether the answer is complete."""
        self.error: UpstreamError | None = None
        """Why it will never be complete."""
        self.on_first_token: Callable[[float], None] | None = None
        """Told once, with the time, when generated content begins to come in a stream."""

    # What the pipeline does

    def send(self) -> None:
        """Send the request."""
        self.peer.send(self._outbound)

    async def opening(self) -> None:
        """Wait until it is known how the answer opens; raises the UpstreamError otherwise.

        For a stream that is its first event or comment: an engine that is full answers 200
        and says so in the first event, and then another Instance can still be asked.
        """
        while not self.opened:
            if self.error is not None:
                raise self.error
            await self._signal

    def relay_to(self, inbound: Inbound, lines: bytes) -> None:
        """Begin to pass the answer on; `lines` are header lines of our own."""
        outbound = self._outbound
        self._inbound = inbound
        fields = outbound.fields
        if self.is_stream:
            if b"cache-control" not in fields:
                lines += _NO_CACHE
            if b"x-accel-buffering" not in fields:
                lines += _NO_BUFFERING
        inbound.begin(
            outbound.status,
            b"".join([*outbound.lines, lines]),
            # A stream that breaks off is told by one more event, so it has no fixed length.
            None if self.is_stream else outbound.content_length,
        )
        done = self._done
        for piece in self._held:
            inbound.write(piece if done is None else done.feed(piece))
        self._held.clear()
        self._held_bytes = 0
        if not self.ended:
            inbound.on_pause = outbound.pause
            inbound.on_resume = outbound.resume
            if inbound.write_paused:
                outbound.pause()
            elif outbound.is_paused:
                outbound.resume()

    async def ending(self) -> None:
        """Wait until the answer is complete; raises the UpstreamError if it breaks off."""
        while not self.ended:
            if self.error is not None:
                raise self.error
            await self._signal

    def finish(self) -> None:
        """Pass on the last piece and the end at the end of this turn; the books are settled."""
        if self._inbound is not None:
            self.peer.turn_end.call(self._pass_end)

    def _pass_end(self) -> None:
        inbound = self._inbound
        if inbound is not None:
            inbound.finish(self._last)

    @property
    def is_held_open(self) -> bool:
        """Whether this is a stream without its end mark so far, so that something can be said."""
        return self._done is not None

    def take_mark(self) -> bool:
        """Take the end mark from the last piece; returns whether the stream had one at all."""
        done = self._done
        if done is None:
            return False
        self._last = done.feed(self._last) + self.end_event()
        return done.found

    def end_event(self) -> bytes:
        """Return what a stream needs before something else can be said, if it stopped midway."""
        rest = b"" if self._done is None else self._done.close()
        watch = self.watch
        if isinstance(watch, StreamWatch) and watch.is_amid_event:
            rest += b"\n\n"  # or what follows would be read as the rest of that event
        return rest

    def say_last(self, words: bytes) -> None:
        """Put something behind the last piece."""
        self._last += words

    def take_whole(self) -> bytes:
        """Return the answer that was kept until it was complete."""
        whole = b"".join([*self._held, self._last])
        self._held.clear()
        return whole

    def relay_whole(self, inbound: Inbound, lines: bytes, body: bytes) -> None:
        """Pass on another body, of JSON, in the place of the answer that was kept."""
        self._last = body
        self._inbound = inbound
        outbound = self._outbound
        kind = outbound.fields.get(b"content-type", b"")
        if not _is_json(kind):
            kind = b"application/json"
        for name in _OF_OTHER_BYTES:
            self.drop_lines(name + b":")
        lines = b"%bContent-Type: %b\r\n%b" % (b"".join(outbound.lines), kind, lines)
        inbound.begin(outbound.status, lines, len(body))

    @property
    def unsent_bytes(self) -> int:
        """Size of the last piece, which is passed on when everything else is settled."""
        return len(self._last)

    def abandon(self) -> None:
        """Walk away; an answer that is not complete is cut off at the Instance at once."""
        self._held.clear()
        self._outbound.abandon()

    # What it knows of the answer

    @property
    def status(self) -> int:
        """The status the Instance answered with."""
        return self._outbound.status

    def drop_lines(self, prefix: bytes) -> None:
        """Leave out header lines of the Instance, by the lower-case beginning of their names."""
        outbound = self._outbound
        outbound.lines = [line for line in outbound.lines if line[: len(prefix)].lower() != prefix]

    def field(self, name: bytes) -> bytes | None:
        """Return one of the few header values that are kept, by lower-case name."""
        return self._outbound.fields.get(name)

    # From the data plane

    def on_head(self) -> None:
        """Choose how to look at the body, and whether to hold the head."""
        outbound = self._outbound
        kind = outbound.fields.get(b"content-type", b"").lower()
        if outbound.fields.get(b"content-encoding", b"identity") != b"identity":
            pass  # not asked for, passed on untouched, and not to be read
        elif kind.startswith(b"text/event-stream"):
            self.is_stream = True
            self.watch = StreamWatch(self._first_token, self._event_limit_bytes)
            if outbound.status == 200 and outbound.expects_body:
                if self.keeps_whole:
                    self._done = DoneFilter()
                return
        elif outbound.status == 200:
            if kind.startswith(b"application/json"):
                self.watch = JsonWatch()
            if self.keeps_whole and self._can_keep(kind):
                self.is_whole = True
                return
        self.opened = True  # a piece, or the end, follows in this turn and wakes the pipeline

    def on_body(self, data: bytes) -> None:
        """Look, then pass on, or hold while it is open how the answer opens."""
        watch = self.watch
        watch.feed(data)
        inbound = self._inbound
        if inbound is None:
            self._hold(data)
            if self.opened or (watch.is_open and not self.is_whole):
                self.opened = True
                self._signal.notify()
        elif watch.too_large:
            self._stop_for_size()
        elif self._done is None:
            inbound.write(data)
        else:
            passed = self._done.feed(data)
            if passed:
                inbound.write(passed)

    def on_end(self, data: bytes) -> None:
        """Keep the last piece until the books are settled."""
        watch = self.watch
        watch.feed(data)
        watch.close()
        self._last = data
        self.opened = True
        if self._outbound.until_close and watch.is_cut_off:
            message = f"{self.peer.name} closed in the middle of an event."
            self.error = UpstreamClosed(message, peer=self.peer.name)
            self._last = b""
            if self._inbound is None:
                self._held.append(data)
            else:
                self._inbound.write(data if self._done is None else self._done.feed(data))
        else:
            self.ended = True
        self._signal.notify()

    def on_fail(self, error: UpstreamError) -> None:
        """Tell the pipeline; after [DONE] nothing is missing, however the connection ends."""
        if self._inbound is not None and self.watch.done_marks:
            self.ended = True
        else:
            self.error = error
        self._signal.notify()

    def _can_keep(self, kind: bytes) -> bool:
        outbound = self._outbound
        if not outbound.expects_body or (outbound.content_length or 0) > WHOLE_MAX_BYTES:
            return False
        return _is_json(kind) or (self.wraps_text and (not kind or kind.startswith(b"text/")))

    def _first_token(self) -> float:
        at_mono_s = self._clock()
        tell, self.on_first_token = self.on_first_token, None
        if tell is not None:
            tell(at_mono_s)
        return at_mono_s

    def _hold(self, data: bytes) -> None:
        self._held.append(data)
        self._held_bytes += len(data)
        if self.is_whole:
            if self._held_bytes > WHOLE_MAX_BYTES:
                self.is_whole = False  # too much to keep: it goes on as it comes
                self.opened = True
                self._signal.notify()
        elif self._held_bytes > _HELD_MAX_BYTES and not self._outbound.is_paused:
            self._outbound.pause()

    def _stop_for_size(self) -> None:
        self._outbound.abandon()
        limit = self._event_limit_bytes
        self.on_fail(
            UpstreamProtocolError(
                f"{self.peer.name} sent an event larger than {limit} bytes (limits.event_bytes).",
                peer=self.peer.name,
            )
        )


def _is_json(kind: bytes) -> bool:
    return kind.partition(b";")[0].strip().lower() == b"application/json"
