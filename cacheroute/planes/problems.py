"""Errors as callers expect them: OpenAI's object for plain clients, the flat form for Schedulers.

Same HTTP codes for both. What an Instance said about itself is passed through elsewhere;
this is what we say.
"""

from __future__ import annotations

import math

import msgspec

from cacheroute.core.errors import CacheRouteError
from cacheroute.core.request import Caller
from cacheroute.wire.headers import RETRY_AFTER
from cacheroute.wire.problem import openai_error


def error_object(code: str, message: str, status: int, param: str | None = None) -> bytes:
    """Write OpenAI's error object."""
    return msgspec.json.encode(openai_error(message, status=status, code=code, param=param))


def flat_error(code: str, detail: str) -> bytes:
    """Write the flat form that Schedulers read."""
    return msgspec.json.encode({"error": code, "detail": detail})


def render(error: CacheRouteError, caller: Caller) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """Return headers and body for an error of ours."""
    fields = [(b"Content-Type", b"application/json")]
    if error.retry_after_s is not None:
        fields.append((RETRY_AFTER, b"%d" % max(1, math.ceil(error.retry_after_s))))
    if caller == "scheduler":
        return fields, flat_error(error.code, error.message)
    param = "model" if error.code == "model_not_found" else None
    return fields, error_object(error.code, error.message, error.status, param)


def error_event(error: CacheRouteError) -> bytes:
    """Write the event that tells a reader of a stream that it broke off."""
    return b"data: %b\n\n" % error_object(error.code, error.message, error.status)


def render_refusal(status: int, message: str) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """Return headers and body for a request that broke the rules of HTTP."""
    code = {408: "request_timeout", 413: "too_large", 431: "too_large", 503: "too_busy"}.get(
        status, "bad_request"
    )
    fields = [(b"Content-Type", b"application/json")]
    if status == 503:
        fields.append((RETRY_AFTER, b"1"))
    return fields, error_object(code, message, status)
