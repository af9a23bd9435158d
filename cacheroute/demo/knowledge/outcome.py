"""What one question came to, read from its stream as it arrives: the first word and the meta.

A failure is what a user would call one; an answer that went on without its knowledge is one
as well, since the knowledge is what it was about.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from cacheroute.formats.sse import Event, SseScanner

KV_PATH = "kv_inject"
KNOWN_PATHS = (
    KV_PATH, "text_inject", "no_kv_ready_fallback_text", "kv_inject_failed_fallback_text",
)  # fmt: skip
"""Every way on which the knowledge reaches the Instance."""
MAX_STREAM_BYTES = 4 * 1024 * 1024
_META = b"cacheroute_meta"
_DONE = b"[DONE]"
_SHOWN_CHARS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one question came to; None is not known."""

    number: int
    text_tokens: int
    ttft_ms: float | None
    """From sending the question to the first word of the answer."""
    predicted_ms: int | None
    """That time from the choice of the Instance on, as the Proxy predicted it then."""
    actual_ms: int | None
    """The same as the Proxy measured it."""
    path: str | None
    """How the knowledge went in."""
    reason: str | None
    """Why it was to go that way."""
    link_wait_ms: float | None
    """How long its KV waited for other transfers, by the word of the knowledge node."""
    failure: str | None
    """Why it counts as failed, in words; None when all went well."""

    @property
    def is_kv(self) -> bool:
        """Whether the knowledge went in as KV."""
        return self.path == KV_PATH


class AnswerReader:
    """Understands one stream, piece by piece."""

    def __init__(self) -> None:
        self.first_text_s: float | None = None
        """When the first piece with text came."""
        self._scanner = SseScanner()
        self._bytes = 0
        self._meta: Mapping[str, object] | None = None
        self._error: str | None = None
        self._is_done = False

    def take(self, data: bytes, at_s: float) -> None:
        """Take in a piece of the stream; raises ValueError for what is none."""
        self._bytes += len(data)
        if self._bytes > MAX_STREAM_BYTES:
            raise ValueError(f"an answer is larger than {MAX_STREAM_BYTES} bytes")
        for event in self._scanner.scan(data):
            self._take_event(event, at_s)

    def outcome(
        self, *, number: int, text_tokens: int, sent_s: float, failure: str | None = None
    ) -> Outcome:
        """Return what the question came to; `failure` is what the reader cannot know."""
        meta = self._meta or {}
        trace = _mapping(meta.get("trace"))
        path = _word(trace.get("kvcache_actual_path")) or _word(trace.get("text_actual_path"))
        first_s = self.first_text_s
        return Outcome(
            number=number,
            text_tokens=text_tokens,
            ttft_ms=None if first_s is None else (first_s - sent_s) * 1000,
            predicted_ms=_whole(trace.get("predict_total_ms")),
            actual_ms=_whole(trace.get("actual_total_ms")),
            path=path,
            reason=_word(trace.get("injection_reason")),
            link_wait_ms=_number(_mapping(meta.get("kv_ack")).get("network_queue_ms")),
            failure=failure or self._failure(path),
        )

    def _take_event(self, event: Event, at_s: float) -> None:
        if event.data == _DONE:
            self._is_done = True
        elif event.name == _META:
            self._meta = _object(event.data)
        elif event.data:
            chunk = _object(event.data)
            if chunk.get("error") is not None:
                self._error = f"error event: {chunk['error']}"[:_SHOWN_CHARS]
            if self.first_text_s is None and _has_text(chunk):
                self.first_text_s = at_s

    def _failure(self, path: str | None) -> str | None:
        if self._error is not None:
            return self._error
        if self.first_text_s is None:
            return "the answer held no text"
        if not self._is_done:
            return "the stream ended without [DONE]"
        if self._meta is None:
            return "the answer had no meta"
        if told := _word(self._meta.get("error")):
            return told[:_SHOWN_CHARS]
        return None if path in KNOWN_PATHS else f"answered without its knowledge ({path})"


def _object(data: bytes) -> Mapping[str, object]:
    read = json.loads(data)
    if not isinstance(read, dict):
        raise ValueError(f"an event is no JSON object: {data[:80]!r}")
    return read


def _has_text(chunk: Mapping[str, object]) -> bool:
    choices = chunk.get("choices")
    return isinstance(choices, list) and any(
        _word(_mapping(_mapping(choice).get("delta")).get("content")) for choice in choices
    )


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _word(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _whole(value: object) -> int | None:
    return value if type(value) is int else None


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
