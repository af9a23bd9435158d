"""What an Instance's answer says of itself, read beside the relay and never in it.

Usage, the first token, and whether an answer that looks like a success is a failure in
disguise: an engine that breaks mid-stream reports it inside a 200 and ends with [DONE].
"""

from collections.abc import Callable
from typing import Any

import msgspec

from cacheroute.formats.sse import Event, SseScanner
from cacheroute.upstream.large_event import BUILT_BYTES, READ_BYTES, glance
from cacheroute.upstream.usage import UNREADABLE, Usage, read_usage, usage_in

JSON_INSPECTED_BYTES = 2 * 1024 * 1024
"""A JSON answer longer than this is relayed all the same, and its usage stays unknown."""
_HELD_BYTES = 16 * 1024
"""No error event is longer than this, so the head of a stream is not held beyond it."""


class Watch:
    """Looks at the body of one answer; this one takes no interest."""

    __slots__ = ("first_token_s", "usage")

    is_open = True
    """Whether the head need not be held any longer."""
    error: str | None = None
    """What went wrong, when the answer itself says so."""
    error_status: int | None = None
    """The HTTP status that the answer's own error names."""
    too_large = False
    """Whether an event outgrew the limit."""
    done_marks = 0
    """How many [DONE] came; an OpenAI stream that is whole has one."""

    def __init__(self) -> None:
        self.usage: Usage | None = None
        self.first_token_s: float | None = None
        """When the first token came, on the clock that was handed in."""

    @property
    def is_cut_off(self) -> bool:
        """Whether an answer that ends just by stopping has stopped in the middle."""
        return False

    def feed(self, data: bytes) -> None:
        """Look at a piece."""

    def close(self) -> None:
        """The answer is complete."""


class JsonWatch(Watch):
    """Finds the usage in a whole JSON answer."""

    __slots__ = ("_pieces", "_size")

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> None:
        """Keep a piece, up to the limit."""
        if not data:
            return
        self._size += len(data)
        if self._size <= JSON_INSPECTED_BYTES:
            self._pieces.append(data)
        else:
            self._pieces.clear()

    def close(self) -> None:
        """Read the usage; an answer of another shape has none."""
        pieces = self._pieces
        if pieces:
            self.usage = usage_in(pieces[0] if len(pieces) == 1 else b"".join(pieces))


def _stopped() -> float:
    """Stand in for a clock that is needed no more and would keep its owner alive."""
    return 0.0


