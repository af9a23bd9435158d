"""A knowledge node made ready: texts put on its shelves, their KV built, its link set.

KV is built by an engine that writes what it computes into a Redis. That Redis is emptied
before each text and after the last, so that nothing of it is there before it is brought.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cacheroute.demo.kdn.redis_peer import RedisTarget
from cacheroute.demo.kdn.service import DEMO_LINK
from cacheroute.demo.knowledge.mix import Question
from cacheroute.formats.address import Address
from cacheroute.member.peer import Peer
from cacheroute.wire import paths

_TIMEOUT_S = 30.0


class NotShelved(Exception):
    """A text that has less KV than it should; the message is a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """Where everything is."""

    node_url: str
    redis: Address

    async def put(
        self,
        questions: Sequence[Question],
        *,
        builder_url: str | None,
        model: str,
        block_tokens: int,
        on_done: Callable[[], None],
    ) -> int:
        """Register every text and build the KV of those with a whole block; returns how many.

        Without a builder none is built. Raises PeerFault, or NotShelved where no KV came.
        """
        built = 0
        async with Peer(self.node_url, timeout_s=_TIMEOUT_S) as node:
            for question in questions:
                await node.post(paths.KNOWLEDGE_REGISTER_TEXT, {"content": question.text})
                if builder_url is not None and question.text_tokens >= block_tokens:
                    await self._build(node, question, builder_url, model)
                    built += 1
                on_done()
        await self.empty_redis()
        return built

    async def set_link(self, *, bandwidth_mbps: float) -> None:
        """Give the link another bandwidth; raises PeerFault."""
        async with Peer(self.node_url, timeout_s=_TIMEOUT_S) as node:
            await node.post(DEMO_LINK, {"bandwidth_mbps": bandwidth_mbps})

    async def empty_redis(self) -> None:
        """Forget all KV that was brought; raises RedisFault."""
        async with RedisTarget(address=self.redis).connected() as redis:
            await redis.flush()

    async def _build(self, node: Peer, question: Question, builder_url: str, model: str) -> None:
        told = await node.post(
            paths.KNOWLEDGE_BUILD_KV,
            {
                "kid": question.kid,
                "api_url": builder_url,
                "model": model,
                "max_tokens": 1,
                "redis_host": self.redis.host,
                "redis_port": self.redis.port,
                "redis_db": 0,
                "flushdb": True,
            },
        )
        if not told.get("dumped_keys"):
            why = told.get("detail") or "no reason given"
            raise NotShelved(f"no KV of a text of {question.text_tokens} tokens was built: {why}")
