"""C085, C086: one framing, no hop-by-hop header, and each credential only where it belongs."""

import pytest

from tests.support.backend import scripted
from tests.support.client import connected, post
from tests.support.openai_shapes import CHAT, DONE, chat, completion
from tests.support.proxy import LONG_REST, running_proxy
from tests.support.received import Received
from tests.support.script import (
    END,
    JSON,
    Close,
    Script,
    Write,
    answer,
    chunk,
    head,
    json_answer,
    stream,
    stream_head,
)
from tests.support.waiting import eventually

BODY = b'{"a": 1}'
HOP_BY_HOP = [
    ("Connection", "close, X-Foo"),
    ("Keep-Alive", "timeout=5"),
    ("TE", "trailers"),
    ("Trailer", "X-T"),
    ("Upgrade", "h2c"),
    ("Proxy-Authenticate", "Basic"),
    ("Proxy-Connection", "close"),
    ("X-Foo", "for one hop"),
]
ANSWERS: dict[str, Script] = {
    "with a length": answer(BODY),
    "in chunks": (stream_head(content_type=JSON), chunk(BODY), END),
    "ended by closing": (Write(head(200, [("Content-Type", JSON)]) + BODY), Close()),
    "with hop-by-hop headers": (*answer(BODY, headers=HOP_BY_HOP), Close()),
    "empty": answer(b""),
}


@pytest.mark.parametrize("script", ANSWERS.values(), ids=ANSWERS)
async def test_c085_an_answer_has_one_framing_and_it_fits(script: Script) -> None:
    async with (
        scripted(script) as backend,
        running_proxy(backend.url) as proxy,
        connected(proxy.service_port) as client,
    ):
        for _ in range(3):
            # The raw client refuses two framings, and what does not fit.
            client.ask("POST", CHAT, body=chat())
            got = await client.over()
            assert got.whole
            assert got.framing in ("length", "chunked")
            assert got.body == (b"" if script is ANSWERS["empty"] else BODY)
            assert not client.surplus
            assert got.head is not None
            names = {name.lower().decode() for name, _ in got.head.headers}
            assert not names & {name.lower() for name, _ in HOP_BY_HOP if name != "Connection"}


async def test_c085_an_answer_of_two_framings_is_never_passed_on_like_that() -> None:
    both = [("Content-Length", "8"), ("Transfer-Encoding", "chunked")]
    async with (
        scripted((Write(head(200, both)), chunk(BODY), END)) as backend,
        running_proxy(backend.url) as proxy,
    ):
        got = await post(proxy.service_port, chat())
        assert got.status in (200, 502)
        if got.status == 200:
            assert got.body == BODY


@pytest.mark.parametrize("lengths", [["8", "9"], ["x"], ["-1"], ["8", "8"]], ids=str)
async def test_c085_a_length_that_says_nothing_is_no_answer(lengths: list[str]) -> None:
    lines = [("Content-Length", length) for length in lengths]
    async with (
        scripted((Write(head(200, lines) + BODY), Close())) as backend,
        running_proxy(backend.url) as proxy,
    ):
        got = await post(proxy.service_port, chat())
        assert got.status in (200, 502)
        assert got.cut or got.status == 502 or got.body == BODY


async def test_c085_date_and_server_are_there_once_and_are_the_backends() -> None:
    lines = [("Date", "Mon, 01 Jan 2024 00:00:00 GMT"), ("Server", "uvicorn")]
    async with (
        scripted(json_answer(completion(), headers=lines)) as backend,
        running_proxy(backend.url) as proxy,
    ):
        got = await post(proxy.service_port, chat())
        for name, value in lines:
            assert got.header(name) == value


