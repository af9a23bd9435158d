"""C082, C083: a request body leaves as it came, byte for byte, and may hold whole pictures."""

import asyncio
import base64
import gzip
import hashlib
import json

import pytest

from cacheroute.core.limits import Limits
from tests.support.backend import scripted
from tests.support.client import connected, post
from tests.support.openai_shapes import CHAT, chat
from tests.support.proxy import running_proxy

MIB = 1024 * 1024

BODIES: dict[str, bytes] = {
    "odd order and numbers": (
        b'{"z":1.0,"messages":[{"content":"x","role":"user"}],"b":9007199254740993,"a":1e2,'
        b'"tools":[{"function":{"name":"f","parameters":{"type":"object","properties":'
        b'{"zz":{"type":"string"},"aa":{}}}},"type":"function"}],"model":"m"}'
    ),
    "escapes": rb'{"model":"m","messages":[{"role":"user","content":"\u00e9 \ud83d\ude80 \/"}]}',
    "raw accents": '{"model":"m","messages":[{"role":"user","content":"é 🚀"}]}'.encode(),
    "a lone surrogate": rb'{"model":"m","messages":[{"role":"user","content":"\ud83d"}]}',
    "blanks": b' \r\n\t{ "model" :"m" ,\n"messages": [ ] } \n',
    "a key twice": b'{"model":"m","messages":[],"x":1,"x":2}',
    "the model last": rb'{"messages":[{"role":"user","content":"\"model\":\"no"}],"model":"m"}',
    "a nested model": b'{"x":{"model":"other"},"model":"m","messages":[]}',
    "an escaped key": rb'{"m\u006fdel":"m","messages":[]}',
    "deep": b'{"model":"m","messages":[],"x":' + b"[" * 200 + b"]" * 200 + b"}",
    "huge numbers": b'{"model":"m","messages":[],"x":1e999,"y":' + b"9" * 400 + b"}",
}


@pytest.mark.parametrize("streamed", [False, True], ids=["length", "chunked"])
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
async def test_c082_a_body_without_changes_to_make_keeps_its_hash(
    body: bytes, streamed: bool
) -> None:
    digest = hashlib.sha256(body).hexdigest()
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        for _ in range(2):
            if streamed:
                pieces = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in halves(body))
                headers = [("Transfer-Encoding", "chunked"), ("Content-Type", "application/json")]
                got = await post(proxy.service_port, pieces + b"0\r\n\r\n", headers=headers)
            else:
                got = await post(proxy.service_port, body)
            assert got.status == 200, got.body
        assert [received.sha256 for received in backend.requests] == [digest, digest]


