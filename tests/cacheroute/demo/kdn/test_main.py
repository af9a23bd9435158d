"""The program itself: a real process, a real Redis, an engine over HTTP."""

import signal
import socket
from functools import partial

import httpx
import pytest

from cacheroute.member.arguments import EXIT_USAGE
from cacheroute.member.running import EXIT_CANNOT_LISTEN
from cacheroute.wire import paths
from tests.cacheroute.demo.kdn.live import MODEL, engine, exists, redis_fields
from tests.support.programs import ended, listening, started
from tests.support.redis import RedisServer

program = partial(listening, "cacheroute.demo.kdn")


async def run(*argv: str) -> tuple[int | None, str]:
    """Run one that is to end by itself."""
    return await ended(await started("cacheroute.demo.kdn", *argv))


async def test_text_becomes_kv_in_another_redis_over_a_link(redis_server: RedisServer) -> None:
    async with (
        engine(redis_server) as each,
        program("--bandwidth-mbps", "8000", "--link-efficiency", "1", "--delay-ms", "1") as (
            process,
            url,
        ),
        httpx.AsyncClient(base_url=url, timeout=20, trust_env=False) as http,
    ):
        text = "knowledge " * 4
        registered = await http.post(paths.KNOWLEDGE_REGISTER_TEXT, json={"content": text})
        kid = registered.json()["kid"]
        build = {"kid": kid, "api_url": each.url, "model": MODEL, **redis_fields(redis_server)}
        assert (await http.post(paths.KNOWLEDGE_BUILD_KV, json=build)).json()["dumped_keys"] == 4
        redis_server.flush()

        inject = {
            "request_id": 1, "model": MODEL, "knowledge_ids": [kid, "ff"],
            **redis_fields(redis_server),
        }  # fmt: skip
        reply = (await http.post(paths.KNOWLEDGE_INJECT_READY_KV, json=inject)).json()

        assert len(redis_server.stored_keys()) == reply["keys_injected"] == 4
        assert (reply["injected_kids"], reply["miss_kids"]) == ([kid], ["ff"])
        # 4 MB at 1 MB in a millisecond, and the delay.
        assert reply["network_transfer_ms"] >= 5
        assert reply["payload_bytes"] == 4_000_000

        with redis_server.stopped():
            reply = (await http.post(paths.KNOWLEDGE_INJECT_READY_KV, json=inject)).json()
        assert (reply["ok"], reply["text_only_kids"]) == (True, [kid])
        assert "cannot be reached" in reply["detail"]

        process.send_signal(signal.SIGTERM)
        assert await ended(process) == (0, "")


async def test_an_interrupt_ends_it_too_and_removes_its_database() -> None:
    async with (
        program() as (process, url),
        httpx.AsyncClient(base_url=url, trust_env=False) as http,
    ):
        status = (await http.post(paths.KNOWLEDGE_POOL_STATUS, json={})).json()
        process.send_signal(signal.SIGINT)
        assert await ended(process) == (0, "")

    assert not exists(status["db_dir"])


async def test_a_taken_port_is_one_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        code, said = await run("--port", str(port))

    assert code == EXIT_CANNOT_LISTEN
    assert said.startswith(f"cacheroute: error: cannot listen on 127.0.0.1:{port}: ")
    assert said.count("\n") == 1


@pytest.mark.parametrize("option", [("--bandwidth-mbps", "-1"), ("--db", "/no/folder/k.sqlite3")])
async def test_what_cannot_be_is_one_sentence_and_exit_2(option: tuple[str, str]) -> None:
    code, said = await run("--port", "0", *option)

    assert code == EXIT_USAGE
    error, *hint = said.splitlines()
    assert error.startswith("cacheroute: error: ")
    assert len(hint) <= 1
