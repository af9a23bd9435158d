"""Requests, Proxies, texts and moments for the tests of the Scheduler."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

from cacheroute.core.clock import Instant
from cacheroute.dataplane.inbound import Inbound
from cacheroute.dataplane.pool import UpstreamPool
from cacheroute.dataplane.server import HttpServer
from cacheroute.demo.scheduler.ask import CHAT, COMPLETION, Ask, read_ask
from cacheroute.demo.scheduler.knowledge import Library, Shelf
from cacheroute.demo.scheduler.options import SchedulerOptions
from cacheroute.demo.scheduler.proxies import Proxies, ProxyRecord
from cacheroute.demo.scheduler.scheduler import Scheduler
from cacheroute.formats.address import Address
from cacheroute.wire import paths
from cacheroute.wire.scheduler import ProxyHeartbeatBody, ProxyRegisterBody
from tests.support.client import Answer, fetch

KDN = Address("127.0.0.1", 9101)
OTHER_KDN = Address("127.0.0.1", 9102)


def at(mono_s: float) -> Instant:
    """A moment so many seconds after the first one."""
    return Instant(1000.0 + mono_s, 1.7e9 + mono_s)


def chat(*messages: tuple[str, object], **fields: object) -> bytes:
    """A chat as a client writes it."""
    said = [{"role": role, "content": content} for role, content in messages]
    return json.dumps({"model": "m", "messages": said or [user("hi")], **fields}).encode()


def user(content: object) -> dict[str, object]:
    return {"role": "user", "content": content}


def asked(**fields: object) -> Ask:
    """What a chat of one message comes to."""
    return read_ask(chat(**fields), CHAT)


def completed(prompt: object = "hi", **fields: object) -> Ask:
    """What a completion comes to."""
    return read_ask(json.dumps({"model": "m", "prompt": prompt, **fields}).encode(), COMPLETION)


def registration(**fields: Any) -> ProxyRegisterBody:
    return ProxyRegisterBody(**{"host": "127.0.0.1", "port": 8001, **fields})


def heartbeat(proxy_id: str, **fields: Any) -> ProxyHeartbeatBody:
    return ProxyHeartbeatBody(proxy_id=proxy_id, **fields)


def joined(proxies: Proxies, proxy_id: str, now: Instant, **fields: Any) -> None:
    """Register a Proxy, which must work."""
    body = registration(proxy_id=proxy_id, **fields)
    assert proxies.register(body, Address(body.host, body.port), now) == proxy_id


def a_proxy(proxy_id: str = "p-1", **fields: Any) -> ProxyRecord:
    proxies = Proxies(30.0)
    joined(proxies, proxy_id, at(0), **fields)
    [record] = proxies.alive(at(0))
    return record


def a_library(*shelves: dict[str, str], top_k: int = 1) -> Library:
    """The texts of up to two nodes."""
    addresses = (KDN, OTHER_KDN)[: len(shelves)]
    library = Library(addresses, top_k)
    for address, texts in zip(addresses, shelves, strict=True):
        library.put(address, Shelf.of(texts))
    return library


@contextlib.contextmanager
def a_pool() -> Iterator[UpstreamPool]:
    """Ways to peers, for as long as the block lasts."""
    pool = UpstreamPool()
    try:
        yield pool
    finally:
        pool.close()


class FakeKdn:
    """The two paths of a knowledge node that a Scheduler asks."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts
        self.asked: dict[str, list[dict[str, Any]]] = {
            paths.KNOWLEDGE_SNAPSHOT: [],
            paths.KNOWLEDGE_SEARCH_TEXT: [],
        }
        self.status = 200
        self.reply: dict[str, object] = {}
        """What is said instead of the texts, by path."""
        self.most_texts = 1 << 20
        """Asking for more at once is a 413."""
        self.server = HttpServer(self._on_request)

    @property
    def address(self) -> Address:
        return Address("127.0.0.1", self.server.port)

    @property
    def listings(self) -> list[dict[str, Any]]:
        """What was asked of the list of ids."""
        return self.asked[paths.KNOWLEDGE_SNAPSHOT]

    @property
    def lookups(self) -> list[dict[str, Any]]:
        """What was asked of the texts."""
        return self.asked[paths.KNOWLEDGE_SEARCH_TEXT]

    def _on_request(self, inbound: Inbound) -> None:
        assert inbound.method == "POST"
        body = json.loads(inbound.body)
        self.asked[inbound.path].append(body)
        status, value = self.status, self.reply.get(inbound.path)
        if inbound.path == paths.KNOWLEDGE_SNAPSHOT:
            found = list(self.texts)[body["offset"] : body["offset"] + body["limit"]]
            value = value or {"items": [{"kid": one} for one in found]}
        else:
            by_id = {one.lower(): text for one, text in self.texts.items()}
            ids = body["knowledge_ids"]
            items = [{"id": one, "content": by_id[one]} for one in ids if one in by_id]
            value = value or {"items": items, "miss": [one for one in ids if one not in by_id]}
            status = 413 if len(ids) > self.most_texts else status
        data = json.dumps(value).encode()
        inbound.respond(status, ((b"content-type", b"application/json"),), data)


@contextlib.asynccontextmanager
async def fake_kdn(**texts: str) -> AsyncIterator[FakeKdn]:
    """Run one for as long as the block lasts."""
    kdn = FakeKdn(texts)
    await kdn.server.start()
    try:
        yield kdn
    finally:
        await kdn.server.stop()


class RunningScheduler:
    """A Scheduler that listens, and ways to ask it."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self.port = scheduler.port
        self.cp_port = scheduler.cp_port
        self.cp_url = f"http://127.0.0.1:{scheduler.cp_port}"

    async def control(self, method: str, path: str, body: object = None) -> Answer:
        sent = None if body is None else json.dumps(body).encode()
        return await fetch(self.cp_port, method, path, body=sent)

    async def register(self, port: int, **fields: object) -> str:
        """Register a Proxy on this host, which must work; returns its id."""
        body = {"host": "127.0.0.1", "port": port, **fields}
        answer = await self.control("POST", paths.PROXY_REGISTER, body)
        assert answer.status == 200, answer.body
        return str(answer.json()["proxy_id"])

    async def proxies(self, query: str = "") -> list[dict[str, Any]]:
        rows = (await self.control("GET", paths.PROXY_LIST + query)).json()
        assert isinstance(rows, list)
        return rows


@contextlib.asynccontextmanager
async def running_scheduler(**options: Any) -> AsyncIterator[RunningScheduler]:
    """Run a Scheduler for as long as the block lasts, its knowledge read once."""
    given = SchedulerOptions(**{"port": 0, "cp_port": 0, "grace_s": 0.0, **options})
    scheduler = Scheduler(given)
    await scheduler.open()
    try:
        async with asyncio.TaskGroup() as group:
            reading = scheduler.read_on(group)
            await scheduler.first_reading()
            try:
                yield RunningScheduler(scheduler)
            finally:
                for task in reading:
                    task.cancel()
    finally:
        await scheduler.close()
