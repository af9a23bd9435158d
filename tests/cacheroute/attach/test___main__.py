"""The program itself, between a real Proxy and a demo Instance that knows of no pool."""

import asyncio
import contextlib
import signal
from functools import partial

import pytest

from tests.cacheroute.attach.engine import engine
from tests.support.demo import demo_instance
from tests.support.programs import ended, running
from tests.support.proxy import RunningProxy, running_proxy
from tests.support.waiting import eventually_is

program = partial(running, "cacheroute.attach")


async def announced(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    async with asyncio.timeout(20):
        return (await process.stdout.readline()).decode().strip()


async def states(proxy: RunningProxy) -> dict[str, str]:
    return {row["instance_id"]: row["state"] for row in await proxy.instances()}


@pytest.mark.parametrize("each", [signal.SIGTERM, signal.SIGINT])
async def test_a_foreign_server_joins_the_pool_and_leaves_it(each: signal.Signals) -> None:
    with demo_instance(model="m") as url:
        async with (
            running_proxy() as proxy,
            program("--endpoint", url, "--proxy-cp-url", proxy.control_url, "--no-agent",
                    "--instance-id", "i-1") as process,
        ):  # fmt: skip
            assert await announced(process) == f"attached i-1 at {url} to {proxy.control_url}"
            [row] = await proxy.instances()
            assert (row["state"], row["base_path"]) == ("alive", "")
            assert (row["meta"]["engine"], row["meta"]["model"]) == ("vllm", "m")
            assert "chat/completions" in row["endpoints"]
            process.send_signal(each)
            code, errors = await ended(process)
            assert await states(proxy) == {}
    assert (code, errors.count("\n")) == (0, 1)


async def test_a_proxy_that_restarts_gets_it_back() -> None:
    with demo_instance() as url:
        async with running_proxy(pool__ttl_s=3) as proxy, contextlib.AsyncExitStack() as held:
            port, control = proxy.control_port, proxy.control_url
            argv = ("--endpoint", url, "--proxy-cp-url", control, "--instance-id", "i")
            process = await held.enter_async_context(program(*argv, "--no-agent"))
            assert (await announced(process)).startswith("attached i ")
            attached = held.pop_all()
        async with attached, running_proxy(control__port=port) as proxy:
            await eventually_is(
                lambda: states(proxy), lambda seen: seen == {"i": "alive"}, within_s=20
            )


async def test_a_server_that_restarts_is_alive_again() -> None:
    async with engine() as playing, running_proxy(pool__ttl_s=1) as proxy:
        argv = ("--endpoint", playing.url, "--proxy-cp-url", proxy.control_url, "--no-agent",
                "--instance-id", "i", "--interval", "0.05")  # fmt: skip
        async with program(*argv) as process:
            await announced(process)
            await playing.close()
            await eventually_is(
                lambda: states(proxy), lambda seen: seen == {"i": "stale"}, within_s=20
            )
            await playing.open()
            await eventually_is(
                lambda: states(proxy), lambda seen: seen == {"i": "alive"}, within_s=20
            )


@pytest.mark.parametrize(
    ("argv", "code", "why"),
    [
        (("--endpoint", "http://127.0.0.1:1"), 3, "cannot reach http://127.0.0.1:1/health"),
        (("--endpoint", "{url}", "--model", "x"), 2, "does not serve 'x'; it serves 'tiny'"),
        (
            ("--endpoint", "{url}", "--proxy-cp-url", "http://127.0.0.1:1"),
            3,
            "is the Proxy running",
        ),
        (("--endpoint", "nonsense"), 2, "--endpoint: "),
    ],
)
async def test_what_cannot_be_attached_is_one_sentence(
    argv: tuple[str, ...], code: int, why: str
) -> None:
    async with engine() as playing, program(*(a.format(url=playing.url) for a in argv)) as process:
        ended_with, errors = await ended(process)
    error, *hint = errors.splitlines()
    assert ended_with == code
    assert error.startswith("cacheroute: error: ")
    assert why in errors
    assert all(line.startswith("  hint: ") for line in hint)


async def test_a_signal_while_it_waits_ends_it_without_a_word() -> None:
    async with program("--endpoint", "http://127.0.0.1:1", "--wait", "60") as process:
        assert process.stderr is not None
        async with asyncio.timeout(20):
            assert (await process.stderr.readline()).endswith(b"; waiting\n")
        process.send_signal(signal.SIGTERM)
        assert await ended(process) == (0, "")
