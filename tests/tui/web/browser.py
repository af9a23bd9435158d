"""A real browser without a window, spoken to over its own debugging protocol on loopback."""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from cacheroute_cli.supervisor import shim
from tests.support.waiting import eventually_is

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
TIED = (sys.executable, "-I", "-S", shim.__file__, str(os.getpid()))
"""Before a program: it ends with us, however we end."""
_START_S = 60.0


def find_browser() -> str | None:
    """Return the path of a browser; None where there is none."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Page:
    """One page of the browser."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._number = 0

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask the browser to do something; returns what it says."""
        self._number += 1
        await self._socket.send_json({"id": self._number, "method": method, "params": parameters})
        while True:
            told = await self._socket.receive_json()
            if told.get("id") == self._number:
                assert "error" not in told, told
                result: dict[str, Any] = told["result"]
                return result

    async def value(self, script: str) -> Any:
        """Return what a script of the page is worth."""
        told = await self.call("Runtime.evaluate", expression=script, returnByValue=True)
        return told["result"].get("value")

    async def text_with(self, script: str, wanted: str) -> str:
        """Ask for a text until something stands in it."""

        async def text() -> str:
            return str(await self.value(script))

        return await eventually_is(text, lambda found: wanted in found, within_s=_START_S)


@asynccontextmanager
async def browser_page(browser: str, folder: Path) -> AsyncIterator[Page]:
    """Start a browser that reaches this host alone, and end it."""
    environ = dict(os.environ) | {"HOME": str(folder), "XDG_RUNTIME_DIR": str(folder)}
    process = await asyncio.create_subprocess_exec(
        *TIED, browser,
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        "--no-first-run", "--disable-extensions", "--disable-background-networking",
        "--disable-component-update", "--disable-sync", "--no-proxy-server",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        "--remote-debugging-port=0", f"--user-data-dir={folder / 'profile'}",
        "--window-size=1500,950", "about:blank",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        env=environ,
        start_new_session=True,
    )  # fmt: skip
    try:
        async with asyncio.timeout(_START_S):
            port = await _port_of(folder / "profile" / "DevToolsActivePort")
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://127.0.0.1:{port}/json/list") as answer:
                pages = [one for one in await answer.json() if one["type"] == "page"]
            address = pages[0]["webSocketDebuggerUrl"]
            async with session.ws_connect(address, max_msg_size=0) as socket:
                yield Page(socket)
    finally:
        # The group is ours: it was started as a session of its own.
        os.killpg(process.pid, signal.SIGTERM)
        try:
            await asyncio.wait_for(process.wait(), 10)
        except TimeoutError:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


async def _port_of(path: Path) -> int:
    while True:
        if lines := await asyncio.to_thread(_lines_of, path):
            return int(lines[0])
        await asyncio.sleep(0.05)


def _lines_of(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []
