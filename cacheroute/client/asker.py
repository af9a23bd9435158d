"""What both clients share: where to ask, and how to take what comes.

A reply is bounded in size and in time; only GET passes where the client is read-only.
"""

import time
from typing import Any, TypeVar

from cacheroute.client.answer import cause_of, read_answer
from cacheroute.client.ask import Ask
from cacheroute.client.faults import ControlFault, NotUnderstood, TimedOut, Unreachable
from cacheroute.client.guard import MutationGuard
from cacheroute.client.lean_httpx import httpx
from cacheroute.wire.headers import USER

T = TypeVar("T")

MAX_REPLY_BYTES = 64 * 1024 * 1024
"""Largest answer read, in bytes; 10,000 Instances with their raw snapshots take about 27 MB."""

PROBLEMS = (httpx.HTTPError, httpx.InvalidURL, OSError)
"""What the library raises when there is no answer."""


class Asker:
    """What both clients share: where to ask, and how to take what comes."""

    def __init__(
        self,
        base_url: str,
        *,
        token: str | None = None,
        timeout_s: float = 5.0,
        max_reply_bytes: int = MAX_REPLY_BYTES,
        readonly: bool = False,
        user: str | None = None,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._timeout_s = timeout_s
        self._max_reply_bytes = max_reply_bytes
        # Unpacked here, a small answer could still grow past every bound.
        self._headers = {"accept": "application/json", "accept-encoding": "identity"}
        if token:
            self._headers["authorization"] = f"Bearer {token}"
        if user:
            # A header takes no other letters, and a name is not worth a failure.
            self._headers[USER.decode()] = _as_header(user)
        self.guard = MutationGuard(readonly=readonly)
        """Who lets changes pass, or does not."""

    def _options(self) -> dict[str, Any]:
        return {
            "headers": self._headers,
            "timeout": self._timeout_s,
            # A proxy meant for the way out of the house must not get the fleet's traffic.
            "trust_env": False,
            # Loading the certificates costs 20 ms, and plain HTTP never looks at them.
            "verify": self.base_url.startswith("https:"),
        }

    def _request(self, ask: Ask[T]) -> dict[str, Any]:
        self.guard.check(ask.method, self.base_url + ask.path)
        request: dict[str, Any] = {"method": ask.method, "url": self.base_url + ask.path}
        if ask.body is not None:
            request |= {"content": ask.body, "headers": {"content-type": "application/json"}}
        return request

    def _endless(self) -> dict[str, Any]:
        return {"timeout": httpx.Timeout(self._timeout_s, read=None)}

    def _fault(self, ask: Ask[T], problem: Exception) -> ControlFault:
        url = self.base_url + ask.path
        if isinstance(problem, httpx.TimeoutException | TimeoutError):
            return TimedOut(url=url, timeout_s=self._timeout_s)
        if isinstance(problem, httpx.RemoteProtocolError):
            return NotUnderstood(url=url, why=str(problem))
        return Unreachable(url=url, cause=cause_of(problem))

    def _grown(self, ask: Ask[T], read: bytearray, data: bytes, deadline_s: float) -> None:
        read += data
        if len(read) > self._max_reply_bytes:
            why = f"it is larger than {self._max_reply_bytes} bytes"
            raise NotUnderstood(url=self.base_url + ask.path, why=why)
        # The library's limit is for each piece; one that drips would never meet it.
        if time.monotonic() > deadline_s:
            raise TimedOut(url=self.base_url + ask.path, timeout_s=self._timeout_s)

    def _deadline_s(self) -> float:
        return time.monotonic() + self._timeout_s

    def _read(self, ask: Ask[T], status: int, read: bytearray) -> T:
        return read_answer(ask, url=self.base_url + ask.path, status=status, body=bytes(read))


def _as_header(text: str) -> str:
    return "".join(c if c.isascii() and c.isprintable() else "?" for c in text)
