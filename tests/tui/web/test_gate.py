"""The door in front of the console in a browser."""

from collections.abc import AsyncIterator

import aiohttp
import pytest
from aiohttp import web

from cacheroute_tui.web.gate import MAX_SESSIONS, Gate

_TOKEN = "a-token-of-ours"


class _Behind:
    """What stands behind the door, and what has reached it."""

    def __init__(self) -> None:
        self.gate = Gate(_TOKEN)
        self.reached: list[str] = []
        self.url = ""
        self.port = 0

    async def answer(self, request: web.Request) -> web.Response:
        """Note who came."""
        self.reached.append(request.path)
        return web.Response(text="inside")


@pytest.fixture
async def behind() -> AsyncIterator[_Behind]:
    found = _Behind()
    app = web.Application(middlewares=[found.gate.middleware])
    app.router.add_route("*", "/{path:.*}", found.answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    found.port = runner.addresses[0][1]
    found.url = f"http://127.0.0.1:{found.port}"
    yield found
    await runner.cleanup()


@pytest.fixture
async def browser() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        yield session


@pytest.mark.parametrize("path", ["/", "/ws", "/static/js/textual.js", "/download/x", "/enter"])
async def test_without_the_token_nothing_is_reached(
    path: str, behind: _Behind, browser: aiohttp.ClientSession
) -> None:
    async with browser.get(behind.url + path) as answer:
        assert answer.status == 401
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["Cache-Control"] == "no-store"
    assert behind.reached == []


async def test_the_token_in_the_address_is_taken_out_of_it_and_kept_as_something_else(
    behind: _Behind, browser: aiohttp.ClientSession
) -> None:
    async with browser.get(f"{behind.url}/?token={_TOKEN}", allow_redirects=False) as answer:
        assert answer.status == 303
        assert answer.headers["Location"] == "/"
        cookie = answer.headers["Set-Cookie"]
    assert _TOKEN not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    async with browser.get(f"{behind.url}/") as answer:
        assert await answer.text() == "inside"


async def test_the_token_may_be_typed(behind: _Behind, browser: aiohttp.ClientSession) -> None:
    async with browser.post(f"{behind.url}/enter", data={"token": f" {_TOKEN} "}) as answer:
        assert await answer.text() == "inside"


@pytest.mark.parametrize("token", ["", "a-token-of-our", "a-token-of-ourss", "ä", "x" * 10_000])
async def test_another_token_opens_nothing(
    token: str, behind: _Behind, browser: aiohttp.ClientSession
) -> None:
    async with browser.get(f"{behind.url}/", params={"token": token}) as answer:
        assert answer.status in (400, 401)
    async with browser.post(f"{behind.url}/enter", data={"token": token}) as answer:
        assert answer.status == 401
    port = behind.port
    async with browser.get(behind.url, cookies={f"cacheroute_{port}": _TOKEN}) as answer:
        assert answer.status == 401
    assert behind.reached == []


async def test_a_program_may_send_it_as_a_bearer(
    behind: _Behind, browser: aiohttp.ClientSession
) -> None:
    headers = {"Authorization": f"Bearer {_TOKEN}"}
    async with browser.get(behind.url, headers=headers) as answer:
        assert answer.status == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8202", "127.0.0.1.evil.example", "["]
)
async def test_a_name_that_was_bent_to_us_is_refused(
    host: str, behind: _Behind, browser: aiohttp.ClientSession
) -> None:
    headers = {"Authorization": f"Bearer {_TOKEN}", "Host": host}
    async with browser.get(behind.url, headers=headers) as answer:
        assert answer.status == 421
    assert behind.reached == []


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
async def test_a_page_of_another_site_opens_no_connection(
    origin: str, behind: _Behind, browser: aiohttp.ClientSession
) -> None:
    headers = {"Authorization": f"Bearer {_TOKEN}", "Origin": origin}
    async with browser.get(f"{behind.url}/ws", headers=headers) as answer:
        assert answer.status == 403
    assert behind.reached == []


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
async def test_nothing_but_looking_passes(
    method: str, behind: _Behind, browser: aiohttp.ClientSession
) -> None:
    headers = {"Authorization": f"Bearer {_TOKEN}"}
    async with browser.request(method, f"{behind.url}/", headers=headers) as answer:
        assert answer.status == 405
    assert behind.reached == []


async def test_one_console_too_many_is_refused(
    behind: _Behind, browser: aiohttp.ClientSession
) -> None:
    behind.gate.sessions = MAX_SESSIONS
    headers = {"Authorization": f"Bearer {_TOKEN}"}
    async with browser.get(f"{behind.url}/ws", headers=headers) as answer:
        assert answer.status == 503
    behind.gate.sessions -= 1
    async with browser.get(f"{behind.url}/ws", headers=headers) as answer:
        assert answer.status == 200
    assert behind.gate.sessions == MAX_SESSIONS - 1
