"""How large, and how slow, a request body of the control plane may be.

A body is taken in whole before anybody looks at it, and never more of it than its cap. A
body that declares itself too large is not read at all. Nobody needs a body to look at
something, which is what those may who have shown no token.
"""

import asyncio
from collections.abc import Mapping

from cacheroute.planes.asgi import App, Message, Receive, Scope, Send, header, refuse

_CLOSE = (b"connection", b"close")
"""What is left of a refused body must not be taken for the next request."""
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_READING_BYTES = 1024
_WHOLE_AT_ONCE = 64
"""So many of the largest bodies may be on their way at once."""
_SOON = (b"retry-after", b"1")
_TOO_BUSY = "Other bodies take the memory there is for them; try again shortly."


class BodyLimit:
    """ASGI middleware that hands bodies on whole."""

    def __init__(
        self,
        app: App,
        max_bytes: int,
        max_bytes_by_path: Mapping[str, int],
        timeout_s: float,
    ) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._max_bytes_by_path = max_bytes_by_path
        self._timeout_s = timeout_s
        self._held_bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body, then pass the request on; or refuse it with 413, 408 or 503."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        cap = self._max_bytes_by_path.get(scope["path"], self._max_bytes)
        if scope["method"] in _READING:
            cap = min(cap, _READING_BYTES)
        declared = header(scope, b"content-length")
        if declared is not None and declared.isdigit() and int(declared[:20]) > cap:
            await _too_large(send, cap)
            return
        body = bytearray()
        try:
            async with asyncio.timeout(self._timeout_s):
                more = True
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return
                    part = message.get("body", b"")
                    body += part
                    self._held_bytes += len(part)
                    more = message.get("more_body", False)
                    if len(body) > cap:
                        await _too_large(send, cap)
                        return
                    if self._held_bytes > _WHOLE_AT_ONCE * self._max_bytes:
                        await refuse(send, 503, "too_busy", _TOO_BUSY, [_CLOSE, _SOON])
                        return
        except TimeoutError:
            detail = (
                f"The body did not arrive within {self._timeout_s:g} s (control.body_timeout_s)."
            )
            await refuse(send, 408, "request_timeout", detail, [_CLOSE])
            return
        finally:
            self._held_bytes -= len(body)
        await self._app(scope, _replay(bytes(body), receive), send)


async def _too_large(send: Send, cap: int) -> None:
    detail = f"A body for this path may have {cap} bytes."
    await refuse(send, 413, "too_large", detail, [_CLOSE])


def _replay(body: bytes, receive: Receive) -> Receive:
    handed_over = False

    async def replay() -> Message:
        nonlocal handed_over
        if handed_over:
            return await receive()
        handed_over = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
