"""Injection: the KV cache of some texts goes over the link and into an Instance's Redis.

A text whose KV could not be written whole counts as text only; the reasons are in `detail`,
while `ok` stays true, as published. A Redis that does not answer costs no transfer.
"""

import time
from collections.abc import Callable, Sequence

from cacheroute.demo.kdn.allowed import Allowed
from cacheroute.demo.kdn.content import asked_for
from cacheroute.demo.kdn.kv import Kv
from cacheroute.demo.kdn.link import Link, Passage
from cacheroute.demo.kdn.redis_peer import RedisFault, RedisPeer, RedisTarget
from cacheroute.demo.kdn.refused import Refused
from cacheroute.demo.kdn.texts import Entry, Texts
from cacheroute.wire.knowledge import InjectReadyKvBody, InjectReadyKvReply

_REASONS_SHOWN = 3


class Injecting:
    """Carries out injections."""

    def __init__(
        self,
        *,
        texts: Texts,
        kv: Kv,
        link: Link,
        redis: Allowed,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._texts = texts
        self._kv = kv
        self._link = link
        self._redis = redis
        self._now_s = now_s

    async def inject(self, body: InjectReadyKvBody) -> InjectReadyKvReply:
        """Inject what there is; raises Refused."""
        kids = list(dict.fromkeys(asked_for(body.knowledge_ids or ())))
        if not kids:
            raise Refused(400, "knowledge_ids is empty")
        target = RedisTarget(
            address=self._redis.check(body.redis_host, body.redis_port),
            database=body.redis_db,
            password=body.redis_password,
        )
        known = self._texts.find(kids)
        reasons: list[str] = []
        ready = []
        for entry in (known[kid] for kid in kids if kid in known):
            if not entry.kv_ready:
                continue
            if body.model and entry.kv_model != body.model:
                reasons.append(
                    f"the KV of {entry.kid[:12]} is of {entry.kv_model}, not of {body.model}"
                )
                continue
            ready.append(entry)
        injected, passage = await self._carry(ready, target, reasons)
        done = {entry.kid for entry in injected}
        queue_ms, transfer_ms = round(passage.queue_ms), round(passage.transfer_ms)
        keys = sum(entry.kv_keys for entry in injected)
        return InjectReadyKvReply(
            ok=True,
            injected_kids=[kid for kid in kids if kid in done],
            text_only_kids=[kid for kid in kids if kid in known and kid not in done],
            miss_kids=[kid for kid in kids if kid not in known],
            keys_injected=keys,
            payload_bytes=sum(entry.kv_nominal_bytes for entry in injected),
            payload_files=keys,
            network_sim_enabled=self._link.is_simulated,
            detail="; ".join(list(dict.fromkeys(reasons))[:_REASONS_SHOWN]),
            network_queue_ms=queue_ms,
            network_transfer_ms=transfer_ms,
            network_total_ms=queue_ms + transfer_ms,
        )

    async def _carry(
        self, ready: Sequence[Entry], target: RedisTarget, reasons: list[str]
    ) -> tuple[list[Entry], Passage]:
        passage = Passage(queue_ms=0.0, transfer_ms=0.0)
        injected: list[Entry] = []
        if not ready:
            return injected, passage
        try:
            # Only to know that it answers: by the end of the transfer the connection may be old.
            async with target.connected():
                pass
            passage = await self._link.transfer(sum(entry.kv_nominal_bytes for entry in ready))
            began_s = self._now_s()
            async with target.connected() as redis:
                for entry in ready:
                    try:
                        await self._write(entry, redis)
                        injected.append(entry)
                    except RedisFault as fault:
                        if fault.is_lost:
                            raise
                        reasons.append(str(fault))
            if not self._link.is_simulated:
                took_ms = (self._now_s() - began_s) * 1000
                passage = Passage(queue_ms=0.0, transfer_ms=took_ms)
        except RedisFault as fault:
            reasons.append(str(fault))
        return injected, passage

    async def _write(self, entry: Entry, redis: RedisPeer) -> None:
        written = 0
        after = b""
        while batch := await self._kv.batch(entry.kid, after=after):
            await redis.write(dict(batch))
            written += len(batch)
            after = batch[-1][0]
        if written != entry.kv_keys:
            raise RedisFault(f"the KV of {entry.kid[:12]} changed meanwhile", is_lost=False)
