"""A Redis that somebody named: connected to for one piece of work, and never waited for long.

Every error of the client library becomes a `RedisFault` with a sentence; nothing is tried again,
since whoever waits for the answer has a better way than waiting.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cacheroute.formats.address import Address

if TYPE_CHECKING:
    from redis.asyncio import Redis

CONNECT_TIMEOUT_S = 2.0
REPLY_TIMEOUT_S = 10.0
MAX_KEYS = 200_000
"""Most keys that one scan looks at."""


class RedisFault(Exception):
    """Something that a Redis did not do."""

    def __init__(self, message: str, *, is_lost: bool) -> None:
        super().__init__(message)
        self.is_lost = is_lost
        """Whether the Redis cannot be talked to at all, rather than that it said no."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisTarget:
    """One database of one Redis."""

    address: Address
    database: int = 0
    password: str | None = field(default=None, repr=False)

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator[RedisPeer]:
        """Connect and be sure of it; raises RedisFault within seconds."""
        # Loading the library takes a tenth of a second; whoever never injects needs none of it.
        from redis.asyncio import Redis
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff

        client = Redis(
            host=self.address.host,
            port=self.address.port,
            db=self.database,
            password=self.password,
            socket_connect_timeout=CONNECT_TIMEOUT_S,
            socket_timeout=REPLY_TIMEOUT_S,
            retry=Retry(NoBackoff(), 0),
            protocol=2,
            max_connections=1,
        )
        peer = RedisPeer(client, str(self.address))
        try:
            await peer.ping()
            yield peer
        finally:
            await client.aclose()


class RedisPeer:
    """What a knowledge node asks of a Redis."""

    def __init__(self, client: Redis, name: str) -> None:
        self._client: Any = client
        """Untyped, as the library's own types do not tell its two kinds of client apart."""
        self._name = name

    async def ping(self) -> None:
        """Find out that it answers."""
        with self._faults():
            await self._client.ping()

    async def flush(self) -> None:
        """Empty the database."""
        with self._faults():
            await self._client.flushdb()

    async def keys(self, *, match: str, scan_count: int) -> set[bytes]:
        """Return the keys of a pattern, without holding the Redis up."""
        found: set[bytes] = set()
        cursor = 0
        while True:
            with self._faults():
                cursor, keys = await self._client.scan(cursor, match=match, count=scan_count)
            found.update(keys)
            if len(found) > MAX_KEYS:
                raise RedisFault(
                    f"Redis {self._name} has more than {MAX_KEYS} keys like {match!r}",
                    is_lost=False,
                )
            if cursor == 0:
                return found

    async def sizes(self, keys: Collection[bytes]) -> dict[bytes, int]:
        """Return how long each value is; keys of other kinds than strings are left out."""
        sizes = {}
        for some in _portions(keys):
            results = await self._pipelined(("STRLEN", key) for key in some)
            sizes.update(
                {
                    key: result
                    for key, result in zip(some, results, strict=True)
                    if isinstance(result, int) and result > 0
                }
            )
        return sizes

    async def values(self, keys: list[bytes]) -> dict[bytes, bytes]:
        """Return the values of keys; one that has gone meanwhile is left out."""
        with self._faults():
            values = await self._client.mget(keys)
        return {
            key: value for key, value in zip(keys, values, strict=True) if isinstance(value, bytes)
        }

    async def write(self, pairs: Mapping[bytes, bytes]) -> None:
        """Set every key; raises RedisFault if one of them was not taken."""
        results = await self._pipelined((("SET", key, value) for key, value in pairs.items()))
        for result in results:
            if isinstance(result, Exception):
                raise RedisFault(f"Redis {self._name} said {result}", is_lost=False)

    async def _pipelined(self, commands: Iterable[tuple[object, ...]]) -> list[object]:
        with self._faults():
            async with self._client.pipeline(transaction=False) as pipeline:
                for command in commands:
                    pipeline.execute_command(*command)
                results: list[object] = await pipeline.execute(raise_on_error=False)
        return results

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        from redis import exceptions

        try:
            yield
        except (exceptions.AuthenticationError, exceptions.AuthorizationError) as error:
            raise RedisFault(f"Redis {self._name} said {error}", is_lost=True) from None
        except (exceptions.ConnectionError, exceptions.TimeoutError, OSError) as error:
            raise RedisFault(
                f"Redis {self._name} cannot be reached: {_first_line(error)}", is_lost=True
            ) from None
        except exceptions.RedisError as error:
            raise RedisFault(
                f"Redis {self._name} said {_first_line(error)}", is_lost=False
            ) from None


def _portions(keys: Collection[bytes], size: int = 512) -> Iterator[list[bytes]]:
    every = list(keys)
    for start in range(0, len(every), size):
        yield every[start : start + size]


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:200]
