"""How a request is put to an Instance: line by line, and with whose key."""

import contextlib
import json
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field

import pytest

from cacheroute.core.errors import UpstreamError
from cacheroute.core.pool_member import Member
from cacheroute.core.request import RouteRequest
from cacheroute.dataplane.inbound import Inbound
from cacheroute.dataplane.pool import UpstreamPool
from cacheroute.dataplane.server import HttpServer
from cacheroute.dataplane.turns import Turns
from cacheroute.upstream.instance import Instances
from tests.cacheroute.core.pool_builders import an_instance
from tests.support.backend import ScriptedBackend, scripted
from tests.support.client import Answer, fetch
from tests.support.received import Received
from tests.support.script import json_answer
from tests.support.waiting import eventually

Headers = Iterable[tuple[str, str]]


@dataclass(slots=True, eq=False)
class Sender:
    """Puts whatever clients send to one Instance."""

    backend: ScriptedBackend
    pool: UpstreamPool
    instances: Instances
    member: Member
    port: int = 0
    tell: Callable[[Inbound], str] = lambda _: "req-1"
    stand_in: bytes | None = None
    """What is sent in the place of the client's body."""
    failures: list[UpstreamError] = field(default_factory=list)
    crashes: list[BaseException] = field(default_factory=list)

    def moved_to(self, port: int) -> None:
        """Let the Instance be described anew, at another port."""
        self.member.instance = an_instance("i-1", port=port)

    def on_request(self, inbound: Inbound) -> None:
        def crashed(error: BaseException) -> None:
            self.crashes.append(error)
            inbound.abort()

        Turns(self._serve(inbound), crashed).resume()

    async def _serve(self, inbound: Inbound) -> None:
        request = RouteRequest(
            request_id="req-1",
            endpoint="chat/completions",
            path=inbound.path,
            query=inbound.query,
            method=inbound.method,
            model=None,
            stream=False,
            caller="native",
            body=inbound.body,
            arrived_mono_s=0.0,
            arrived_wall_s=0.0,
        )
        exchange = self.instances.forward(request, inbound, self.member, body=self.stand_in)
        try:
            await exchange.opening()
            exchange.relay_to(inbound, self.instances.line(self.member))
            await exchange.ending()
            exchange.finish()
        except UpstreamError as error:
            self.failures.append(error)
            inbound.respond(error.status)

    async def ask(
        self,
        headers: Headers = (),
        body: bytes = b"{}",
        target: str = "/v1/x",
        method: str = "POST",
    ) -> Received:
        """Send a request; what the Instance got of it."""
        count = len(self.backend.requests)
        await self.answer(headers, body, target, method)
        assert not self.crashes, self.crashes
        return self.backend.requests[count]

    async def answer(
        self,
        headers: Headers = (),
        body: bytes = b"{}",
        target: str = "/v1/x",
        method: str = "POST",
    ) -> Answer:
        sent = body if method == "POST" else None
        return await fetch(self.port, method, target, headers, sent)


@contextlib.asynccontextmanager
async def sending(*, forward_authorization: bool = True, **given: object) -> AsyncIterator[Sender]:
    async with scripted(json_answer({})) as backend:
        pool = UpstreamPool()
        instance = an_instance("i-1", port=backend.port, **given)
        instances = Instances(pool, lambda: 1.0, forward_authorization=forward_authorization)
        sender = Sender(backend, pool, instances, Member(instance))
        server = HttpServer(sender.on_request)
        await server.start()
        sender.port = server.port
        try:
            yield sender
        finally:
            await server.stop()
            pool.close()


# Lines


async def test_the_lines_of_the_client_go_on_in_order_and_as_written() -> None:
    sent = [("X-B", "2"), ("x-a", "1"), ("X-B", "3"), ("User-Agent", "curl"), ("Accept", "*/*")]
    async with sending() as sender:
        got = await sender.ask(sent)
        told = [(name.decode(), value.decode()) for name, value in got.head.headers]
        assert [line for line in told if line in sent] == sent