class StreamWatch(Watch):
    """Follows a stream of events: opening, first token, usage, errors, [DONE]."""

    __slots__ = (
        "_clock", "_event_limit_bytes", "_scanner", "done_marks", "error", "error_status",
        "is_open", "too_large",
    )  # fmt: skip

    def __init__(self, clock: Callable[[], float], event_limit_bytes: int) -> None:
        super().__init__()
        self._clock = clock
        self._event_limit_bytes = event_limit_bytes
        self._scanner = SseScanner(READ_BYTES)
        self.is_open = False
        self.error = None
        self.error_status = None
        self.too_large = False
        self.done_marks = 0
        """How many [DONE] came; an OpenAI stream that is whole has one."""

    @property
    def events(self) -> int:
        """Events that were complete."""
        return self._scanner.events

    @property
    def opened_with_error(self) -> bool:
        """Whether the very first event was an error."""
        return self.error is not None and self._scanner.events - self.done_marks <= 1

    @property
    def is_amid_event(self) -> bool:
        """Whether the last event that came is not complete."""
        return self._scanner.is_amid_event

    @property
    def is_cut_off(self) -> bool:
        """Whether the stream stopped inside an event, for one that ends just by stopping.

        A last event that only lacks its blank line is whole for every reader there is.
        """
        if not self.is_amid_event:
            return False
        if self._scanner.is_cut:
            return True
        rest = self._scanner.peek().strip()
        if rest == b"[DONE]":
            return False
        try:
            msgspec.json.decode(rest, type=msgspec.Raw)  # passed over: it need not be built
        except UNREADABLE:
            return True
        return False

    def feed(self, data: bytes) -> None:
        """Look at a piece of the stream."""
        scanner = self._scanner
        if (
            self.first_token_s is not None
            # Who asks for usage gets it in the last event, and a null in all the others.
            and data.count(b'"usage"') == data.count(b'"usage":null')
            and b'"error"' not in data
            and b"[DONE]" not in data
            and b"event:" not in data
            and scanner.count(data)
        ):
            return
        for event in scanner.scan(data):
            self._read(event)
        if not self.is_open:
            self.is_open = (
                scanner.events > 0
                or scanner.comments > 0
                or scanner.event_bytes > _HELD_BYTES
                or not (scanner.name == b"error" or _could_be_error(scanner.peek()))
            )
        if scanner.event_bytes > self._event_limit_bytes:
            self.too_large = True

    def _read(self, event: Event) -> None:
        data = event.data
        if data.strip() == b"[DONE]":
            self.done_marks += 1
            return
        value = None
        if not event.is_cut:
            try:
                value = glance(data) if len(data) > BUILT_BYTES else msgspec.json.decode(data)
            except UNREADABLE:
                pass
        if not isinstance(value, dict):
            if event.name == b"error":
                self._note_error(data[:200].decode("utf-8", "replace"))
            elif self.first_token_s is None and data:
                self._note_first_token()
            return
        error = value.get("error")
        if error or event.name == b"error" or value.get("object") == "error":
            self._note_error(error or value)
            return
        if value.get("type") == "response.failed":
            response = value.get("response")
            self._note_error((response.get("error") if type(response) is dict else None) or value)
            return
        usage = value.get("usage")
        if usage is None:
            nested = value.get("message") or value.get("response")
            usage = nested.get("usage") if isinstance(nested, dict) else None
        found = read_usage(usage)
        if found is not None:
            self.usage = _later(self.usage, found)
        if self.first_token_s is None and has_content(value):
            self._note_first_token()

    def _note_first_token(self) -> None:
        clock, self._clock = self._clock, _stopped
        self.first_token_s = clock()

    def _note_error(self, error: object) -> None:
        if self.error is not None:
            return
        if isinstance(error, dict):
            self.error = str(error.get("message") or error.get("type") or "unnamed")[:500]
            code = error.get("code", error.get("status"))
            if type(code) is int and 400 <= code < 600:
                self.error_status = code
        else:
            self.error = str(error)[:500]


def _later(before: Usage | None, now: Usage) -> Usage:
    """Join what came at the beginning and at the end of a messages stream."""
    if before is None:
        return now
    return Usage(*(b if n is None else n for b, n in zip(before, now, strict=True)))


def has_content(event: dict[str, Any]) -> bool:
    """Whether an event carries generated content: a role alone, or usage alone, is none."""
    choices = event.get("choices")
    if isinstance(choices, list):
        for choice in choices:
            if type(choice) is not dict:
                continue
            if choice.get("text"):
                return True
            delta = choice.get("delta")
            if type(delta) is dict:
                for key, value in delta.items():
                    if key != "role" and value not in (None, "", [], {}):
                        return True
        return False
    kind = event.get("type")
    return isinstance(kind, str) and kind.endswith("delta") and kind != "message_delta"


_FIRST_KEYS_OF_ERRORS = (b"error", b"object", b"detail", b"message", b"code", b"type", b"status")


def _could_be_error(data: bytes) -> bool:
    """Whether the beginning of an event leaves open that it will be an error.

    Decides as early as the first key, since nothing that can be passed on may be held.
    """
    text = data.lstrip()
    if not text.startswith(b"{"):
        return not text
    text = text[1:].lstrip()
    if not text.startswith(b'"'):
        return not text
    key, quote, _ = text[1:].partition(b'"')
    if quote:
        return key in _FIRST_KEYS_OF_ERRORS
    return any(name.startswith(key) for name in _FIRST_KEYS_OF_ERRORS)


UNWATCHED = Watch()
"""For answers that nobody looks into; it never has anything to tell."""
