"""What the control plane's own middleware speaks: ASGI, without a framework.

Access and size are decided before any framework code sees a request.
"""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from cacheroute.wire import strict_json
from cacheroute.wire.problem import flat_error

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def header(scope: Scope, name: bytes) -> bytes | None:
    """Return the first value of a header by its lower-case name; None when it is absent."""
    pairs: Iterable[tuple[bytes, bytes]] = scope["headers"]
    return next((value for key, value in pairs if key == name), None)


async def refuse(
    send: Send,
    status: int,
    code: str,
    detail: str,
    headers: Iterable[tuple[bytes, bytes]] = (),
) -> None:
    """Answer with the flat error form."""
    body = strict_json.encode(flat_error(code, detail))
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [
                (b"content-type", b"application/json"),
                (b"content-length", str(len(body)).encode()),
                *headers,
            ],
        }
    )
    await send({"type": "http.response.body", "body": body})