async def test_c085_headers_that_repeat_or_are_odd_pass_in_order() -> None:
    lines = [
        ("Set-Cookie", "a=1"), ("set-cookie", "b=2"), ("X-Empty", ""), ("X-Latin", "caf\xe9"),
        ("X-Long", "x" * 8000), ("openai-processing-ms", "7"), ("x-ratelimit-limit-tokens", "9"),
    ]  # fmt: skip
    async with (
        scripted(json_answer(completion(), headers=lines)) as backend,
        running_proxy(backend.url) as proxy,
    ):
        got = await post(proxy.service_port, chat())
        assert got.head is not None
        assert got.head.all("set-cookie") == [b"a=1", b"b=2"]
        for name, value in lines[2:]:
            assert got.head.one(name) == value.encode("latin-1")


async def test_c085_a_request_is_sent_on_without_what_was_meant_for_one_hop() -> None:
    sent = [
        ("Connection", "keep-alive, X-Foo"),
        ("X-Foo", "for one hop"),
        ("Keep-Alive", "timeout=5"),
        ("TE", "trailers"),
        ("Proxy-Authorization", "Basic c2VjcmV0"),
        ("Proxy-Connection", "keep-alive"),
        ("Host", "proxy.example"),
        ("X-Custom", "kept"),
        ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
        ("User-Agent", "test/1"),
    ]
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        assert (await post(proxy.service_port, chat(), headers=sent)).status == 200
        got = backend.requests[0].head
        for name in ("x-foo", "keep-alive", "te", "proxy-authorization", "proxy-connection"):
            assert got.all(name) == [], name
        assert got.one("host") == backend.authority.encode()
        assert got.one("x-custom") == b"kept"
        assert got.one("traceparent") == sent[8][1].encode()
        assert got.one("user-agent") == b"test/1"
        assert got.one("content-length") == str(len(chat())).encode()


@pytest.mark.parametrize("streamed", [False, True], ids=["JSON", "stream"])
async def test_c085_a_request_id_is_kept_or_made_forwarded_and_told(streamed: bool) -> None:
    script = stream(DONE) if streamed else json_answer(completion())
    async with scripted(script) as backend, running_proxy(backend.url) as proxy:
        body = chat(stream=streamed)
        mine = await post(proxy.service_port, body, headers=[("X-Request-Id", "mine-1")])
        assert mine.header("x-request-id") == "mine-1"
        assert backend.requests[0].head.one("x-request-id") == b"mine-1"
        made = [await post(proxy.service_port, body) for _ in range(2)]
        ids = [got.header("x-request-id") for got in made]
        assert all(ids)
        assert ids[0] != ids[1]
        assert [received.head.one("x-request-id") for received in backend.requests[1:]] == [
            (name or "").encode() for name in ids
        ]


async def test_c085_an_id_that_the_backend_made_does_not_double_ours() -> None:
    async with (
        scripted(json_answer(completion(), headers=[("X-Request-Id", "theirs")])) as backend,
        running_proxy(backend.url) as proxy,
    ):
        got = await post(proxy.service_port, chat(), headers=[("X-Request-Id", "mine")])
        assert got.header("x-request-id") in ("mine", "theirs")


async def test_c085_a_large_request_head_is_no_error() -> None:
    sent = [("X-Large", "x" * 40_000), ("X-Latin", "caf\xe9"), ("X-Empty", "")]
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        assert (await post(proxy.service_port, chat(), headers=sent)).status == 200
        for name, value in sent:
            assert backend.requests[0].head.one(name) == value.encode("latin-1")


@pytest.mark.parametrize("coding", ["gzip, chunked", "gzip", "identity", "chunked, chunked"])
async def test_c085_an_answer_in_a_coding_nobody_asked_for_is_no_answer(coding: str) -> None:
    lines = [("Content-Type", JSON), ("Transfer-Encoding", coding)]
    async with (
        scripted((Write(head(200, lines)), chunk(BODY), END, Close())) as backend,
        running_proxy(backend.url) as proxy,
    ):
        got = await post(proxy.service_port, chat())
        assert got.status == 502
        assert got.error["message"]


async def test_c085_a_chunk_coding_in_capitals_is_the_same_coding() -> None:
    lines = [("Content-Type", JSON), ("TRANSFER-ENCODING", "Chunked")]
    async with (
        scripted((Write(head(200, lines)), chunk(BODY), END)) as backend,
        running_proxy(backend.url) as proxy,
    ):
        assert (await post(proxy.service_port, chat())).body == BODY


