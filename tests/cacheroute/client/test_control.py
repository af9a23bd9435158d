"""Both clients over real sockets: replies, refusals, silence, floods."""

import inspect
import json
import socket
from collections.abc import Callable

import pytest

from cacheroute.client.control import AsyncControlClient, ControlClient
from cacheroute.client.faults import NotUnderstood, Refused, TimedOut, Unreachable
from cacheroute.wire.instances import (
    HeartbeatBody,
    RegisterBody,
    SnapshotBody,
    UnregisterBody,
)
from cacheroute.wire.topology import TopologyReportBody
from tests.cacheroute.client.canned import a_peer, a_peer_saying, answer, dripping

HEALTHY = answer(b'{"ok":true,"ttl_s":30}')


def a_dead_url() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}"


def test_a_question_gets_its_reply() -> None:
    with a_peer_saying(HEALTHY) as url, ControlClient(url + "/") as client:
        assert client.health().ttl_s == 30
        assert client.health().ok


async def test_the_async_client_gets_the_same() -> None:
    with a_peer_saying(HEALTHY) as url:
        async with AsyncControlClient(url) as client:
            assert (await client.health()).ttl_s == 30


async def test_any_page_can_be_had_as_it_came_and_its_refusal_is_one() -> None:
    with a_peer_saying(answer(b"a 1\n")) as url:
        with ControlClient(url) as client:
            assert client.raw("/metrics") == b"a 1\n"
        async with AsyncControlClient(url) as asking:
            assert await asking.raw("/metrics") == b"a 1\n"
    with a_peer_saying(answer(b'{"detail":"Not Found"}', status="404 No")) as url:
        with ControlClient(url) as client, pytest.raises(Refused, match="Not Found"):
            client.raw("/x")
        async with AsyncControlClient(url) as asking:
            with pytest.raises(Refused, match="Not Found"):
                await asking.raw("/x")


def test_the_token_is_sent_when_there_is_one_and_only_then() -> None:
    heads: list[bytes] = []

    def reply(request: bytes, connection: socket.socket) -> None:
        heads.append(request.lower())
        connection.sendall(HEALTHY)

    with a_peer(reply) as url:
        with ControlClient(url, token="s3cret") as client:
            client.health()
        with ControlClient(url, token="") as client:
            client.health()

    assert b"authorization: bearer s3cret" in heads[0]
    assert b"authorization" not in heads[1]


def test_what_is_told_arrives_as_json() -> None:
    requests: list[bytes] = []

    def reply(request: bytes, connection: socket.socket) -> None:
        requests.append(request)
        connection.sendall(answer(b'{"ok":false,"error":"unknown_instance"}'))

    with a_peer(reply) as url, ControlClient(url) as client:
        told = client.heartbeat(HeartbeatBody(instance_id="i-1", qps_1m=2.0))

    assert (told.ok, told.error) == (False, "unknown_instance")
    head, _, body = requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/instance/heartbeat HTTP/1.1")
    assert json.loads(body) == {"instance_id": "i-1", "qps_1m": 2.0}


def test_nobody_there_is_unreachable_in_the_systems_words() -> None:
    with ControlClient(a_dead_url()) as client, pytest.raises(Unreachable) as caught:
        client.health()

    assert caught.value.cause == "connection refused"


async def test_nobody_there_is_unreachable_for_the_async_client_too() -> None:
    async with AsyncControlClient(a_dead_url()) as client:
        with pytest.raises(Unreachable) as caught:
            await client.health()

    assert caught.value.cause == "connection refused"


@pytest.mark.parametrize(
    "url",
    [
        "http://", "nonsense", "http://[::1", "ftp://h:1", "http://h:99999", "http://a..b:1",
        f"http://{'x' * 70}:1",
    ],
)  # fmt: skip
def test_a_url_that_is_none_is_unreachable(url: str) -> None:
    with ControlClient(url) as client, pytest.raises(Unreachable):
        client.health()


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
        answer(b"not json"),
        answer(b"\x1f\x8b\x08", headers="Content-Encoding: gzip\r\n"),
    ],
)
def test_an_answer_that_is_none_is_not_understood(raw: bytes) -> None:
    with a_peer_saying(raw) as url, ControlClient(url) as client, pytest.raises(NotUnderstood):
        client.health()


def test_a_no_is_a_refusal_with_its_status() -> None:
    raw = answer(b'{"error":"unauthorized","detail":"no token"}', status="401 Unauthorized")
    with a_peer_saying(raw) as url, ControlClient(url) as client, pytest.raises(Refused) as caught:
        client.status()

    assert caught.value.status == 401
    assert "no token" in str(caught.value)


def test_silence_times_out() -> None:
    def wait_for_the_client_to_leave(_: bytes, connection: socket.socket) -> None:
        connection.recv(1)

    with (
        a_peer(wait_for_the_client_to_leave) as url,
        ControlClient(url, timeout_s=0.05) as client,
        pytest.raises(TimedOut, match=r"within 0\.05 s"),
    ):
        client.health()


def test_an_answer_that_drips_for_ever_times_out_as_well() -> None:
    with (
        a_peer(dripping(b" ", after=b"HTTP/1.1 200 OK\r\n\r\n")) as url,
        ControlClient(url, timeout_s=0.2) as client,
        pytest.raises(TimedOut),
    ):
        client.health()


async def test_a_head_that_drips_for_ever_holds_nobody_up() -> None:
    drip_a_head = dripping(b"X-More: to come\r\n", after=b"HTTP/1.1 200 OK\r\n")
    with a_peer(drip_a_head) as url:
        async with AsyncControlClient(url, timeout_s=0.2) as client:
            with pytest.raises(TimedOut):
                await client.health()


