"""One HTTP peer of an Instance, asked in JSON: a Proxy's control plane, or a resource agent.

Nothing but an object is an answer; everything else is a `PeerFault` with a sentence.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import httpx

MAX_REPLY_BYTES = 1024 * 1024
_SHOWN_CHARS = 200


class PeerFault(Exception):
    """A question that went without an answer."""


class Peer:
    """Keeps a connection to one base URL."""

    def __init__(self, base_url: str, *, token: str | None = None, timeout_s: float = 5.0) -> None:
        self.base_url = base_url.rstrip("/")
        self._http = httpx.AsyncClient(
            headers={"authorization": f"Bearer {token}"} if token else None,
            timeout=timeout_s,
            # A proxy meant for the way out of the house must not get the fleet's traffic.
            trust_env=False,
            # Loading the certificates costs 20 ms, and plain HTTP never looks at them.
            verify=self.base_url.startswith("https:"),
        )

    async def get(self, path: str) -> dict[str, Any]:
        """Ask; raises PeerFault."""
        return await self._ask("GET", path, None)

    async def post(self, path: str, body: Mapping[str, object]) -> dict[str, Any]:
        """Tell, and return what is said to it; raises PeerFault."""
        return await self._ask("POST", path, json.dumps(body, allow_nan=False).encode())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._http.aclose()

    async def _ask(self, method: str, path: str, body: bytes | None) -> dict[str, Any]:
        url = self.base_url + path
        headers = {"content-type": "application/json"} if body is not None else None
        read = bytearray()
        try:
            async with self._http.stream(method, url, content=body, headers=headers) as response:
                async for piece in response.aiter_bytes():
                    read += piece
                    if len(read) > MAX_REPLY_BYTES:
                        raise PeerFault(f"{url} answered more than {MAX_REPLY_BYTES} bytes")
        except (httpx.HTTPError, httpx.InvalidURL) as problem:
            why = str(problem) or type(problem).__name__
            raise PeerFault(f"cannot reach {url} ({why})") from problem
        if response.status_code != 200:
            said = read.decode("utf-8", "replace")[:_SHOWN_CHARS]
            raise PeerFault(f"{url} answered {response.status_code}: {said}")
        try:
            value = json.loads(read)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise PeerFault(f"{url} answered something else than a JSON object")
        return value
