"""The Scheduler's control plane as this Proxy speaks to it: three calls, three outcomes.

A call works, is refused by a Scheduler that is there, or finds nobody who answers. What is
wrong is always one sentence with the address in it.
"""

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from cacheroute.core.errors import UpstreamError
from cacheroute.dataplane.pool import UpstreamPool
from cacheroute.formats.address import Origin
from cacheroute.upstream.fetch import fetch
from cacheroute.wire import paths
from cacheroute.wire.scheduler import (
    ProxyHeartbeatBody,
    ProxyOkReply,
    ProxyRegisterBody,
    ProxyRegisterReply,
    ProxyUnregisterBody,
)

T = TypeVar("T", bound=BaseModel)

_REPLY_MAX_BYTES = 64 * 1024
_SHOWN_CHARS = 200


class SchedulerUnreachable(Exception):
    """Nobody answered, or somebody who cannot work now (5xx); worth another try."""


class SchedulerRefused(Exception):
    """The answer was no, or was none that a Scheduler gives."""


class ForgottenByScheduler(SchedulerRefused):
    """A 404: it does not know this Proxy, or not any more."""


class Scheduler:
    """One Scheduler, over the Proxy's own connections."""

    def __init__(self, upstream: UpstreamPool, origin: Origin, *, timeout_s: float) -> None:
        self._upstream = upstream
        self._origin = origin
        self._timeout_s = timeout_s

    @property
    def url(self) -> str:
        """Its base address."""
        return self._origin.url

    async def register(self, body: ProxyRegisterBody) -> ProxyRegisterReply:
        """Put this Proxy on its list, in place of an earlier entry of the same id."""
        return await self._post(paths.PROXY_REGISTER, body, ProxyRegisterReply)

    async def heartbeat(self, body: ProxyHeartbeatBody) -> None:
        """Say that this Proxy is there, and how it is."""
        await self._post(paths.PROXY_HEARTBEAT, body, ProxyOkReply)

    async def unregister(self, body: ProxyUnregisterBody) -> None:
        """Take this Proxy off its list."""
        await self._post(paths.PROXY_UNREGISTER, body, ProxyOkReply)

    async def _post(self, path: str, body: BaseModel, kind: type[T]) -> T:
        where = f"the Scheduler at {self.url}"
        try:
            status, answer = await fetch(
                self._upstream.peer(self._origin.host, self._origin.port),
                self._origin.base_path + path,
                host=self._origin.authority,
                # The three load figures must be left out, not null: null is set to 0 there.
                json_body=body.model_dump_json(exclude_none=True).encode(),
                timeout_s=self._timeout_s,
                limit_bytes=_REPLY_MAX_BYTES,
            )
        except UpstreamError as error:
            raise SchedulerUnreachable(error.message) from error
        except TimeoutError:
            message = f"{where} did not answer {path} within {self._timeout_s:g} s."
            raise SchedulerUnreachable(message) from None
        if status >= 500:
            raise SchedulerUnreachable(f"{where} answered {path} with {status}{_said(answer)}.")
        if status == 404:
            raise ForgottenByScheduler(f"{where} answered {path} with 404{_said(answer)}.")
        if status != 200:
            raise SchedulerRefused(f"{where} answered {path} with {status}{_said(answer)}.")
        try:
            return kind.model_validate_json(answer)
        except ValidationError:
            message = f"{where} answered {path} with what no Scheduler says{_said(answer)}."
            raise SchedulerRefused(message) from None


def _said(answer: bytes) -> str:
    """Return a short piece of an answer for a sentence; nothing of an empty one."""
    text = " ".join(answer[: 4 * _SHOWN_CHARS].decode("utf-8", "replace").split())
    shown = "".join(one if one.isprintable() else "?" for one in text[:_SHOWN_CHARS])
    return f": {shown}" if shown else ""
