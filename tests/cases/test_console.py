"""C103, C104, C106, C107, C109, C110: the console shows anything, and stays in hand."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Iterator

import pytest
from msgspec.structs import replace
from textual import events
from textual.widgets import Input

from cacheroute.client.control import AsyncControlClient
from cacheroute.console.source import SourceFault
from cacheroute.sources.live import LiveSource
from cacheroute.wire.console import ConsoleSnapshot, Identities, Lists
from cacheroute_tui.app import SCREENS
from cacheroute_tui.keymap import COMMON
from cacheroute_tui.options import Target
from cacheroute_tui.widgets.filter_line import FilterLine
from tests.cacheroute.client.canned import a_peer, answer
from tests.cli.live_proxy import live_proxy
from tests.tui.fleet import StillFleet, big_fleet, drawn_fleet, lost
from tests.tui.showing import NARROW, WIDE, console, settle, shown, text_of

NAMES = [one.NAME for one in SCREENS]
HOSTILE = ("[/", "[bold", "a[0]", "[link=x]y", "[@click=app.quit]z", "[red]r[/red]")


def hostile_fleet() -> ConsoleSnapshot:
    document = drawn_fleet()
    assert document.identities is not None
    identities = Identities(
        ids=[*HOSTILE, "b1", "b2"],
        host="[host",
        port=document.identities.port,
        models=Lists(values=[["[/model]"]], at=0),
        tags=Lists(values=[["[tag"]], at=0),
        endpoints=Lists(values=[[]], at=0),
    )
    return replace(document, identities=identities)


@pytest.mark.parametrize("name", NAMES)
async def test_c103_brackets_are_text_on_every_screen(name: str) -> None:
    app = console(StillFleet(hostile_fleet()), screen=name)
    async with shown(app, WIDE) as pilot:
        await pilot.press("down", "e")
        await settle(pilot)
        await pilot.press("escape", "question_mark")
        await settle(pilot)
        await pilot.press("escape")
        await settle(pilot)

        assert app.is_running
        if name == "instances":
            text = text_of(app)
            assert all(one in text for one in HOSTILE)


async def test_c103_a_bracket_in_a_filter_and_in_an_error_is_text() -> None:
    fleet = StillFleet(hostile_fleet())
    app = console(fleet, screen="instances")
    async with shown(app) as pilot:
        await pilot.press("slash", *["left_square_bracket"] * 2, "enter")
        await settle(pilot)
        assert "/[[" in text_of(app)
        fleet.trouble = SourceFault("[/] [bold answered [500]", code="refused")
        for _ in range(3):
            await app.feed.look()
        await settle(pilot)
        assert "[/] [bold answered [500]" in text_of(app)


_LIST = "/v1/instance/list"
_STRANGE = {
    "HTML": {"": b"<html><body>nginx</body></html>"},
    "nothing": {"": b""},
    "a list where an object should be": {"": b"[]"},
    "nulls": {
        "/debug/status": b'{"ok": true, "ttl_s": 30, "alive_instances": 1, "total_instances": 1, '
        b'"expired_instances": 0, "strategy": null, "inflight": null}',
        _LIST: b'[{"instance_id": "i", "host": "h", "port": 1, "registered_at": 1, '
        b'"last_seen_at": 1, "is_alive": true, "load": {"inflight": null}, "models": null}]',
        "/debug/instance_loads": b'{"ok": true, "ttl_s": 30, "generated_at": 5, "instances": '
        b'[{"instance_id": "i", "is_alive": true, "inflight": null}]}',
    },
    "an unknown word and extra keys": {
        "/debug/status": b'{"ok": true, "ttl_s": 30, "alive_instances": 1, "total_instances": 1, '
        b'"expired_instances": 0, "news": {"a": [1]}}',
        _LIST: b'[{"instance_id": "i", "host": "h", "port": 1, "registered_at": 1, "more": 7, '
        b'"last_seen_at": 1, "is_alive": true, "state": "hibernating"}]',
    },
    "text for numbers": {
        "/debug/status": b'{"ok": true, "ttl_s": "soon", "alive_instances": "many", '
        b'"total_instances": 1, "expired_instances": 0}',
        _LIST: b"[]",
    },
}


@pytest.mark.parametrize("kind", _STRANGE)
async def test_c104_strange_replies_open_every_screen_and_are_told_of(kind: str) -> None:
    said = _STRANGE[kind]

    def reply(request: bytes, connection: object) -> None:
        path = request.split(b" ")[1].decode()
        found = next((body for start, body in said.items() if path.startswith(start)), None)
        status = "404 Not Found" if found is None else "200 OK"
        connection.sendall(answer(found or b"{}", status=status))  # type: ignore[attr-defined]

    with a_peer(reply) as url:
        app = console(LiveSource(AsyncControlClient(url, timeout_s=5)), screen="overview")
        async with shown(app) as pilot:
            for number in "987654321":
                await pilot.press(number)
                await settle(pilot)
                assert app.is_running
            for _ in range(3):
                await app.feed.look()
            await settle(pilot)
            text = text_of(app)
    if kind in ("nulls", "an unknown word and extra keys"):
        assert "● LIVE" in text
    else:
        assert "✕ LOST" in text
        assert "not understood" in text


async def test_c104_five_thousand_rows_are_scrolled_without_writing_them_all() -> None:
    app = console(StillFleet(big_fleet(5_000)), screen="instances")
    async with shown(app) as pilot:
        await pilot.press("G")
        await settle(pilot)
        assert app.front is not None
        last = app.front.selected_id()
        assert last is not None
        assert last in text_of(app)
        await pilot.press("g", "pagedown")
        await settle(pilot)
        assert app.front.selected_id() != last


@pytest.mark.parametrize("name", NAMES)
async def test_c106_a_storm_of_sizes_harms_no_screen(name: str) -> None:
    app = console(screen=name)
    async with shown(app, (40, 10)) as pilot:
        for keys in ((), ("question_mark",), ("C",)):
            await pilot.press(*keys)
            for size in ((200, 50), (70, 24), (20, 5), (1, 1), NARROW):
                await pilot.resize_terminal(*size)
                await app.feed.look()
            await pilot.press("escape")
        await settle(pilot)

        assert app.is_running
        assert "● LIVE" in text_of(app)
        assert "Quit" in text_of(app)


_COLOR = re.compile(rb"\x1b\[[0-9;]*(?<![0-9])(3[0-8]|4[0-8]|9[0-7]|10[0-7])[;m]")


class Terminal:
    """A console in a terminal, and all that it wrote."""

    def __init__(self, **variables: str) -> None:
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            words = ["-P", "-m", "cacheroute_tui", "--proxy-url=http://127.0.0.1:9"]
            environ = {**os.environ, "TERM": "xterm-256color", **variables}
            os.execve(sys.executable, [sys.executable, *words], environ)  # noqa: S606 - ours
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.said = b""
        until_s = time.monotonic() + 60
        while b"Quit" not in self.said and time.monotonic() < until_s:
            if not select.select([self.fd], [], [], 0.1)[0]:
                continue
            try:
                self.said += os.read(self.fd, 65_536)
            except OSError:
                break

    def end(self) -> int:
        """End it; returns the exit code, or -9 where it had to be ended."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if not pid:
            os.kill(self.pid, signal.SIGKILL)
            _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