async def test_the_head_is_for_the_instance_and_has_our_request_id() -> None:
    async with sending() as sender:
        got = await sender.ask([("Host", "proxy.example"), ("X-Request-Id", "theirs")])
        assert got.head.start == b"POST /v1/x HTTP/1.1"
        assert got.head.one("host") == sender.backend.authority.encode()
        assert got.head.one("x-request-id") == b"req-1"
        assert got.head.one("content-length") == b"2"


@pytest.mark.parametrize(
    "line",
    [
        ("Accept-Encoding", "gzip"), ("TE", "trailers"), ("Keep-Alive", "timeout=5"),
        ("Proxy-Authorization", "Basic eA=="), ("Proxy-Connection", "keep-alive"),
        ("Connection", "keep-alive"), ("Trailer", "X-T"), ("x-cacheroute-META", "event"),
    ],
)  # fmt: skip
async def test_what_speaks_of_one_connection_stays_on_it(line: tuple[str, str]) -> None:
    async with sending() as sender:
        got = await sender.ask([line, ("X-Kept", "1")])
        assert got.head.all(line[0]) == []
        assert got.head.one("x-kept") == b"1"


async def test_lines_that_the_connection_names_stay_as_well() -> None:
    async with sending() as sender:
        got = await sender.ask([("Connection", "keep-alive, X-Hop"), ("x-hop", "1")])
        assert got.head.one("x-hop") is None


async def test_lines_that_a_second_connection_line_names_stay_as_well() -> None:
    async with sending() as sender:
        got = await sender.ask(
            [("Connection", "keep-alive"), ("Connection", "X-Hop"), ("X-Hop", "1")]
        )
        assert got.head.one("x-hop") is None


async def test_a_get_says_nothing_of_a_length() -> None:
    async with sending() as sender:
        got = await sender.ask(method="GET")
        assert got.head.one("content-length") is None
        assert (await sender.ask(body=b"")).head.one("content-length") == b"0"


@pytest.mark.parametrize(
    ("base_path", "target", "asked"),
    [
        ("", "/v1/x", "/v1/x"),
        ("", "/v1/x?a=1&b=%20", "/v1/x?a=1&b=%20"),
        ("/base", "/v1/x", "/base/v1/x"),
        ("/a/b", "/v1/x?q", "/a/b/v1/x?q"),
    ],
)
async def test_the_path_stands_behind_the_base_and_keeps_its_query(
    base_path: str, target: str, asked: str
) -> None:
    async with sending(base_path=base_path) as sender:
        assert (await sender.ask(target=target)).target == asked


async def test_queries_that_callers_make_up_do_not_add_up() -> None:
    async with sending() as sender:
        for n in range(100):
            assert (await sender.ask(target=f"/v1/x?n={n}")).target == f"/v1/x?n={n}"
        reach = sender.instances._reaches["i-1"]
        assert len(reach.heads) <= 64


# Keys


@pytest.mark.parametrize("sent", ["Bearer sk-client", "Basic eDp5", "bearer x y", "Token t"])
async def test_without_a_key_of_its_own_the_clients_goes_on(sent: str) -> None:
    async with sending() as sender:
        got = await sender.ask([("Authorization", sent)])
        assert got.head.one("authorization") == sent.encode()


@pytest.mark.parametrize("sent", ["", "Bearer", "Bearer ", "Bearer None", "bearer  None "])
async def test_a_credential_that_says_nothing_is_none(sent: str) -> None:
    async with sending() as sender:
        assert (await sender.ask([("Authorization", sent)])).head.one("authorization") is None


async def test_the_instances_own_key_replaces_the_clients() -> None:
    async with sending(api_key="sk-own") as sender:
        got = await sender.ask([("Authorization", "Bearer sk-client")])
        assert got.head.all("authorization") == [b"Bearer sk-own"]


async def test_with_forwarding_off_only_an_own_key_goes() -> None:
    async with sending(forward_authorization=False) as sender:
        got = await sender.ask([("Authorization", "Bearer sk-client")])
        assert got.head.one("authorization") is None


# The model's name


