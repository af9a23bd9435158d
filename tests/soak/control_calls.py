"""Calls to the control plane with ids, addresses and keys that never come twice.

Made by clients as small as can be: a million calls are not to measure a test client.
"""

import asyncio
import json
import random
import re
from collections import deque
from dataclasses import dataclass
from typing import cast

from cacheroute.wire import paths

REMEMBERED = 64
"""Ids that were registered here and may be named again."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call."""

    path: str
    body: bytes
    good: frozenset[int]
    """Statuses that it may be answered with."""


_OK = frozenset({200})
_OK_OR_FULL = frozenset({200, 503})


class Strangers:
    """Makes calls as a crowd of peers would that nobody has seen before."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._registered: deque[str] = deque(maxlen=REMEMBERED)
        self._kinds = (
            (self._heartbeat, 40),
            (self._snapshot, 25),
            (self._topology, 10),
            (self._register, 8),
            (self._unregister, 7),
            (self._known_heartbeat, 5),
            (self._known_snapshot, 5),
        )

    def next(self) -> Call:
        """Return one more call."""
        kinds, weights = zip(*self._kinds, strict=True)
        make = self._chance.choices(kinds, weights)[0]
        found: Call = make()
        return found

    def _word(self, prefix: str) -> str:
        return f"{prefix}-{self._chance.getrandbits(96):x}"

    def _known(self) -> str:
        return self._chance.choice(self._registered) if self._registered else self._word("i")

    def _heartbeat(self) -> Call:
        return _post(paths.INSTANCE_HEARTBEAT, instance_id=self._word("i"), qps_1m=1.5)

    def _known_heartbeat(self) -> Call:
        return _post(
            paths.INSTANCE_HEARTBEAT,
            instance_id=self._known(),
            qps_1m=self._chance.random(),
            capabilities={"model": {"identifier": self._word("model")}},
            capability_fingerprint=self._word("sha256:"),
        )

    def _snapshot(self) -> Call:
        return _snapshot(self._word("i"), self._word("host"))

    def _known_snapshot(self) -> Call:
        return _snapshot(self._known(), self._word("host"))

    def _register(self) -> Call:
        instance_id = self._word("i")
        self._registered.append(instance_id)
        a, b, c = (self._chance.randrange(1, 255) for _ in range(3))
        return _post(
            paths.INSTANCE_REGISTER,
            good=_OK_OR_FULL,
            instance_id=instance_id,
            host=f"127.{a}.{b}.{c}",
            port=9,
            tags=[self._word("tag")],
            meta={self._word("key"): self._word("value")},
            capabilities={"model": {"identifier": self._word("model")}},
        )

    def _unregister(self) -> Call:
        instance_id = self._known()
        if self._registered and instance_id in self._registered:
            self._registered.remove(instance_id)
        return _post(paths.INSTANCE_UNREGISTER, instance_id=instance_id)

    def _topology(self) -> Call:
        link = {"bandwidth_mbps": self._chance.random() * 1000, "latency_ms": 1.0}
        links = {self._word("kdn"): link for _ in range(3)}
        return _post(
            paths.TOPOLOGY_REPORT, good=_OK_OR_FULL, instance_id=self._known(), links=links
        )


def _post(path: str, good: frozenset[int] = _OK, **body: object) -> Call:
    return Call(path, json.dumps(body).encode(), good)


def _snapshot(instance_id: str, host: str) -> Call:
    snapshot = {"host": host, "cpu": {"util": 12.5}, "memory": {"used_mb": 100, "total_mb": 200}}
    return _post(paths.INSTANCE_RESOURCE_SNAPSHOT, instance_id=instance_id, snapshot=snapshot)


_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")


class Caller(asyncio.Protocol):
    """One connection that makes call after call, until it has made enough or one goes wrong."""

    def __init__(self, strangers: Strangers, calls: int) -> None:
        self._strangers = strangers
        self._left = calls
        self._transport = cast(asyncio.Transport, None)
        self._call: Call | None = None
        self._kept = b""
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._ask()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self._fail(f"the connection was lost: {exc}")

    def data_received(self, data: bytes) -> None:
        data = self._kept + data
        head = data.find(b"\r\n\r\n")
        length = _LENGTH.search(data, 0, head) if head >= 0 else None
        if length is None or len(data) < head + 4 + int(length[1]):
            self._kept = data
            return
        self._kept = b""
        assert self._call is not None
        if int(data[9:12]) not in self._call.good:
            self._fail(f"it was answered {data!r}")
        else:
            self._ask()

    def _ask(self) -> None:
        if not self._left:
            self.done.set_result(None)
            self._transport.close()
            return
        self._left -= 1
        call = self._call = self._strangers.next()
        self._transport.write(
            b"POST %b HTTP/1.1\r\nHost: proxy.test\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n%b" % (call.path.encode(), len(call.body), call.body)
        )

    def _fail(self, why: str) -> None:
        self.done.set_exception(AssertionError(f"{self._call}: {why}"))
        self._transport.abort()


async def crowd(port: int, strangers: Strangers, calls: int, at_once: int) -> None:
    """Make calls on several connections at once; AssertionError when one is answered amiss."""
    loop = asyncio.get_running_loop()
    callers = []
    for _ in range(at_once):
        _, caller = await loop.create_connection(
            lambda: Caller(strangers, calls // at_once), "127.0.0.1", port
        )
        callers.append(caller.done)
    await asyncio.gather(*callers)
