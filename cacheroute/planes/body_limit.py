"""How large, and how slow, a request body of the control plane may be.

A body is taken in whole before anybody looks at it, and never more of it than its cap. A
body that declares itself too large is not read at all.
"""

import asyncio
from collections.abc import Mapping

from cacheroute.planes.asgi import App, Message, Receive, Scope, Send, header, refuse

_CLOSE = (b"connection", b"close")
"""What is left of a refused body must not be taken for the next request."""


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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body, then pass the request on; or refuse it with 413 or 408."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        cap = self._max_bytes_by_path.get(scope["path"], self._max_bytes)
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
                    body += message.get("body", b"")
                    more = message.get("more_body", False)
                    if len(body) > cap:
                        await _too_large(send, cap)
                        return
        except TimeoutError:
            detail = f"The body did not arrive within {self._timeout_s:g} s."
            await refuse(send, 408, "request_timeout", detail, [_CLOSE])
            return
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