def halves(body: bytes) -> list[bytes]:
    """Cut a body in two, in the middle of whatever is there."""
    return [body[: len(body) // 2], body[len(body) // 2 :]]


RENAMED = [name for name in BODIES if name not in ("a key twice", "an escaped key")]


@pytest.mark.parametrize("name", RENAMED)
async def test_c082_an_alias_changes_the_models_value_and_nothing_else(name: str) -> None:
    body = BODIES[name]
    # Each of these bodies has one member `"model":"m"` at its top, in one of two spellings.
    expected = body.replace(b'"model":"m"', b'"model":"real/name"')
    expected = expected.replace(b'"model" :"m"', b'"model" :"real/name"')
    assert expected != body
    async with scripted() as backend:
        aliased = [{"name": "a", "url": backend.url, "model_name": "real/name"}]
        async with running_proxy(backends=aliased) as proxy:
            for _ in range(2):
                assert (await post(proxy.service_port, body)).status == 200
                assert backend.requests[-1].body == expected


async def test_c082_an_alias_finds_a_model_key_that_is_written_with_escapes() -> None:
    async with scripted() as backend:
        aliased = [{"name": "a", "url": backend.url, "model_name": "real"}]
        async with running_proxy(backends=aliased) as proxy:
            assert (await post(proxy.service_port, BODIES["an escaped key"])).status == 200
            assert backend.requests[0].json() == {"model": "real", "messages": []}


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
async def test_c082_a_compressed_body_is_passed_on_as_it_is_or_refused_in_words(
    coding: str,
) -> None:
    body = gzip.compress(chat())
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        got = await post(proxy.service_port, body, headers=[("Content-Encoding", coding)])
        if got.status == 200:
            assert backend.requests[0].body == body
            assert backend.requests[0].head.one("content-encoding") == coding.encode()
        else:
            assert got.status in (400, 415)
            assert got.error["message"]


def with_images(total_bytes: int) -> bytes:
    """Return a chat with a text and three pictures, of about this many bytes."""
    picture = base64.b64encode(b"\x89PNG" * (total_bytes // 16)).decode()
    url = f"data:image/png;base64,{picture}"
    parts = [{"type": "image_url", "image_url": {"url": url}}] * 3
    content = [{"type": "text", "text": "what is it?"}, *parts]
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": content}]}).encode()


def test_c083_the_default_cap_is_32_mebibytes_or_more() -> None:
    assert Limits().body_bytes >= 32 * MIB


async def test_c083_pictures_of_12_mebibytes_arrive_while_small_requests_pass() -> None:
    body = with_images(12 * MIB)
    assert len(body) > 11 * MIB
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        async with connected(proxy.service_port) as client:
            client.ask("POST", CHAT, [("Content-Length", str(len(body)))], body[:MIB])
            for _ in range(5):
                assert (await post(proxy.service_port, chat(), within_s=2)).status == 200
            client.send(body[MIB:])
            got = await client.over()
        assert got.status == 200
        assert backend.requests[-1].sha256 == hashlib.sha256(body).hexdigest()


async def test_c083_an_upload_in_drips_arrives_whole() -> None:
    body = chat("x" * 5000)
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        async with connected(proxy.service_port) as client:
            client.ask("POST", CHAT, [("Content-Length", str(len(body)))])
            for at in range(0, len(body), 500):
                client.send(body[at : at + 500])
                await asyncio.sleep(0.02)
            got = await client.over()
        assert got.status == 200
        assert backend.requests[0].body == body


@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunked"])
@pytest.mark.parametrize("over_by", [1, 200_000])
async def test_c083_a_body_over_the_cap_is_refused_in_words(over_by: int, chunked: bool) -> None:
    cap = 100_000
    body = b"x" * (cap + over_by)
    async with (
        scripted() as backend,
        running_proxy(backend.url, limits__body_bytes=cap) as proxy,
    ):
        headers = [("Transfer-Encoding", "chunked")] if chunked else []
        sent = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body) if chunked else body
        got = await post(proxy.service_port, sent, headers=headers)
        assert got.status == 413
        assert str(cap) in got.error["message"]
        assert "limits.body_bytes" in got.error["message"]
        assert not backend.requests


async def test_c083_a_body_of_exactly_the_cap_is_taken() -> None:
    body = chat("x" * 99_000)
    async with (
        scripted() as backend,
        running_proxy(backend.url, limits__body_bytes=len(body)) as proxy,
    ):
        assert (await post(proxy.service_port, body)).status == 200
        assert backend.requests[0].body == body


async def test_c083_a_client_that_asks_first_is_refused_before_it_uploads() -> None:
    async with (
        scripted() as backend,
        running_proxy(backend.url, limits__body_bytes=1000) as proxy,
        connected(proxy.service_port) as client,
    ):
        headers = [("Expect", "100-continue"), ("Content-Length", "5000")]
        client.ask("POST", CHAT, headers)
        got = await client.over()
        assert got.status == 413
        assert not got.interim


async def test_c083_a_client_that_asks_first_is_told_to_go_on() -> None:
    body = chat()
    async with (
        scripted() as backend,
        running_proxy(backend.url) as proxy,
        connected(proxy.service_port) as client,
    ):
        headers = [("Expect", "100-continue"), ("Content-Length", str(len(body)))]
        client.ask("POST", CHAT, headers)
        await client.until(lambda a: a.interim)
        client.send(body)
        got = await client.over()
        assert got.status == 200
        assert len(got.interim) == 1
        assert backend.requests[0].head.one("expect") is None
        assert backend.requests[0].body == body
