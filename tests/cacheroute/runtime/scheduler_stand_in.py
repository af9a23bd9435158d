"""A Scheduler that answers as published, can be made to fail, and remembers what it was told."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.support.backend import ScriptedBackend
from tests.support.received import Received
from tests.support.script import Script, json_answer


@dataclass(slots=True, eq=False)
class StandIn:
    """The records of a Scheduler, in memory."""

    interval_s: float = 5
    known: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What is known of each Proxy, meta merged."""
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """Every call that came, by the last part of its path."""
    instead: Callable[[str], Script | None] = lambda _: None
    """What is answered instead, by the last part of the path; None is nothing special."""

    def named(self, name: str) -> list[dict[str, Any]]:
        """Return the bodies of the calls of one kind."""
        return [body for called, body in self.calls if called == name]

    def restart(self) -> None:
        """Forget everybody."""
        self.known.clear()

    def reply(self, received: Received) -> Script:
        """Answer one call."""
        name = received.path.rpartition("/")[2]
        body = json.loads(received.body)
        self.calls.append((name, body))
        if (script := self.instead(name)) is not None:
            return script
        proxy_id = body["proxy_id"]
        match name:
            case "register":
                self.known[proxy_id] = body
                return json_answer(
                    {"proxy_id": proxy_id, "heartbeat_interval_s": self.interval_s, "ttl_s": 30}
                )
            case "heartbeat" if proxy_id not in self.known:
                return json_answer({"detail": "proxy_id not registered"}, 404)
            case "heartbeat":
                self.known[proxy_id]["meta"] |= body.get("meta_patch", {})
                self.known[proxy_id]["pool_resource"] = body.get("pool_resource")
            case _:
                self.known.pop(proxy_id, None)
        return json_answer({"ok": True})


def a_server(stand_in: StandIn) -> ScriptedBackend:
    """Return the server of a stand-in; it does not listen yet."""
    return ScriptedBackend(stand_in.reply)


class Steps:
    """Stands in for time: a pause ends when the test says so."""

    def __init__(self) -> None:
        self.asked: list[float] = []
        """How long each pause was to be, in seconds."""
        self._go = asyncio.Semaphore(0)

    async def __call__(self, seconds: float) -> None:
        self.asked.append(seconds)
        await self._go.acquire()

    def go(self) -> None:
        """End the pause that is, or the next one."""
        self._go.release()
