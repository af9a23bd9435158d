"""Keeps an Instance in a Proxy's pool for as long as it lives.

It registers again whenever the Proxy has forgotten it or wants its capabilities, and tries
on, ever more rarely, while nobody answers. Registering is an upsert: once too often is fine.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cacheroute.member.log import StateLog
from cacheroute.member.peer import Peer, PeerFault
from cacheroute.wire import paths

BACKOFF_S = (0.1, 0.2, 0.4, 0.8, 1.6, 3.0, 5.0)
"""Pauses between tries; the last one repeats."""

_HEARTBEAT_S = 10.0
"""Interval for a Proxy that names none."""
_HEARTBEAT_MIN_S, _HEARTBEAT_MAX_S = 0.05, 3600.0


class Registration:
    """One Instance's place in one pool."""

    def __init__(
        self,
        proxy: Peer,
        body: Mapping[str, object],
        *,
        load: Callable[[], Mapping[str, object]],
        heartbeat_s: float | None = None,
        backoff_s: Sequence[float] = BACKOFF_S,
    ) -> None:
        self._proxy = proxy
        self.body = body
        """What it registers as; another one counts from the next registration on."""
        self._load = load
        self._heartbeat_s = heartbeat_s
        self._backoff_s = backoff_s
        self._log = StateLog("registration")
        self._fingerprint: str | None = None
        self.interval_s = _HEARTBEAT_S
        """Time between heartbeats, as the Proxy wants it."""
        self._is_listed = False
        self.instance_id = str(body["instance_id"])
        """The id that the Proxy knows it by."""
        self.registered = asyncio.Event()
        """Set while the Proxy knows this Instance."""
        self.again = asyncio.Event()
        """Set by each registration: the Proxy may have forgotten everything else as well."""

    async def run(self) -> None:
        """Register and send heartbeats until cancelled."""
        while True:
            if not self.registered.is_set():
                await self._register()
            await self._beat()

    async def register(self) -> None:
        """Register, trying once; raises PeerFault."""
        reply = await self._proxy.post(paths.INSTANCE_REGISTER, self.body)
        self.instance_id = str(reply.get("instance_id") or self.instance_id)
        # The Proxy works the fingerprint out; its word is the one that heartbeats repeat.
        self._fingerprint = reply.get("capability_fingerprint")
        self.interval_s = self._heartbeat_s or _interval_s(reply)
        self._is_listed = True
        self.registered.set()
        self.again.set()
        self._log.say("registered", f"in the pool of {self._proxy.base_url} as {self.instance_id}")

    def silence(self) -> None:
        """Count as not registered, while the Proxy is left to notice that nothing is said."""
        self.registered.clear()

    async def unregister(self) -> None:
        """Leave the pool; a Proxy that cannot be told will notice."""
        if not (self._is_listed or self.registered.is_set()):
            return
        self._is_listed = False
        self.registered.clear()
        try:
            await self._proxy.post(paths.INSTANCE_UNREGISTER, {"instance_id": self.instance_id})
        except PeerFault as fault:
            self._log.say("failed", f"could not unregister: {fault}")

    async def _register(self) -> None:
        """Register, however long it takes."""
        failures = 0
        while True:
            try:
                await self.register()
            except PeerFault as fault:
                self._log.say("failed", f"{fault}; trying on")
            else:
                return
            await asyncio.sleep(self._pause_s(failures))
            failures += 1

    async def _beat(self) -> None:
        """Send heartbeats until the Proxy wants a new registration."""
        interval_s = self.interval_s
        pause_s, failures = interval_s, 0
        while True:
            await asyncio.sleep(pause_s)
            try:
                told = await self._proxy.post(paths.INSTANCE_HEARTBEAT, self._heartbeat())
            except PeerFault as fault:
                # A Proxy that restarts has forgotten this Instance: find out before long.
                self._log.say("failed", f"{fault}; trying on")
                pause_s = min(interval_s, self._pause_s(failures))
                failures += 1
                continue
            pause_s, failures = interval_s, 0
            if told.get("ok") is True and not told.get("requires_capabilities"):
                self._log.say("registered", f"{self._proxy.base_url} answers again")
                continue
            self.registered.clear()
            why = told.get("error") or "this Instance is unknown there"
            self._log.say("forgotten", f"registering again: {why}")
            return

    def _heartbeat(self) -> dict[str, Any]:
        fields = {"instance_id": self.instance_id, **self._load()}
        if self._fingerprint is not None:
            fields["capability_fingerprint"] = self._fingerprint
        return fields

    def _pause_s(self, failures: int) -> float:
        return self._backoff_s[min(failures, len(self._backoff_s) - 1)]


def _interval_s(reply: Mapping[str, Any]) -> float:
    wanted = reply.get("heartbeat_interval_s")
    if isinstance(wanted, (int, float)) and wanted > 0:
        return float(min(max(_HEARTBEAT_MIN_S, wanted), _HEARTBEAT_MAX_S))
    return _HEARTBEAT_S
