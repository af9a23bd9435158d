"""Hands the resource agent's snapshots on to the Proxy, and sees to it that there is an agent.

An agent that answers is used as it is, whoever started it. Where none answers, one is
started, and ended with this process.
"""

import asyncio
import ctypes
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from cacheroute.member.log import StateLog
from cacheroute.member.peer import Peer, PeerFault
from cacheroute.member.registration import Registration
from cacheroute.wire import paths

_START_TIMEOUT_S = 10.0
_END_TIMEOUT_S = 3.0
_RETRY_S = 5.0
_PR_SET_PDEATHSIG = 1


class AgentProcess:
    """An agent on this host, found or started."""

    def __init__(self, peer: Peer, *, listen: str | None, instance_id: str) -> None:
        self.peer = peer
        self._listen = listen
        self._instance_id = instance_id
        self._process: subprocess.Popen[bytes] | None = None

    async def answers(self) -> bool:
        """Ask for its health."""
        try:
            return (await self.peer.get(paths.HEALTHZ)).get("ok") is True
        except PeerFault:
            return False

    async def ensure(self) -> bool:
        """Find an agent or start one, and wait for its health; False when there is none."""
        if await self.answers():
            return True
        if self._listen is None:
            return False
        if self._process is None or self._process.poll() is not None:
            self._process = _start(self._listen, self._instance_id)
        deadline_s = time.monotonic() + _START_TIMEOUT_S
        while time.monotonic() < deadline_s:
            if await self.answers():
                return True
            if self._process.poll() is not None:
                # Another Instance was quicker, or the port is taken by a stranger.
                return await self.answers()
            await asyncio.sleep(0.05)
        return False

    async def end(self) -> None:
        """End an agent that was started here; a found one goes on."""
        process, self._process = self._process, None
        if process is None or process.poll() is not None:
            return
        process.terminate()
        try:
            await asyncio.to_thread(process.wait, _END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            await asyncio.to_thread(process.wait)


def _start(listen: str, instance_id: str) -> subprocess.Popen[bytes]:
    libc = ctypes.CDLL(None)

    def die_with_parent() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)

    command = [sys.executable, "-m", "cacheroute.agent", "--listen", listen]
    return subprocess.Popen(
        [*command, "--instance-id", instance_id],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=die_with_parent if sys.platform == "linux" else None,
    )


class SnapshotReporter:
    """Reports one snapshot per interval, while the Instance is registered.

    `runtime` tells what else is known right now; it joins the snapshot's own `runtime`.
    """

    def __init__(
        self,
        agent: AgentProcess,
        proxy: Peer,
        registration: Registration,
        *,
        interval_s: float,
        runtime: Callable[[], Mapping[str, object]] = dict,
    ) -> None:
        self._agent = agent
        self._proxy = proxy
        self._registration = registration
        self._interval_s = interval_s
        self._runtime = runtime
        self._log = StateLog("resource agent")

    async def run(self) -> None:
        """Report until cancelled."""
        while True:
            if not await self._agent.ensure():
                self._log.say("none", f"none at {self._agent.peer.base_url}; trying on")
                await asyncio.sleep(_RETRY_S)
                continue
            await self._registration.registered.wait()
            self._log.say("found", f"reporting what {self._agent.peer.base_url} sees")
            await self._report_while_it_answers()

    async def _report_while_it_answers(self) -> None:
        while self._registration.registered.is_set():
            try:
                snapshot = await self._agent.peer.get(paths.AGENT_SNAPSHOT)
            except PeerFault:
                return
            report = {
                "instance_id": self._registration.instance_id,
                "snapshot": self._joined(snapshot),
                "metadata": self._metadata(snapshot),
            }
            try:
                await self._proxy.post(paths.INSTANCE_RESOURCE_SNAPSHOT, report)
            except PeerFault as fault:
                # What is wrong with the Proxy is the registration's to find out.
                self._log.say("lost", f"could not report: {fault}")
            await asyncio.sleep(self._interval_s)

    def _joined(self, snapshot: dict[str, Any]) -> dict[str, Any]:
        own = self._runtime()
        if not own:
            return snapshot
        told = snapshot.get("runtime")
        return {**snapshot, "runtime": {**(told if isinstance(told, dict) else {}), **own}}

    def _metadata(self, snapshot: dict[str, Any]) -> dict[str, object]:
        return {
            "reported_instance_id": self._registration.instance_id,
            "report_monotonic_ms": int(time.monotonic() * 1000),
            "report_wall_time_ms": int(time.time() * 1000),
            "agent_snapshot_timestamp_ms": snapshot.get("timestamp_ms"),
        }
