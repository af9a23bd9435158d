"""Tokens as Instances count them, in the words of each API.

A count that is negative, fractional or larger than any context is a mistake and not known:
counters that fell, or that no float could hold, would break the metrics page for good.
"""

from typing import Annotated, NamedTuple

import msgspec

_COUNT_MAX = 2**53
"""More tokens than this are a mistake, and no float of a metrics page holds them."""
_USAGE_MAX_BYTES = 16 * 1024
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding a peer's JSON may raise."""


class Usage(NamedTuple):
    """Tokens an Instance counted for one request; None is not known."""

    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= _COUNT_MAX else None


def read_usage(usage: object) -> Usage | None:
    """Read a usage object of the chat, responses or messages kind; None when it is none."""
    if type(usage) is not dict:  # what msgspec makes; asking an ABC costs more than the rest
        return None
    prompt = _count(usage.get("prompt_tokens", usage.get("input_tokens")))
    completion = _count(usage.get("completion_tokens", usage.get("output_tokens")))
    if prompt is None and completion is None:
        return None
    details = usage.get("prompt_tokens_details", usage.get("input_tokens_details"))
    cached = _count(details.get("cached_tokens")) if type(details) is dict else None
    if cached is None:
        cached = _count(usage.get("cache_read_input_tokens"))
    return Usage(prompt, completion, cached)


_Count = Annotated[int, msgspec.Meta(ge=0, le=_COUNT_MAX)]


class _Details(msgspec.Struct):
    cached_tokens: _Count | None = None


class _Counts(msgspec.Struct):
    prompt_tokens: _Count | None = None
    completion_tokens: _Count | None = None
    prompt_tokens_details: _Details | None = None


class _ChatAnswer(msgspec.Struct):
    """The usual answer: only its usage is built, everything else is skipped over."""

    usage: _Counts


class _AnyAnswer(msgspec.Struct):
    usage: msgspec.Raw = msgspec.Raw()


_decode_chat_answer = msgspec.json.Decoder(_ChatAnswer).decode
_decode_any_answer = msgspec.json.Decoder(_AnyAnswer).decode


def usage_in(answer: bytes) -> Usage | None:
    """Find the usage in a whole JSON answer; None when there is none to be read."""
    try:
        counts = _decode_chat_answer(answer).usage
        if counts.prompt_tokens is not None:
            details = counts.prompt_tokens_details
            cached = None if details is None else details.cached_tokens
            return Usage(counts.prompt_tokens, counts.completion_tokens, cached)
    except msgspec.ValidationError:
        pass  # of another kind, or none at all
    except UNREADABLE:
        return None
    try:
        usage = _decode_any_answer(answer).usage
        # A megabyte of `[]` would be built while every stream stands still.
        if 0 < len(memoryview(usage)) <= _USAGE_MAX_BYTES:
            return read_usage(msgspec.json.decode(usage))
        return None
    except UNREADABLE:
        return None
