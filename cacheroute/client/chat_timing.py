"""One streamed chat answer, timed: when its pieces came, and what the engine counted.

Pure: bytes and instants are handed in. Any text counts as a piece of the answer, whether it is
said, thought or part of a tool call.
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from cacheroute.formats.sse import SseScanner

MAX_BYTES = 4 * 1024 * 1024
"""Most bytes of one answer; a few tokens take a few kB."""
_TEXTS = ("content", "reasoning", "reasoning_content", "refusal")
_SHOWN_CHARS = 300


class ChatTiming:
    """What has been understood so far of one answer."""

    __slots__ = (
        "_bytes", "_scanner", "cached_tokens", "completion_tokens", "error", "is_done",
        "prompt_tokens", "text_at_s",
    )  # fmt: skip

    def __init__(self) -> None:
        self._scanner = SseScanner()
        self._bytes = 0
        self.text_at_s: list[float] = []
        """When each event with text came."""
        self.prompt_tokens: int | None = None
        """As the engine counts them; None while it has told nothing."""
        self.completion_tokens: int | None = None
        self.cached_tokens: int | None = None
        self.error: str | None = None
        """What the engine said went wrong, if it did."""
        self.is_done = False
        """Whether the end mark has come."""

    def take(self, data: bytes, at_s: float) -> None:
        """Take in a piece of the stream; raises ValueError for what is none."""
        self._bytes += len(data)
        if self._bytes > MAX_BYTES:
            raise ValueError(f"it is larger than {MAX_BYTES} bytes")
        for event in self._scanner.scan(data):
            if event.data == b"[DONE]":
                self.is_done = True
            elif event.data:
                self._take_chunk(_object(event.data), at_s)

    def _take_chunk(self, chunk: Mapping[str, object], at_s: float) -> None:
        error = chunk.get("error")
        if error is not None:
            words = error.get("message") if isinstance(error, Mapping) else None
            self.error = str(words or error)[:_SHOWN_CHARS]
        choices = chunk.get("choices")
        if isinstance(choices, list) and any(map(_has_text, choices)):
            self.text_at_s.append(at_s)
        usage = chunk.get("usage")
        if isinstance(usage, Mapping):
            self._count(usage)

    def _count(self, usage: Mapping[str, object]) -> None:
        # Some engines repeat it with every piece, so the last one stands.
        self.prompt_tokens = _whole(usage.get("prompt_tokens"), self.prompt_tokens)
        self.completion_tokens = _whole(usage.get("completion_tokens"), self.completion_tokens)
        details = usage.get("prompt_tokens_details")
        if isinstance(details, Mapping):
            self.cached_tokens = _whole(details.get("cached_tokens"), self.cached_tokens)


def tpot_ms(answer: ChatTiming, together: Sequence[ChatTiming]) -> float | None:
    """Return an answer's time per token while all of `together` were decoding; None if too short.

    An event may hold several tokens: it is the engine's count that is spread over them.
    """
    if answer.completion_tokens is None or not all(one.text_at_s for one in together):
        return None
    begin_s = max(one.text_at_s[0] for one in together)
    end_s = min(one.text_at_s[-1] for one in together)
    inside = [at_s for at_s in answer.text_at_s if begin_s <= at_s <= end_s]
    if len(inside) < MIN_EVENTS or inside[-1] <= inside[0]:
        return None
    tokens = (len(inside) - 1) * answer.completion_tokens / len(answer.text_at_s)
    return (inside[-1] - inside[0]) * 1e3 / tokens if tokens else None


MIN_EVENTS = 4
"""Fewer events of an answer say nothing of its pace."""


def _object(data: bytes) -> Mapping[str, object]:
    try:
        read = json.loads(data)
    except (ValueError, RecursionError):
        raise ValueError(f"an event is no JSON: {data[:80]!r}") from None
    if not isinstance(read, dict):
        raise ValueError(f"an event is no JSON object: {data[:80]!r}")
    return read


def _has_text(choice: object) -> bool:
    delta = choice.get("delta") if isinstance(choice, Mapping) else None
    return isinstance(delta, Mapping) and any(True for _ in _texts(delta))


def _texts(delta: Mapping[str, object]) -> Iterator[object]:
    yield from filter(None, map(delta.get, _TEXTS))
    calls = delta.get("tool_calls")
    if isinstance(calls, list):
        yield from filter(None, calls)


def _whole(value: object, otherwise: int | None) -> int | None:
    return value if type(value) is int and value >= 0 else otherwise
