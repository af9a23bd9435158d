"""The console in a real browser, over loopback: behind its token, and only looking."""

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from cacheroute_tui.web.serving import console_command, only_looking
from tests.cli.live_proxy import live_proxy
from tests.tui.web.browser import TIED, browser_page, find_browser

_WITHOUT_WEBGL = """
const contextOf = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
  return kind.startsWith('webgl') ? null : contextOf.call(this, kind, ...more);
};
"""
"""Drawn without it, the lines of the terminal are text of the page."""
_CLOCK = re.compile(rb"\d\d:\d\d:\d\d")
_TEXT = "(document.querySelector('.xterm-rows') || {}).innerText || ''"


@asynccontextmanager
async def served(folder: Path, *words: str) -> AsyncIterator[str]:
    """Serve the console and give the address that lets in."""
    process = await asyncio.create_subprocess_exec(
        *TIED, sys.executable, "-m", "cacheroute_tui.web", "--listen", "127.0.0.1:0", "--", *words,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=dict(os.environ) | {"CACHEROUTE_STATE_DIR": str(folder / "state"),
                                "XDG_CONFIG_HOME": str(folder / "config")},
    )  # fmt: skip
    assert process.stdout is not None
    try:
        async with asyncio.timeout(60):
            yield (await process.stdout.readline()).decode().strip()
    finally:
        process.terminate()
        async with asyncio.timeout(30):
            assert await process.wait() == 0


async def test_a_browser_shows_the_overview_of_a_proxy(tmp_path: Path) -> None:
    browser = find_browser()
    if browser is None:
        pytest.skip("there is no chromium here")
    with live_proxy() as proxy:
        proxy.register("web-1", "web-2")
        async with (
            served(tmp_path, f"--proxy-url={proxy.url}") as address,
            browser_page(browser, tmp_path) as page,
        ):
            await page.call("Page.enable")
            await page.call("Page.addScriptToEvaluateOnNewDocument", source=_WITHOUT_WEBGL)
            await page.call("Page.navigate", url=address)
            await page.text_with(_TEXT, "LIVE")
            text = await page.text_with(_TEXT, "1 OVERVIEW")
            assert "alive 2" in text
            assert " RO " in text
            assert "WRITE" not in text
            # The token is no longer in the address, nor where a script could read it.
            assert await page.value("location.search + document.cookie") == ""

            # What is typed arrives: `2` goes to the Instances.
            await page.call("Input.insertText", text="2")
            await page.text_with(_TEXT, "web-2")


async def test_who_has_no_token_gets_no_console(tmp_path: Path) -> None:
    async with served(tmp_path, "--demo") as address, aiohttp.ClientSession() as session:
        bare = address.partition("?")[0]
        async with session.get(bare) as answer:
            assert answer.status == 401
        with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
            await session.ws_connect(f"{bare}ws")

        assert caught.value.status == 401


async def test_a_console_over_the_socket_draws_and_ends_with_it(tmp_path: Path) -> None:
    jar = aiohttp.CookieJar(unsafe=True)
    async with (
        served(tmp_path, "--demo") as address,
        aiohttp.ClientSession(cookie_jar=jar) as session,
    ):
        async with session.get(address) as answer:
            page = await answer.text()
        bare = address.partition("?")[0]
        assert f"ws://{bare.removeprefix('http://')}ws" in page
        drawn = b""
        async with session.ws_connect(f"{bare}ws?width=80&height=24") as socket:
            # For longer than a console goes on whose terminal has gone: a browser has none.
            while b"LIVE" not in drawn or len(set(_CLOCK.findall(drawn))) < 4:
                told = await socket.receive()
                assert told.type is aiohttp.WSMsgType.BINARY, told
                drawn += told.data
            await socket.send_str(json.dumps(["ping", 1]))
            while (told := await socket.receive()).type is not aiohttp.WSMsgType.TEXT:
                assert told.type is aiohttp.WSMsgType.BINARY, told
            assert json.loads(told.data) == ["pong", 1]


def test_a_console_for_a_browser_is_started_without_the_right_to_change() -> None:
    command = console_command(["--demo"])

    assert "--write" not in command
    assert command[-2:] == ["cacheroute_tui.web.console", "--demo"]
    assert only_looking({"A": "b"})["CACHEROUTE_READONLY"] == "true"
