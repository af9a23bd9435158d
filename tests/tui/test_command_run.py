"""A command beside the console is the shell's program, with our Proxy and without our rights."""

import asyncio

import pytest

from cacheroute_cli.confirming import require_yes
from cacheroute_cli.context import Context
from cacheroute_cli.diagnostics import UsageFault
from cacheroute_tui.command_run import NEEDS_YES, Ended, environment, run
from cacheroute_tui.options import Target
from tests.cli.live_proxy import live_proxy

_TARGET = Target(proxy_url="http://127.0.0.1:1", token="secret")


async def _ran(*words: str) -> tuple[Ended, str]:
    lines: list[str] = []
    ended = await run(words, environment(_TARGET, may_write=False, width=80), lines.append)
    return ended, "\n".join(lines)


async def test_it_says_what_the_program_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("CACHEROUTE_STATE_DIR", str(tmp_path))

    ended, text = await _ran("explain", "score")

    assert ended == Ended(exit=0)
    assert "score" in text


async def test_a_change_is_refused_before_anything_is_sent(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("CACHEROUTE_STATE_DIR", str(tmp_path))

    ended, text = await _ran("drain", "inst-1", "-y")

    assert ended.exit == 8
    assert "read-only" in text


def test_its_surroundings_name_our_proxy_and_token_and_allow_no_change() -> None:
    found = environment(_TARGET, may_write=False, width=20, environ={"TEXTUAL_DRIVER": "x"})

    assert found["CACHEROUTE_PROXY_URL"] == "http://127.0.0.1:1"
    assert found["CACHEROUTE_TOKEN"] == "secret"
    assert found["CACHEROUTE_READONLY"] == "true"
    assert found["COLUMNS"] == "40"
    assert "TEXTUAL_DRIVER" not in found


async def test_one_that_is_closed_is_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("CACHEROUTE_STATE_DIR", str(tmp_path))
    begun = asyncio.Event()

    def told(_: str) -> None:
        begun.set()

    with live_proxy() as proxy:
        words = ("watch", "-i", "0.2", "-o", "jsonl", "--proxy-url", proxy.url)
        surroundings = environment(_TARGET, may_write=False, width=80)
        running = asyncio.ensure_future(run(words, surroundings, told))
        await begun.wait()
        running.cancel()

        with pytest.raises(asyncio.CancelledError):
            await running


def test_the_words_that_ask_for_a_yes_are_those_of_the_commands() -> None:
    with pytest.raises(UsageFault) as caught:
        require_yes(Context(no_input=True), "drain inst-1: no request runs there")

    assert caught.value.message == f"{NEEDS_YES}drain inst-1: no request runs there"
