"""C070, C071: an address may be written in many forms, and each is the same one place."""

import pytest

from cacheroute.core.errors import ConfigError
from tests.support.backend import ScriptedBackend, scripted
from tests.support.client import fetch, post
from tests.support.openai_shapes import CHAT, DONE, chat, completion
from tests.support.proxy import RunningProxy, running_proxy
from tests.support.script import json_answer, stream

FORMS = [
    ("{authority}", ""),
    ("{authority}/", ""),
    ("{authority}/v1", ""),
    ("{authority}/v1/", ""),
    ("{authority}/base/v1/", "/base"),
    ("{authority}/base", "/base"),
    ("{authority}/a/b/v1", "/a/b"),
    ("http://{authority}", ""),
    ("http://{authority}/", ""),
    ("http://{authority}/v1/", ""),
    ("HTTP://{authority}/base/v1/", "/base"),
]


@pytest.mark.parametrize(("form", "base"), FORMS, ids=[form for form, _ in FORMS])
async def test_c070_every_form_of_a_base_address_reaches_the_right_path(
    form: str, base: str
) -> None:
    async with (
        scripted(base=base) as backend,
        running_proxy(form.format(authority=backend.authority)) as proxy,
    ):
        for path in (CHAT, "/v1/completions", "/v1/embeddings", "/tokenize"):
            got = await post(proxy.service_port, chat(prompt="x", input="x"), path)
            assert got.status == 200, got.body
            assert backend.requests[-1].path == base + path


@pytest.mark.parametrize(
    "form",
    [
        "http://{authority}/v1/chat/completions",
        "{authority}/v1/completions",
        "http://{authority}/v1/embeddings/",
        "ftp://{authority}",
        "http://{authority}?x=1",
        "http://user:secret@{authority}",
        "127.0.0.1",
        "http://127.0.0.1:0",
        "http://127.0.0.1:65536",
        "",
        "::1:8000",
    ],
)
async def test_c070_c071_what_is_no_base_address_is_refused_at_the_start(form: str) -> None:
    address = form.format(authority="127.0.0.1:8000")
    with pytest.raises(ConfigError) as refused:
        async with running_proxy(address):
            pass
    message = str(refused.value)
    assert "pool.instances" in message
    assert "secret" not in message


async def test_c070_a_query_string_survives() -> None:
    target = f"{CHAT}?api-version=2024-02-01&x=%2F%20&y=a+b&&z"
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        assert (await post(proxy.service_port, chat(), target)).status == 200
        assert backend.requests[0].target == target


@pytest.mark.parametrize("target", ["//v1/models", "/v1//models", "/v1/models/"])
async def test_c070_a_client_that_writes_a_slash_too_many_is_helped(target: str) -> None:
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        got = await fetch(proxy.service_port, "GET", target)
        if got.status != 200:
            assert got.status == 404
            assert "/v1/models" in got.error["message"]


@pytest.mark.parametrize("target", ["//v1/chat/completions", "/v1//chat/completions"])
async def test_c070_a_post_with_a_slash_too_many_works_or_is_told_the_path(target: str) -> None:
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        got = await post(proxy.service_port, chat(), target)
        if got.status == 200:
            assert backend.requests[0].path == CHAT
        else:
            assert got.status == 404
            assert CHAT in got.error["message"]


async def answers_through(proxy: RunningProxy, backend: ScriptedBackend) -> None:
    """The backend answers through the Proxy, JSON and stream."""
    for streamed, script in ((False, json_answer(completion())), (True, stream(DONE))):
        backend.reply = script
        got = await post(proxy.service_port, chat(stream=streamed))
        assert got.status == 200, got.body
        assert got.header("x-cacheroute-instance") == backend.instance_id
    host = backend.requests[-1].head.one("host")
    assert host == backend.authority.encode()


@pytest.mark.parametrize(
    "form",
    [
        "[::1]:{port}",
        "http://[::1]:{port}",
        "http://[::1]:{port}/v1/",
        "[0:0:0:0:0:0:0:1]:{port}",
    ],
)
async def test_c071_a_static_ipv6_address_works_in_every_form(form: str) -> None:
    async with (
        scripted(host="::1") as backend,
        running_proxy(form.format(port=backend.port)) as proxy,
    ):
        await answers_through(proxy, backend)
        assert [row["instance_id"] for row in await proxy.instances()] == [backend.instance_id]
        assert f'"{backend.instance_id}"' in await proxy.metrics()


async def test_c071_the_forms_of_one_registered_ipv6_address_are_one_instance() -> None:
    async with scripted(host="::1") as backend, running_proxy() as proxy:
        for host in ("::1", "[::1]", "0:0:0:0:0:0:0:1"):
            await proxy.register(host=host, port=backend.port)
        assert [row["instance_id"] for row in await proxy.instances()] == [backend.instance_id]
        await answers_through(proxy, backend)


@pytest.mark.parametrize(
    "host",
    ["", " ", "a b", "http://", "x/../y", "host\r\nx: y", "[::1", "a" * 300, "127.1", "0x7f.1"],
)
async def test_c071_a_host_that_is_none_is_refused_with_the_field(host: str) -> None:
    async with running_proxy() as proxy:
        got = await proxy.control(
            "POST", "/v1/instance/register", {"host": host, "port": 8000}, status=422
        )
        assert any("host" in problem["loc"] for problem in got["detail"])
        assert await proxy.instances() == []


@pytest.mark.parametrize("port", [0, -1, 65536, 99999999, "x", None, 80.5])
async def test_c071_a_port_that_is_none_is_refused_with_the_field(port: object) -> None:
    async with running_proxy() as proxy:
        got = await proxy.control(
            "POST", "/v1/instance/register", {"host": "127.0.0.1", "port": port}, status=422
        )
        assert any("port" in problem["loc"] for problem in got["detail"])


async def test_c071_localhost_reaches_a_server_on_ipv4_only() -> None:
    async with scripted() as backend, running_proxy(f"localhost:{backend.port}") as proxy:
        assert (await post(proxy.service_port, chat())).status == 200


async def test_c071_clients_of_both_families_reach_a_proxy_on_all_addresses() -> None:
    async with (
        scripted() as backend,
        running_proxy(backend.url, proxy__host="::") as proxy,
    ):
        for host in ("127.0.0.1", "::1"):
            got = await fetch(proxy.service_port, "POST", CHAT, body=chat(), host=host)
            assert got.status == 200
