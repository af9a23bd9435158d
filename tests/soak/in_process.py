"""Calls to a control plane in this process, without sockets: many in little time."""

import asyncio
import gc
import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any, cast

from cacheroute.runtime.compose import App
from tests.soak.control_calls import Call, Strangers

_TURN_EVERY = 16
"""Calls after which others get their turn: nothing in a call waits by itself."""


def control_app(app: App) -> Any:
    """Return the ASGI app that the control plane of a running Proxy serves."""
    control = app._control
    assert control is not None
    assert control._server is not None
    return cast(Any, control._server.config.app)


async def ask(app: Any, call: Call) -> None:
    """Make one call; AssertionError when it is answered amiss."""
    statuses: list[int] = []

    async def receive() -> Mapping[str, object]:
        return {"type": "http.request", "body": call.body, "more_body": False}

    async def send(message: Mapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST",
        "scheme": "http", "path": call.path, "raw_path": call.path.encode(), "query_string": b"",
        "root_path": "", "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 1),
        "headers": [(b"host", b"proxy.test"), (b"content-length", b"%d" % len(call.body))],
    }  # fmt: skip
    await app(scope, receive, send)
    assert len(statuses) == 1, f"{call}: {statuses}"
    assert statuses[0] in call.good, f"{call}: {statuses}"


async def crowd_in_process(app: Any, strangers: Strangers, calls: int) -> None:
    """Make calls one after the other."""
    for number in range(calls):
        await ask(app, strangers.next())
        if number % _TURN_EVERY == 0:
            await asyncio.sleep(0)


def our_objects() -> Counter[str]:
    """Count the objects of the Proxy that are alive in this process, by type."""
    gc.collect()
    names = (f"{type(one).__module__}.{type(one).__qualname__}" for one in gc.get_objects())
    return Counter(name for name in names if name.startswith("cacheroute."))


def allocated_blocks() -> int:
    """Return how many small objects of any kind are alive in this process."""
    gc.collect()
    return sys.getallocatedblocks()