@pytest.fixture
def terminals() -> Iterator[list[Terminal]]:
    """Keep terminals, and end what runs in them."""
    found: list[Terminal] = []
    yield found
    for one in found:
        one.end()


def test_c107_no_color_is_obeyed_and_an_empty_one_means_nothing(terminals: list[Terminal]) -> None:
    terminals += [Terminal(NO_COLOR="1"), Terminal(NO_COLOR="")]
    without, with_ = (one.said for one in terminals)

    assert b"CONNECTING" in without
    assert not _COLOR.search(without)
    assert _COLOR.search(with_)


def test_c107_a_dumb_terminal_is_refused_with_a_word() -> None:
    terminal = Terminal(TERM="dumb")
    code = terminal.end()

    assert b"the console needs a terminal" in terminal.said
    assert code in (2, -9)


async def test_c107_states_differ_by_word_and_sign_without_any_colour() -> None:
    app = console(screen="instances", theme="mono")
    async with shown(app):
        lines = text_of(app).splitlines()

    for sign, word, name in (
        ("●", "alive", "9001"), ("■", "drain", "9005"), ("◐", "stale", "9003"),
        ("✕", "dead", "9010"),
    ):  # fmt: skip
        line = next(line for line in lines if f"inst-{name} " in line)
        assert sign in line
        assert word in line


