"""What both clients share: where to ask, and how to take what comes.

A reply is bounded in size and in time; only GET passes where the client is read-only.
"""

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from cacheroute.client.answer import cause_of, read_answer
from cacheroute.client.ask import Ask
from cacheroute.client.faults import ControlFault, NotUnderstood, TimedOut, Unreachable
from cacheroute.client.guard import MutationGuard
from cacheroute.client.later import later
from cacheroute.wire.headers import USER

if TYPE_CHECKING:
    from cacheroute.client import lean_httpx as lean_httpx
else:
    # A console draws itself before it asks anybody.
    lean_httpx = later("cacheroute.client.lean_httpx")

LIBRARY = "cacheroute.client.lean_httpx"
"""Loaded when the first question is asked."""

T = TypeVar("T")

MAX_REPLY_BYTES = 64 * 1024 * 1024
"""Largest answer read, in bytes; 10,000 Instances with their raw snapshots take about 27 MB."""

MAX_SILENCE_S = 60.0
"""Longest silence of an answer without an end: four times as long as a Proxy keeps still."""


def problems() -> tuple[type[Exception], ...]:
    """Return what the library raises when there is no answer."""
    httpx = lean_httpx.httpx
    # The last is what a name that no DNS can have ends in: a label that is empty or too long.
    return httpx.HTTPError, httpx.InvalidURL, OSError, UnicodeError


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came, all of it."""

    status: int
    moved_to: str | None
    """Where to ask instead, as far as it says."""
    body: bytes


class Asker:
    """What both clients share: where to ask, and how to take what comes."""

    max_silence_s: ClassVar[float] = MAX_SILENCE_S

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
        self.take_token(token)
        if user:
            # A header takes no other letters, and a name is not worth a failure.
            self._headers[USER.decode()] = _as_header(user)
        self.guard = MutationGuard(readonly=readonly)
        """Who lets changes pass, or does not."""

    def take_token(self, token: str | None) -> bool:
        """Send this token from now on; returns whether it is another one than before."""
        before = self._headers.pop("authorization", None)
        if token:
            self._headers["authorization"] = f"Bearer {token}"
        return self._headers.get("authorization") != before

    @property
    def has_token(self) -> bool:
        """Whether one is sent."""
        return "authorization" in self._headers

    def _options(self) -> dict[str, Any]:
        return {
            "timeout": self._timeout_s,
            # A proxy meant for the way out of the house must not get the fleet's traffic.
            "trust_env": False,
            # Loading the certificates costs 20 ms, and plain HTTP never looks at them.
            "verify": self.base_url.startswith("https:"),
        }

    def _request(self, ask: Ask[T]) -> dict[str, Any]:
        self.guard.check(ask.method, self.base_url + ask.path)
        request: dict[str, Any] = {
            "method": ask.method, "url": self.base_url + ask.path, "headers": self._headers,
        }  # fmt: skip
        if ask.body is not None:
            typed = {"content-type": "application/json"}
            request |= {"content": ask.body, "headers": self._headers | typed}
        return request

    def _endless(self) -> dict[str, Any]:
        return {"timeout": lean_httpx.httpx.Timeout(self._timeout_s, read=self.max_silence_s)}

    def _fault(
        self, ask: Ask[T], problem: Exception, *, timeout_s: float | None = None
    ) -> ControlFault:
        httpx, url = lean_httpx.httpx, self.base_url + ask.path
        if isinstance(problem, httpx.TimeoutException | TimeoutError):
            return TimedOut(url=url, timeout_s=timeout_s or self._timeout_s)
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

    def _read(self, ask: Ask[T], came: Answer) -> T:
        return read_answer(
            ask,
            url=self.base_url + ask.path,
            status=came.status,
            body=came.body,
            moved_to=came.moved_to,
        )


def _as_header(text: str) -> str:
    return "".join(c if c.isascii() and c.isprintable() else "?" for c in text)
