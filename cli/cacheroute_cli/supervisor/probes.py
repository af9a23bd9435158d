"""Whether a process is ready: what it answers, and whether the pool has it.

Programs that are not ours are asked over plain HTTP and in a thread of their own; the pool is
asked through our client, once for all who want to know.
"""

import asyncio
import http.client
import socket
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from cacheroute_cli.supervisor.process import Readiness

if TYPE_CHECKING:
    from cacheroute.client.control import ControlClient

PROBE_TIMEOUT_S = 2.0
_FRESH_S = 0.2
_MAX_PATH_CHARS = 2048


def why_no_answer(url: str, *, timeout_s: float = PROBE_TIMEOUT_S) -> str | None:
    """Ask a URL; None when it answers well, else what is wrong, in a few words."""
    try:
        parts = urlsplit(url)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        is_https = parts.scheme == "https"
        kind = http.client.HTTPSConnection if is_https else http.client.HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=timeout_s)
        try:
            connection.request("GET", path[:_MAX_PATH_CHARS], headers={"Connection": "close"})
            status = connection.getresponse().status
        finally:
            connection.close()
    except (OSError, http.client.HTTPException, ValueError) as problem:
        return f"{url} does not answer ({_words(problem)})"
    return None if status < 400 else f"{url} answers {status}"


def why_no_connection(address: str, *, timeout_s: float = PROBE_TIMEOUT_S) -> str | None:
    """Connect to `host:port`; None when that works, else what is wrong."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=timeout_s).close()
    except (OSError, ValueError) as problem:
        return f"{address} takes no connection ({_words(problem)})"
    return None


def _words(problem: Exception) -> str:
    said = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
    return str(said).lower()


class Probes:
    """Asks for everybody, and asks each pool no more often than is of use."""

    def __init__(self) -> None:
        self._pools: dict[tuple[str, str | None], _Pool] = {}

    async def why_not(self, ready: Readiness) -> str | None:
        """Say what stands in the way of being ready; None when nothing does."""
        if ready.http is not None:
            why = await asyncio.to_thread(why_no_answer, ready.http)
            if why is not None:
                return why
        if ready.tcp is not None:
            why = await asyncio.to_thread(why_no_connection, ready.tcp)
            if why is not None:
                return why
        if ready.pool is not None and ready.member is not None:
            key = (ready.pool, ready.token)
            return await self._pools.setdefault(key, _Pool(*key)).why_absent(ready.member)
        return None

    def close(self) -> None:
        """Drop the connections."""
        for pool in self._pools.values():
            pool.close()


class _Pool:
    """The pool of one Proxy, as it was a moment ago."""

    def __init__(self, control_url: str, token: str | None) -> None:
        self._url = control_url
        self._token = token
        self._lock = asyncio.Lock()
        self._client: ControlClient | None = None
        self._alive: frozenset[str] = frozenset()
        self._problem: str | None = None
        self._asked_s = -1e9

    async def why_absent(self, member: str) -> str | None:
        async with self._lock:
            if time.monotonic() - self._asked_s > _FRESH_S:
                await asyncio.to_thread(self._ask)
                self._asked_s = time.monotonic()
        if self._problem is not None:
            return self._problem
        return None if member in self._alive else f"{member} is not in the pool of {self._url}"

    def close(self) -> None:
        if self._client is not None:
            self._client.close()

    def _ask(self) -> None:
        from cacheroute.client.control import ControlClient
        from cacheroute.client.faults import ControlFault

        if self._client is None:
            self._client = ControlClient(self._url, token=self._token, timeout_s=PROBE_TIMEOUT_S)
        try:
            self._alive = frozenset(row.instance_id for row in self._client.instances())
            self._problem = None
        except ControlFault as fault:
            self._problem = fault.message