async def test_c109_a_proxy_that_ends_and_comes_back_as_another_is_followed() -> None:
    with live_proxy() as first:
        first.register("one")
        app = console(LiveSource(AsyncControlClient(first.url, timeout_s=2)), screen="instances")
        async with shown(app) as pilot:
            assert "one" in text_of(app)
            fleet = StillFleet(drawn_fleet())
            fleet.trouble = lost()
            app.feed.source = fleet
            for _ in range(3):
                await app.feed.look()
            await settle(pilot)
            text = text_of(app)
            assert "✕ LOST" in text
            assert "one" in text, "the last that was seen stays"
            await pilot.press("s")
            await settle(pilot)
            assert len(app.screen_stack) == 2, "keys are answered"
            await pilot.press("escape")
            with live_proxy() as second:
                second.register("two")
                app.feed.source = LiveSource(AsyncControlClient(second.url, timeout_s=2))
                await app.feed.look()
                await settle(pilot)
                text = text_of(app)
                assert "● LIVE" in text
                assert "two" in text
                assert " one " not in text
                await app.feed.source.close()


async def test_c109_a_permission_that_is_lost_is_stated() -> None:
    with live_proxy(control__token="right") as proxy:
        source = LiveSource(AsyncControlClient(proxy.url, token="wrong", timeout_s=5))
        app = console(source, screen="instances")
        async with shown(app) as pilot:
            for _ in range(3):
                await app.feed.look()
            await settle(pilot)

            assert "401" in text_of(app)
            await pilot.press("q")
            await settle(pilot)
    assert not app.is_running


async def test_c110_letters_and_pastes_go_into_the_field_and_run_nothing() -> None:
    app = console(screen="instances", write=True)
    async with shown(app) as pilot:
        await pilot.press("slash", "q", "d", "colon")
        field = app.screen.query_one(FilterLine).query_one(Input)
        assert field.value == "qd:"
        field.value = ""
        field.post_message(events.Paste("drain inst-9001 -y\nq\n:down\n"))
        await settle(pilot)
        assert app.is_running
        assert len(app.screen_stack) == 1
        assert field.value == "drain inst-9001 -y"
        await pilot.press("escape")
        await settle(pilot)
        assert "inst-9001" in text_of(app)


async def test_c110_a_harmful_key_of_a_console_that_only_looks_does_not_even_ask() -> None:
    app = console(screen="instances")
    async with shown(app) as pilot:
        await pilot.press("d", "u")
        await settle(pilot)

        assert len(app.screen_stack) == 1


@pytest.mark.parametrize("over", ["question_mark", "e", "s", "C", "slash"])
async def test_c110_ctrl_c_is_a_way_out_of_everything_that_is_open(over: str) -> None:
    ways = {key.keys for key in COMMON if key.action in ("app.quit", "app.copy_or_quit")}
    app = console(screen="instances", targets=(Target(proxy_url="http://a", name="a"),))
    async with shown(app) as pilot:
        await pilot.press(over)
        await settle(pilot)
        await pilot.press("ctrl+c")
        await settle(pilot)

    assert ways == {"q", "ctrl+c"}
    assert app.return_value == 130