@pytest.mark.parametrize(
    ("sent", "got"),
    [
        (b'{"model": "a", "x":1.0}', b'{"model": "real", "x":1.0}'),
        (b'{"x":{"model":"a"}}', b'{"x":{"model":"a"}}'),
        (b'{"mod\\u0065l":"a"}', b'{"mod\\u0065l":"real"}'),
    ],
)
async def test_an_override_is_written_in_and_the_length_fits(sent: bytes, got: bytes) -> None:
    async with sending(model_override="real") as sender:
        received = await sender.ask(body=sent)
        assert received.body == got
        assert received.head.one("content-length") == str(len(got)).encode()


async def test_an_override_of_any_letters_is_json() -> None:
    async with sending(model_override='ä"\n') as sender:
        assert json.loads((await sender.ask(body=b'{"model":"a"}')).body) == {"model": 'ä"\n'}


@pytest.mark.parametrize("sent", [b'{"model"}', b'{"model"', b"\x00\xff", b'--b {"model" x'])
async def test_a_body_that_is_no_json_goes_on_as_it_is_to_an_instance_with_an_override(
    sent: bytes,
) -> None:
    async with sending(model_override="real") as sender:
        assert (await sender.ask(body=sent)).body == sent


async def test_another_body_may_stand_in_for_the_clients() -> None:
    async with sending(model_override="real") as sender:
        sender.stand_in = b'{"model":"a","messages":[]}'
        received = await sender.ask(body=b"{}")
        assert received.body == b'{"model":"real","messages":[]}'
        assert received.head.one("content-length") == b"30"


# Coming and going


async def test_the_answer_tells_who_gave_it() -> None:
    async with sending() as sender:
        assert (await sender.answer()).header("x-cacheroute-instance") == "i-1"


async def test_one_that_is_described_anew_is_asked_at_its_new_address() -> None:
    async with sending() as sender, scripted(json_answer({})) as elsewhere:
        await sender.ask()
        sender.moved_to(elsewhere.port)
        await sender.answer()
        assert (len(sender.backend.requests), len(elsewhere.requests)) == (1, 1)


async def test_one_that_moves_often_leaves_no_address_behind() -> None:
    """An Instance that restarts on a port of its system's choice does this all day."""
    async with sending() as sender, contextlib.AsyncExitStack() as stack:
        for _ in range(5):
            backend = await stack.enter_async_context(scripted(json_answer({})))
            sender.moved_to(backend.port)
            await sender.answer()
        await eventually(lambda: len(sender.pool._peers) <= 2, within_s=1.0)


async def test_one_that_leaves_fails_who_waits_and_frees_its_connections() -> None:
    async with sending() as sender:
        await sender.ask()
        await sender.backend.closed_down_to(1)
        sender.instances.forget(sender.member.instance)
        await sender.backend.closed_down_to(0)
        assert not sender.pool._peers


async def test_one_that_leaves_takes_nothing_from_another_at_the_same_address() -> None:
    async with sending() as sender:
        await sender.ask()
        first = sender.member.instance
        sender.member = Member(an_instance("i-2", port=sender.backend.port, model_override="b"))
        await sender.ask()
        sender.instances.forget(first)
        await sender.ask()
        assert sender.backend.connections == 1
        assert not sender.failures


async def test_one_that_was_only_probed_leaves_no_address_behind() -> None:
    pool = UpstreamPool()
    instance = an_instance()
    instances = Instances(pool, clock=lambda: 0.0)
    instances.forget(instance)
    pool.peer(instance.host, instance.port)
    instances.forget(instance)
    assert pool.known_peer(instance.host, instance.port) is None
    pool.close()


async def test_a_request_that_outlives_its_instance_can_still_be_told_who_served_it() -> None:
    """The Instance unregisters in the middle of a first event, whose rest comes all the same."""
    async with sending() as sender:
        await sender.ask()
        sender.instances.forget(sender.member.instance)
        line = sender.instances.line(sender.member)
        assert line == b"X-CacheRoute-Instance: i-1\r\n"
