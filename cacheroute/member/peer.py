"""One HTTP peer of an Instance: a Proxy's control plane, a resource agent, a model server.

Asked in JSON, nothing but an object is an answer; everything else is a `PeerFault` with a
sentence. `ask` takes whatever is said.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import httpx

from cacheroute.client.answer import cause_of

MAX_REPLY_BYTES = 1024 * 1024
_SHOWN_CHARS = 400


class PeerFault(Exception):
    """A question that went without an answer."""

    def __init__(self, sentence: str, *, status: int | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        """The HTTP status that was the answer; None when nobody answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a peer said, whatever it was."""

    status: int
    body: bytes


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

    async def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        max_bytes: int = MAX_REPLY_BYTES,
    ) -> Said:
        """Ask, and take every status for an answer; raises PeerFault when none comes."""
        url = self.base_url + path
        headers = {"content-type": "application/json"} if body is not None else None
        read = bytearray()
        try:
            async with self._http.stream(method, url, content=body, headers=headers) as response:
                async for piece in response.aiter_bytes():
                    read += piece
                    if len(read) > max_bytes:
                        raise PeerFault(f"{url} answered more than {max_bytes} bytes")
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as problem:
            # The last is what a host name gives whose parts are too long, or empty.
            raise PeerFault(f"cannot reach {url} ({cause_of(problem)})") from problem
        return Said(status=response.status_code, body=bytes(read))

    async def _ask(self, method: str, path: str, body: bytes | None) -> dict[str, Any]:
        said = await self.ask(method, path, body)
        url = self.base_url + path
        if said.status != 200:
            shown = _reason(said.body)[:_SHOWN_CHARS]
            raise PeerFault(f"{url} answered {said.status}: {shown}", status=said.status)
        value = _parsed(said.body)
        if not isinstance(value, dict):
            raise PeerFault(f"{url} answered something else than a JSON object", status=200)
        return value


def _parsed(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _reason(body: bytes) -> str:
    """Return the sentence in an error's body, else the body."""
    problem = _parsed(body)
    detail = problem.get("detail") if isinstance(problem, dict) else None
    return detail if isinstance(detail, str) else body.decode("utf-8", "replace")