KB, KC = "Bearer key-of-backend", "Bearer key-of-client"


def needs_kb(received: Received) -> Script:
    """Answer who brings the backend's key; refuse all others."""
    if received.head.all("authorization") == [KB.encode()]:
        return json_answer(completion())
    return json_answer({"error": {"message": "no", "type": "auth", "param": None, "code": 1}}, 401)


CLIENT_SENDS: dict[str, list[tuple[str, str]]] = {
    "its own key": [("Authorization", KC)],
    "nothing": [],
    "a blank bearer": [("Authorization", "Bearer ")],
    "a bare bearer": [("Authorization", "Bearer")],
    "Bearer None": [("Authorization", "Bearer None")],
    "an empty value": [("Authorization", "")],
}
each_client = pytest.mark.parametrize("sent", CLIENT_SENDS.values(), ids=CLIENT_SENDS)


@each_client
async def test_c086_a_key_of_the_backend_replaces_whatever_the_client_sends(
    sent: list[tuple[str, str]],
) -> None:
    async with scripted(needs_kb) as backend:
        url = f"{backend.url},api_key=key-of-backend"
        async with running_proxy(url) as proxy:
            got = await post(proxy.service_port, chat(), headers=sent)
            assert got.status == 200
            assert backend.requests[0].head.all("authorization") == [KB.encode()]


@each_client
async def test_c086_without_one_the_clients_key_goes_on_verbatim(
    sent: list[tuple[str, str]],
) -> None:
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        await post(proxy.service_port, chat(), headers=sent)
        expected = [KC.encode()] if ("Authorization", KC) in sent else []
        assert backend.requests[0].head.all("authorization") == expected


@each_client
async def test_c086_with_forwarding_off_no_key_goes_on(sent: list[tuple[str, str]]) -> None:
    async with (
        scripted() as backend,
        running_proxy(backend.url, proxy__forward_authorization=False) as proxy,
    ):
        await post(proxy.service_port, chat(), headers=sent)
        assert backend.requests[0].head.all("authorization") == []


async def test_c086_other_schemes_and_key_headers_go_on_verbatim() -> None:
    sent = [("Authorization", "Basic dTpw"), ("x-api-key", "k"), ("api-key", "k2")]
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        await post(proxy.service_port, chat(), headers=sent)
        for name, value in sent:
            assert backend.requests[0].head.one(name) == value.encode()


async def test_c086_a_401_goes_back_and_marks_nobody_dead() -> None:
    async with (
        scripted(needs_kb) as backend,
        scripted() as other,
        running_proxy(backend.url, other.url, pool__ejection__failures=1, **LONG_REST) as proxy,
    ):
        statuses = [
            (await post(proxy.service_port, chat(), headers=[("Authorization", KC)])).status
            for _ in range(10)
        ]
        assert sorted(statuses) == [200] * 5 + [401] * 5


async def test_c086_each_instance_gets_its_own_key_also_on_failover() -> None:
    async with (
        scripted((Close(),)) as dying,
        scripted() as plain,
        running_proxy(f"{dying.url},api_key=key-of-backend", plain.url) as proxy,
    ):
        got = await post(proxy.service_port, chat(), headers=[("Authorization", KC)])
        assert got.status == 200
        assert dying.requests[0].head.all("authorization") == [KB.encode()]
        assert plain.requests[0].head.all("authorization") == [KC.encode()]


async def test_c086_probes_carry_the_backends_key() -> None:
    async with scripted() as backend:
        url = f"{backend.url},api_key=key-of-backend"
        async with running_proxy(url, pool__health_check_interval_s=0.1) as proxy:
            await eventually(lambda: len(backend.probes) >= 2)
            for probe in backend.probes:
                assert probe.head.all("authorization") == [KB.encode()], probe.path
            assert (await post(proxy.service_port, chat())).status == 200
