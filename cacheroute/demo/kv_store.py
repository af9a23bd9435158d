"""Where KV is kept outside of Instances: a Redis, with keys as LMCache names them.

A block's key is `<model>@1@0@<32 hex>`, the hex standing for all tokens up to the block's end.
The store is a help and never a need: whatever is wrong with it is a `StoreFault`, and after one
nobody is made to wait for it for a second.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import xxhash

from cacheroute.core.engine.profile import EngineProfile
from cacheroute.demo import kv_blob
from cacheroute.demo.kv_options import KvOptions
from cacheroute.member.log import StateLog

if TYPE_CHECKING:
    from redis.asyncio import Redis

T = TypeVar("T")

TIMEOUT_S = 1.0
"""For one lookup or one write as a whole."""
REST_S = 1.0
"""After a fault, it is not asked for so long."""
MAX_BLOCKS = 4096
"""Most blocks that are looked up or written for one prompt; the rest is computed."""

_BATCH = 256
_CONNECTIONS = 8


class StoreFault(Exception):
    """Something that was asked of the store and did not happen."""


class KvStore:
    """The store, as one Instance sees it."""

    def __init__(self, options: KvOptions, *, model: str, profile: EngineProfile) -> None:
        self.options = options
        self._prefix = f"{model}@1@0@".encode()
        self._kind = f"{model}\0{profile.block_tokens}\0".encode()
        self._blob = kv_blob.pack(
            profile.block_tokens, round(profile.block_tokens * profile.kv_mb_per_token * 1e6)
        )
        self._block_tokens = profile.block_tokens
        self._loop = asyncio.get_running_loop()
        self._log = StateLog("kv store")
        self._rests_until_s = self._loop.time()
        self._redis: Redis | None = None

    async def open(self) -> None:
        """Make ready to ask; nothing is connected yet."""
        # The client takes longer to load than an Instance takes to start.
        await asyncio.to_thread(importlib.import_module, "redis.asyncio")
        from redis.asyncio import BlockingConnectionPool, Redis
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff

        options = self.options
        self._redis = Redis.from_pool(
            BlockingConnectionPool(
                max_connections=_CONNECTIONS,
                timeout=TIMEOUT_S,
                host=options.address.host,
                port=options.address.port,
                db=options.db,
                password=options.password,
                socket_timeout=TIMEOUT_S,
                socket_connect_timeout=TIMEOUT_S,
                retry=Retry(NoBackoff(), 1),
                protocol=2,
            )
        )

    async def close(self) -> None:
        """Let go of every connection."""
        redis, self._redis = self._redis, None
        if redis is not None:
            await redis.aclose()

    def key(self, chain_key: int) -> bytes:
        """Return the name of a block in the store."""
        named = self._kind + chain_key.to_bytes(8, "big")
        return self._prefix + xxhash.xxh3_128_hexdigest(named).encode()

    async def found(self, chain_keys: Sequence[int]) -> list[int]:
        """Return the nominal bytes of each block until the first that is missing.

        Raises StoreFault.
        """
        return await self._asked(self._found, chain_keys[:MAX_BLOCKS])

    async def save(self, chain_keys: Sequence[int]) -> None:
        """Write blocks that are not there yet; raises StoreFault."""
        await self._asked(self._save, chain_keys[:MAX_BLOCKS])

    async def _found(self, redis: Redis, chain_keys: Sequence[int]) -> list[int]:
        sizes: list[int] = []
        for start in range(0, len(chain_keys), _BATCH):
            async with redis.pipeline(transaction=False) as pipeline:
                for chain_key in chain_keys[start : start + _BATCH]:
                    # The header says it all: real KV would be too much to fetch for its size.
                    pipeline.getrange(self.key(chain_key), 0, kv_blob.HEADER_BYTES - 1)
                heads = await pipeline.execute()
            for head in heads:
                if kv_blob.tokens(head) != self._block_tokens:
                    return sizes
                sizes.append(kv_blob.nominal_bytes(head))
        return sizes

    async def _save(self, redis: Redis, chain_keys: Sequence[int]) -> None:
        for start in range(0, len(chain_keys), _BATCH):
            async with redis.pipeline(transaction=False) as pipeline:
                for chain_key in chain_keys[start : start + _BATCH]:
                    pipeline.set(self.key(chain_key), self._blob, nx=True)
                await pipeline.execute()

    async def _asked(
        self, ask: Callable[[Redis, Sequence[int]], Awaitable[T]], chain_keys: Sequence[int]
    ) -> T:
        """Wait for an answer as long as one may; raises StoreFault."""
        redis = self._redis
        if redis is None or self._loop.time() < self._rests_until_s:
            raise StoreFault(f"{self.options} is not asked for now")
        from redis.exceptions import RedisError

        try:
            async with asyncio.timeout(TIMEOUT_S):
                answer = await ask(redis, chain_keys)
        except (RedisError, OSError, TimeoutError) as problem:
            why = str(problem) or f"no answer within {TIMEOUT_S:g} s"
            self._rests_until_s = self._loop.time() + REST_S
            self._log.say("lost", f"{self.options} is of no help, prompts are computed: {why}")
            raise StoreFault(why) from problem
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            # `asyncio.wait_for`, which the client uses, may swallow a cancellation.
            raise asyncio.CancelledError
        self._log.say("found", f"{self.options} answers")
        return answer
