"""Bodies that are too large or too slow."""

import asyncio
from collections.abc import Iterable

import pytest

from cacheroute.planes.asgi import Message, Receive, Scope, Send
from cacheroute.planes.body_limit import BodyLimit
from tests.support.waiting import eventually


class Exchange:
    """One request in parts, and what became of it."""

    def __init__(self, *parts: bytes, declared: int | None = None, path: str = "/x") -> None:
        length = [] if declared is None else [(b"content-length", str(declared).encode())]
        self.scope: Scope = {"type": "http", "method": "POST", "path": path, "headers": length}
        self.parts = list(parts)
        self.read_bytes = 0
        self.got: bytes | None = None
        self.sent: list[Message] = []

    async def receive(self) -> Message:
        if not self.parts:
            return {"type": "http.disconnect"}
        part = self.parts.pop(0)
        self.read_bytes += len(part)
        return {"type": "http.request", "body": part, "more_body": bool(self.parts)}

    async def send(self, message: Message) -> None:
        self.sent.append(message)

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive()
        assert message["more_body"] is False
        self.got = message["body"]
        assert (await receive())["type"] == "http.disconnect"

    async def run(self, by_path: Iterable[tuple[str, int]] = ()) -> "Exchange":
        limit = BodyLimit(self.app, 100, dict(by_path), timeout_s=5.0)
        await limit(self.scope, self.receive, self.send)
        return self

    @property
    def status(self) -> int | None:
        return self.sent[0]["status"] if self.sent else None


async def test_a_body_is_handed_on_whole() -> None:
    exchange = await Exchange(b"ab", b"", b"cd").run()
    assert exchange.got == b"abcd"
    assert exchange.sent == []


async def test_an_empty_body_is_a_body() -> None:
    assert (await Exchange(b"").run()).got == b""


async def test_a_body_of_just_the_cap_passes() -> None:
    assert (await Exchange(b"x" * 100, declared=100).run()).got == b"x" * 100


async def test_a_body_that_declares_too_much_is_not_read() -> None:
    exchange = await Exchange(b"x" * 101, declared=101).run()
    assert exchange.status == 413
    assert exchange.read_bytes == 0
    assert (b"connection", b"close") in exchange.sent[0]["headers"]


async def test_a_body_that_declares_nothing_is_read_up_to_the_cap() -> None:
    exchange = await Exchange(*[b"x" * 60] * 50).run()
    assert exchange.status == 413
    assert exchange.read_bytes == 120
    assert exchange.got is None


async def test_a_path_may_have_a_cap_of_its_own() -> None:
    by_path = [("/small", 10)]
    assert (await Exchange(b"x" * 11, path="/small").run(by_path)).status == 413
    assert (await Exchange(b"x" * 11).run(by_path)).status is None


async def test_a_client_that_leaves_midway_gets_no_answer() -> None:
    exchange = Exchange()
    await exchange.run()
    assert exchange.got is None
    assert exchange.sent == []


async def test_a_body_that_does_not_come_is_given_up() -> None:
    exchange = Exchange()

    async def never() -> Message:
        await asyncio.get_running_loop().create_future()
        raise AssertionError

    limit = BodyLimit(exchange.app, 100, {}, timeout_s=0.001)
    await limit(exchange.scope, never, exchange.send)
    assert exchange.status == 408
    assert exchange.got is None


@pytest.mark.parametrize("declared", [b"-1", b"many", b"9" * 400])
async def test_an_odd_content_length_does_no_harm(declared: bytes) -> None:
    exchange = Exchange(b"ab")
    exchange.scope["headers"] = [(b"content-length", declared)]
    await exchange.run()
    assert exchange.got == b"ab" or exchange.status == 413


async def test_what_is_not_http_passes_by() -> None:
    seen: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["type"])

    exchange = Exchange()
    await BodyLimit(app, 1, {}, timeout_s=1.0)(
        {"type": "lifespan"}, exchange.receive, exchange.send
    )
    assert seen == ["lifespan"]


@pytest.mark.parametrize(("method", "status"), [("GET", 413), ("HEAD", 413), ("POST", None)])
async def test_nobody_needs_a_body_to_look_at_something(method: str, status: int | None) -> None:
    exchange = Exchange(b"x" * 2000)
    exchange.scope["method"] = method
    await BodyLimit(exchange.app, 5000, {}, timeout_s=5.0)(
        exchange.scope, exchange.receive, exchange.send
    )
    assert exchange.status == status


async def test_bodies_on_their_way_at_once_have_a_bound_together() -> None:
    exchanges = [Exchange(b"x" * 100, b"") for _ in range(80)]
    got: list[bytes] = []
    on = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        got.append((await receive())["body"])

    limit = BodyLimit(app, 100, {}, timeout_s=5.0)

    async def run(exchange: Exchange) -> None:
        async def receive() -> Message:
            if len(exchange.parts) == 1:
                await on.wait()
            return await exchange.receive()

        await limit(exchange.scope, receive, exchange.send)

    async with asyncio.TaskGroup() as group:
        for exchange in exchanges:
            group.create_task(run(exchange))
        await eventually(lambda: sum(each.status == 503 for each in exchanges) == 16)
        assert limit._held_bytes == 64 * 100
        on.set()
    assert got == [b"x" * 100] * 64
    refused = next(each for each in exchanges if each.status)
    assert (b"retry-after", b"1") in refused.sent[0]["headers"]
    assert limit._held_bytes == 0
