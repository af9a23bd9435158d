"""Building KV cache: an engine is asked for one text, and what it writes into Redis is kept.

The one message of that request is a system message with exactly the text, so that a prompt
which begins with the text has the same first tokens. Keys that were there before belong to
somebody else; `flushdb` empties the database first, for texts that begin alike.
"""

import asyncio
import importlib
import time
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from cacheroute.demo.kdn.allowed import Allowed
from cacheroute.demo.kdn.content import asked_for
from cacheroute.demo.kdn.kv import BATCH_BYTES, BATCH_KEYS, Kv
from cacheroute.demo.kdn.redis_peer import RedisFault, RedisPeer, RedisTarget
from cacheroute.demo.kdn.refused import Refused
from cacheroute.demo.kdn.texts import Texts
from cacheroute.wire import paths
from cacheroute.wire.knowledge import BuildKvBody, BuildKvReply

ENGINE_TIMEOUT_S = 300.0
MAX_WAITING = 64
"""Most builds that wait for their turn; one more is refused."""

_HTTP_PORT = 80


class Building:
    """Builds KV cache, one text at a time: two at once would keep each other's keys."""

    def __init__(
        self,
        *,
        texts: Texts,
        kv: Kv,
        redis: Allowed,
        engines: Allowed,
        kv_root: str,
        settle_s: float = 0.2,
        patience_s: float = 3.0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._texts = texts
        self._kv = kv
        self._redis = redis
        self._engines = engines
        self._kv_root = kv_root
        self._settle_s = settle_s
        self._looks = max(2, round(patience_s / settle_s))
        self._sleep = sleep
        self._turn = asyncio.Lock()
        self._waiting = 0

    async def build(self, body: BuildKvBody) -> BuildKvReply:
        """Build the KV of one text; raises Refused."""
        [kid] = asked_for([body.kid])
        entry = self._texts.find([kid], with_content=True).get(kid)
        if entry is None or entry.content is None:
            raise Refused(404, f"kid not found: {body.kid}")
        base_url, path = self._engine(body.api_url)
        target = RedisTarget(
            address=self._redis.check(body.redis_host, body.redis_port),
            database=body.redis_db,
            password=body.redis_password,
        )
        if self._waiting >= MAX_WAITING:
            raise Refused(503, f"{self._waiting} builds are waiting already")
        self._waiting += 1
        try:
            async with self._turn:
                keys, nominal = await self._build(
                    kid, entry.content, body, target, base_url, path
                )  # fmt: skip
        except RedisFault as fault:
            raise Refused(502, str(fault)) from None
        finally:
            self._waiting -= 1
        return BuildKvReply(
            kid=kid,
            kv_dir=f"{self._kv_root}#{kid}",
            dumped_keys=keys,
            kv_root=self._kv_root,
            nominal_bytes=nominal,
            detail=""
            if keys
            else f"no new key like {body.match!r} appeared in Redis {target.address}: either the "
            "engine keeps no KV there, or it was there before (flushdb empties the database first)",
        )

    async def _build(
        self,
        kid: str,
        content: str,
        body: BuildKvBody,
        target: RedisTarget,
        base_url: str,
        path: str,
    ) -> tuple[int, int]:
        async with target.connected() as redis:
            if body.flushdb:
                await redis.flush()
            before = await redis.keys(match=body.match, scan_count=body.scan_count)
        await _ask(base_url, path, content, body)
        async with target.connected() as redis:
            sizes = await redis.sizes(await self._settled(redis, body, before))
            if not sizes:
                return 0, 0
            await self._kv.begin(kid, more_bytes=sum(sizes.values()))
            try:
                await self._keep(kid, redis, sizes)
                return await self._kv.finish(kid, model=body.model, now_s=int(time.time()))
            except BaseException:
                await self._kv.forget(kid)
                raise

    async def _settled(
        self, redis: RedisPeer, body: BuildKvBody, before: set[bytes]
    ) -> set[bytes]:  # fmt: skip
        """Return the new keys, once no more of them come; engines write behind their answers."""
        seen: set[bytes] = set()
        for _ in range(self._looks):
            now = await redis.keys(match=body.match, scan_count=body.scan_count) - before
            if now and now == seen:
                break
            seen = now
            await self._sleep(self._settle_s)
        return seen

    async def _keep(self, kid: str, redis: RedisPeer, sizes: dict[bytes, int]) -> None:
        some: list[bytes] = []
        held_bytes = 0
        for key in sorted(sizes):
            if some and (held_bytes + sizes[key] > BATCH_BYTES or len(some) >= BATCH_KEYS):
                await self._kv.add(kid, await redis.values(some))
                some, held_bytes = [], 0
            some.append(key)
            held_bytes += sizes[key]
        await self._kv.add(kid, await redis.values(some))

    def _engine(self, api_url: str) -> tuple[str, str]:
        """Return the base address and the path of the chat completions endpoint."""
        try:
            parts = urlsplit(api_url.strip())
            port = parts.port or _HTTP_PORT
        except ValueError as error:
            raise Refused(400, f"api_url cannot be: {error}") from None
        if parts.scheme != "http" or not parts.hostname or "@" in parts.netloc:
            raise Refused(400, "api_url must be http://HOST:PORT, with no user name in it")
        address = self._engines.check(parts.hostname, port)
        path = parts.path.rstrip("/")
        if not path.endswith(paths.CHAT_COMPLETIONS):
            path = path.removesuffix("/v1") + paths.CHAT_COMPLETIONS
        return f"http://{address.authority}", path


async def _ask(base_url: str, path: str, content: str, body: BuildKvBody) -> None:
    # It takes a tenth of a second to load, and a lookup must not wait for that.
    await asyncio.to_thread(importlib.import_module, "httpx")
    from cacheroute.member.peer import Peer, PeerFault

    try:
        async with Peer(base_url, timeout_s=ENGINE_TIMEOUT_S) as engine:
            await engine.post(
                path,
                {
                    "model": body.model,
                    "messages": [{"role": "system", "content": content}],
                    "max_tokens": body.max_tokens,
                    "temperature": body.temperature,
                    "stream": False,
                },
            )
    except PeerFault as fault:
        raise Refused(502, f"the engine did not answer: {fault}") from None
