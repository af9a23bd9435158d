"""Answers of the Scheduler's own, in the two forms that its callers read.

Clients get OpenAI's error object; Proxies get what FastAPI would have said, as published.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cacheroute.wire import strict_json
from cacheroute.wire.headers import RETRY_AFTER
from cacheroute.wire.problem import openai_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cacheroute.core.errors import CacheRouteError
    from cacheroute.dataplane.inbound import Inbound

Header = tuple[bytes, bytes]

JSON: Header = (b"Content-Type", b"application/json")


def respond(
    inbound: Inbound, value: object, status: int = 200, headers: Sequence[Header] = ()
) -> None:
    """Answer with a JSON value."""
    inbound.respond(status, (JSON, *headers), strict_json.encode(value))


def respond_error(inbound: Inbound, error: CacheRouteError) -> None:
    """Answer with OpenAI's error object."""
    hint = error.retry_after_s
    headers = [] if hint is None else [(RETRY_AFTER, b"%d" % max(1, math.ceil(hint)))]
    value = openai_error(error.message, status=error.status, code=error.code)
    respond(inbound, value, error.status, headers)


def respond_detail(inbound: Inbound, status: int, detail: object) -> None:
    """Answer with `{"detail": …}`."""
    respond(inbound, {"detail": detail}, status)


def allowing(methods: Iterable[str]) -> Header:
    """Return the header line that names the methods of a path."""
    return (b"Allow", ", ".join(methods).encode())


def refuse_client(status: int, message: str) -> tuple[Sequence[Header], bytes]:
    """Return headers and body for a client's request that is no HTTP."""
    return (JSON,), strict_json.encode(openai_error(message, status=status, code="bad_request"))


def refuse_proxy(_status: int, message: str) -> tuple[Sequence[Header], bytes]:
    """Return headers and body for a Proxy's request that is no HTTP."""
    return (JSON,), strict_json.encode({"detail": message})