def test_what_has_moved_says_where_to_and_nobody_goes_there() -> None:
    raw = answer(b"", status="302 Found", headers="Location: https://sso.example/x\r\n")
    with (
        a_peer_saying(raw) as url,
        ControlClient(url, token="t") as client,
        pytest.raises(Refused, match=r"answered 302: it is at https://sso\.example/x"),
    ):
        client.status()


async def test_another_token_is_sent_from_the_next_question_on() -> None:
    heads: list[bytes] = []

    def reply(request: bytes, connection: socket.socket) -> None:
        heads.append(request.lower())
        connection.sendall(HEALTHY)

    with a_peer(reply) as url:
        async with AsyncControlClient(url, token="old") as client:
            await client.health()
            assert client.take_token("new")
            assert not client.take_token("new")
            await client.health()
            assert client.has_token
            assert client.take_token(None)
            assert not client.has_token
            await client.health()

    assert b"bearer old" in heads[0]
    assert b"bearer new" in heads[1]
    assert b"authorization" not in heads[2]


def test_an_answer_without_end_is_cut_at_the_bound() -> None:
    def flood(_: bytes, connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            connection.sendall(b" " * 65536)

    with (
        a_peer(flood) as url,
        ControlClient(url, max_reply_bytes=100_000) as client,
        pytest.raises(NotUnderstood, match="larger than 100000 bytes"),
    ):
        client.health()


STATUS_BODY = (
    b'{"ok":true,"ttl_s":30,"alive_instances":0,"total_instances":0,"expired_instances":0}'
)
SOURCES_BODY = b'{"ok":true,"metric_source":{},"metric_quality":{},"null_semantics":""}'
EVERY_QUESTION: list[tuple[str, Callable[[ControlClient], object], bytes]] = [
    ("GET /healthz", lambda c: c.health(), b'{"ok":true}'),
    ("GET /debug/status", lambda c: c.status(), STATUS_BODY),
    ("GET /v1/instance/list?include_dead=false", lambda c: c.instances(), b"[]"),
    (
        "GET /debug/instance_loads",
        lambda c: c.loads(),
        b'{"ok":true,"ttl_s":30,"generated_at":1.5,"instances":[]}',
    ),
    (
        "GET /debug/instance_resources?include_dead=true",
        lambda c: c.resources(),
        b'{"instances":[]}',
    ),
    ("GET /debug/pool_resource", lambda c: c.pool(), b'{"ok":true,"pool_resource":{}}'),
    ("GET /debug/pool_resource_sources", lambda c: c.pool_sources(), SOURCES_BODY),
    ("GET /debug/decisions?last=20", lambda c: c.decisions(), b'{"ok":true,"decisions":[]}'),
    ("GET /v1/topology/kdn_links", lambda c: c.kdn_links(), b'{"kdn_links":{}}'),
    ("GET /debug/topology", lambda c: c.topology(), b'{"ok":true,"generated_at":1.5}'),
    ("GET /debug/scheduler", lambda c: c.scheduler(), b'{"ok":true,"state":"off"}'),
    (
        "GET /debug/predictions",
        lambda c: c.predictions(),
        b'{"ok":true,"generated_at":1.5,"errors":{}}',
    ),
    (
        "POST /v1/instance/register",
        lambda c: c.register(RegisterBody(host="h", port=1)),
        b'{"instance_id":"hp_h:1","heartbeat_interval_s":10,"ttl_s":30}',
    ),
    (
        "POST /v1/instance/heartbeat",
        lambda c: c.heartbeat(HeartbeatBody(instance_id="i")),
        b'{"ok":true}',
    ),
    (
        "POST /v1/instance/unregister",
        lambda c: c.unregister(UnregisterBody(instance_id="i")),
        b'{"ok":true}',
    ),
    (
        "POST /v1/instance/resource_snapshot",
        lambda c: c.report_snapshot(SnapshotBody(instance_id="i", snapshot={})),
        b'{"ok":true}',
    ),
    (
        "POST /v1/topology/report",
        lambda c: c.report_topology(TopologyReportBody(instance_id="i", links={})),
        b'{"ok":true}',
    ),
]


@pytest.mark.parametrize(("line", "question", "body"), EVERY_QUESTION)
def test_every_endpoint_has_its_question(
    line: str, question: Callable[[ControlClient], object], body: bytes
) -> None:
    lines: list[str] = []

    def reply(request: bytes, connection: socket.socket) -> None:
        lines.append(request.split(b" HTTP/")[0].decode())
        connection.sendall(answer(body))

    with a_peer(reply) as url, ControlClient(url) as client:
        question(client)

    assert lines == [line]


def test_both_clients_ask_the_same_questions_the_same_way() -> None:
    def questions(client: type) -> dict[str, str]:
        return {
            name: str(inspect.signature(method))
            for name, method in vars(client).items()
            if not name.startswith("_") and name != "close"
        }

    assert questions(ControlClient) == questions(AsyncControlClient)


async def test_every_endpoint_has_its_question_in_the_async_client_too() -> None:
    for line, question, body in EVERY_QUESTION:
        lines: list[str] = []

        def reply(
            request: bytes,
            connection: socket.socket,
            lines: list[str] = lines,
            body: bytes = body,
        ) -> None:
            lines.append(request.split(b" HTTP/")[0].decode())
            connection.sendall(answer(body))

        with a_peer(reply) as url:
            async with AsyncControlClient(url) as client:
                await question(client)  # type: ignore[arg-type, misc]
        assert lines == [line]
