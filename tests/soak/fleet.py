"""Instances that come, report, fall silent, return or leave, each under a name of its own.

Time is scaled: with a time to live of a third of a second, a minute is what hours are.
"""

import asyncio
import json
import random

from cacheroute.wire import paths
from tests.support.client import RawClient, connected

BEAT_S = 0.1
LIFE_S = (0.3, 1.2)
SILENCE_S = (0.1, 1.5)
RULES = ("pool.ttl_s=0.3", "pool.stale_ttls=2", "pool.reap_after_s=0.8")
"""Settings under which a silence may end alive, stale, dead or forgotten."""


class Fleet:
    """A few servers, and everything that is ever registered at them."""

    def __init__(self, control_port: int, ports: list[int], seed: int) -> None:
        self._control_port = control_port
        self._ports = ports
        self._chance = random.Random(seed)
        self.lives = 0
        """Instances that have come so far."""

    async def run(self, stop: asyncio.Event) -> None:
        """Live one life after the other on every server, until told to stop."""
        async with asyncio.TaskGroup() as group:
            for port in self._ports:
                group.create_task(self._server(port, stop))

    async def _server(self, port: int, stop: asyncio.Event) -> None:
        async with connected(self._control_port) as client:
            while not stop.is_set():
                self.lives += 1
                await self._life(client, port, f"i-{self.lives}")

    async def _life(self, client: RawClient, port: int, instance_id: str) -> None:
        where = {"instance_id": instance_id, "host": "127.0.0.1", "port": port}
        await self._tell(client, paths.INSTANCE_REGISTER, where)
        await self._beat(client, instance_id)
        if self._chance.random() < 0.5:
            await asyncio.sleep(self._chance.uniform(*SILENCE_S))
            await self._beat(client, instance_id)  # it may have been forgotten by then
        if self._chance.random() < 0.5:
            await self._tell(client, paths.INSTANCE_UNREGISTER, {"instance_id": instance_id})
        else:
            await asyncio.sleep(self._chance.uniform(*SILENCE_S))

    async def _beat(self, client: RawClient, instance_id: str) -> None:
        for _ in range(int(self._chance.uniform(*LIFE_S) / BEAT_S)):
            qps = self._chance.uniform(0, 100)
            body = {"instance_id": instance_id, "qps_1m": qps}
            await self._tell(client, paths.INSTANCE_HEARTBEAT, body)
            await asyncio.sleep(BEAT_S)

    async def _tell(self, client: RawClient, path: str, body: object) -> None:
        client.ask("POST", path, body=json.dumps(body).encode())
        answer = await client.over()
        assert answer.status == 200, f"{path}: {answer.status} {answer.body!r}"
