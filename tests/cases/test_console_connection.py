"""C109: packets that vanish, tokens that are revoked, and answers that are none."""

import gzip
import math
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from textual.pilot import Pilot

from cacheroute.client.control import ControlClient
from cacheroute.core.clock import Instant
from cacheroute.wire.instances import RegisterBody
from cacheroute_tui.app import ConsoleApp
from cacheroute_tui.clock import SystemClock
from cacheroute_tui.opening import open_source
from cacheroute_tui.options import Target, TuiOptions
from tests.cacheroute.client.canned import a_peer, answer, dripping
from tests.cli.live_proxy import LiveProxy, live_proxy
from tests.support.relay import a_relay
from tests.tui.fleet import StillClock, StillFleet, drawn_fleet
from tests.tui.showing import console, settle, shown, text_of

PATIENCE_S = 60.0


@asynccontextmanager
async def a_console(*targets: Target) -> AsyncIterator[tuple[ConsoleApp, Pilot[int]]]:
    """Look at the first of them, over a real connection and by a real clock."""
    options = TuiOptions(target=targets[0], targets=targets, screen="instances", interval_s=0.5)
    app = ConsoleApp(options, connect=open_source, clock=SystemClock())
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        yield app, pilot


async def until(app: ConsoleApp, pilot: Pilot[int], *wanted: str) -> str:
    """Look again and again until all of this is shown, in whatever lines; returns what is."""
    until_s = time.monotonic() + PATIENCE_S
    while True:
        await pilot.press("full_stop")
        await pilot.pause(0.05)
        text = text_of(app)
        if all(one in " ".join(text.split()) for one in wanted):
            return text
        assert time.monotonic() < until_s, text


async def keys_are_answered(app: ConsoleApp, pilot: Pilot[int]) -> None:
    """Open a dialog and close it."""
    await pilot.press("s")
    await settle(pilot)
    assert len(app.screen_stack) == 2
    await pilot.press("escape")
    await settle(pilot)
    assert len(app.screen_stack) == 1


def has_a_gap(app: ConsoleApp) -> bool:
    """Whether its history knows something, then nothing, then something again."""
    values = app.store.history.pool("alive").values
    known = [not math.isnan(value) for value in values]
    return known[0] and known[-1] and not all(known)


def register(proxy: LiveProxy, instance_id: str, token: str) -> None:
    """Let an Instance come to a Proxy that asks for a token."""
    with ControlClient(proxy.url, token=token, timeout_s=20) as client:
        client.register(RegisterBody(instance_id=instance_id, host="127.0.0.1", port=9401))


async def test_c109_packets_that_vanish_cost_no_key_no_context_and_no_picture() -> None:
    with live_proxy() as first, live_proxy() as second:
        first.register("one")
        second.register("two")
        async with a_relay(first.url) as relay:
            targets = (
                Target(proxy_url=relay.url, name="far", timeout_s=0.5),
                Target(proxy_url=second.url, name="near", timeout_s=20),
            )
            async with a_console(*targets) as (app, pilot):
                await until(app, pilot, "● LIVE", "one")
                relay.swallow()
                text = await until(app, pilot, "✕ LOST", "did not answer within 0.5 s")
                assert "one" in text, "the last that was seen stays"
                await keys_are_answered(app, pilot)
                relay.carry()
                await until(app, pilot, "● LIVE", "one")
                assert has_a_gap(app)

                relay.swallow()
                await until(app, pilot, "✕ LOST")
                await app.look_at(targets[1])
                text = await until(app, pilot, "● LIVE", "▸near", "two")
                assert " one " not in text
                await app.look_at(targets[0])
                await until(app, pilot, "✕ LOST")
                await pilot.press("q")
                await settle(pilot)
            assert not app.is_running


async def test_c109_a_token_that_is_revoked_is_named_and_its_file_is_read_anew(
    tmp_path: Path,
) -> None:
    file = tmp_path / "lab-token"
    file.write_text("old\n")
    with live_proxy(control__token="old") as first, live_proxy(control__token="new") as second:
        register(first, "one", "old")
        register(second, "two", "new")
        async with a_relay(first.url) as relay:
            target = Target(
                proxy_url=relay.url, name="lab", timeout_s=20, token="old",
                token_origin="token_file lab-token", token_file=file,
            )  # fmt: skip
            async with a_console(target) as (app, pilot):
                await until(app, pilot, "● LIVE", "one")
                relay.carry(second.url)
                text = await until(
                    app, pilot, "✕ LOST", "401: the token of token_file lab-token is refused"
                )
                assert "one" in text, "the last that was seen stays"
                file.write_text("")
                await until(app, pilot, "is refused")
                file.write_text("new\n")
                text = await until(app, pilot, "● LIVE", "two")
                assert " one " not in text
                assert has_a_gap(app)


async def test_c109_a_token_of_the_environment_is_named_and_right_again_when_the_proxy_is() -> None:
    with live_proxy(control__token="old") as first, live_proxy(control__token="new") as second:
        register(first, "one", "old")
        async with a_relay(first.url) as relay:
            known = Target(
                proxy_url=relay.url, name="a", timeout_s=20, token="old",
                token_origin="CACHEROUTE_TOKEN",
            )  # fmt: skip
            other = Target(proxy_url=second.url, name="b", timeout_s=20, token="new")
            none = Target(proxy_url=second.url, name="c", timeout_s=20)
            async with a_console(known, other, none) as (app, pilot):
                await until(app, pilot, "● LIVE", "one")
                relay.carry(second.url)
                await until(app, pilot, "the token of --token or CACHEROUTE_TOKEN is refused")
                await keys_are_answered(app, pilot)
                relay.carry(first.url)
                await until(app, pilot, "● LIVE", "one")
                await app.look_at(none)
                await until(app, pilot, "401", "no token is given")
                await app.look_at(other)
                await until(app, pilot, "● LIVE", "▸b")


GOOD = answer(msgspec.json.encode(drawn_fleet()))
HTML = b"<html>\n<head><title>502 Bad\nGateway</title></head><body>nginx</body></html>"
HALF = b'{"rev": 1, "generated_at": 17'
PACKED = gzip.compress(HALF)
Reply = Callable[[bytes, socket.socket], None]


def saying(raw: bytes) -> Reply:
    return lambda _, connection: connection.sendall(raw)


def without_end(_: bytes, connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        connection.sendall(b" " * 65_536)


NO_ANSWERS: dict[str, tuple[Reply, str]] = {
    "a failure": (saying(answer(b"Oh", status="500 No")), "answered 500: Oh"),
    "a gateway's page": (
        saying(answer(HTML, status="502 No")), "answered 502: a page of HTML (502 Bad Gateway)",
    ),
    "a page": (
        saying(answer(HTML)),
        "it is a page of HTML (502 Bad Gateway); is it the control plane of a Proxy?",
    ),
    "a page for all that is not there": (
        saying(answer(HTML, status="404 No")),
        "answered 404: a page of HTML (502 Bad Gateway); is it the control plane of a Proxy?",
    ),
    "half of a document": (saying(answer(HALF)), "is not understood: Input data was truncated"),
    "less than was promised": (
        saying(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"), "closed connection without",
    ),
    "the way to somewhere else": (
        saying(answer(b"", status="302 No", headers="Location: http://sso.example/x\r\n")),
        "answered 302: it is at http://sso.example/x; is it the control plane of a Proxy?",
    ),
    "something compressed": (
        saying(answer(PACKED, headers="Content-Encoding: gzip\r\n")), "it is compressed",
    ),
    "no for everybody": (
        saying(answer(b'{"error":"not_from_here"}', status="403 No")),
        "answered 403: not_from_here: the token is refused",
    ),
    "no text": (saying(answer(bytes(range(256)), status="500 No")), "256 bytes that are no text"),
    "a body without an end": (without_end, "is not understood: it is larger than"),
    "a head without an end": (
        dripping(b"X-More: to come\r\n", after=b"HTTP/1.1 200 OK\r\n", every_s=0.02),
        "did not answer within 1 s",
    ),
    "an end at once": (saying(b""), "Server disconnected without sending a response"),
    "another protocol": (saying(b"SSH-2.0-OpenSSH\r\n"), "is not understood"),
}  # fmt: skip


@pytest.mark.parametrize("kind", NO_ANSWERS)
async def test_c109_an_answer_that_is_none_is_told_in_words_and_survived(kind: str) -> None:
    bad, words = NO_ANSWERS[kind]
    is_good = True

    def reply(request: bytes, connection: socket.socket) -> None:
        if not is_good:
            bad(request, connection)
            return
        is_look = b"/v1/console/snapshot" in request
        connection.sendall(GOOD if is_look else answer(b"", status="404 No"))

    with a_peer(reply) as url:
        async with a_console(Target(proxy_url=url, name="odd", token="t", timeout_s=1)) as (
            app, pilot,
        ):  # fmt: skip
            await until(app, pilot, "● LIVE", "inst-9001")
            is_good = False
            text = await until(app, pilot, "✕ LOST", words)
            assert "inst-9001" in text, "the last that was seen stays"
            assert "now" in text or "asking again" in text, "when it is tried again is not cut"
            await keys_are_answered(app, pilot)
            is_good = True
            await until(app, pilot, "● LIVE", "inst-9001")
            assert has_a_gap(app)
            await pilot.press("q")
            await settle(pilot)
        assert not app.is_running


class JumpingClock(StillClock):
    """Has a time of day that somebody sets."""

    set_by_s = 0.0

    def now(self) -> Instant:
        """Return the moment it stands at."""
        now = super().now()
        return Instant(mono_s=now.mono_s, wall_s=now.wall_s + self.set_by_s)


@pytest.mark.parametrize("jump_s", [-86_400.0, -1.0, 86_400.0, 1e9])
async def test_c109_a_clock_that_is_set_makes_nothing_old_and_nothing_from_the_future(
    jump_s: float,
) -> None:
    clock, fleet = JumpingClock(), StillFleet(drawn_fleet())
    app = console(fleet, clock=clock)
    async with shown(app) as pilot:
        before = [line[:60] for line in text_of(app).splitlines()[3:12]]
        clock.set_by_s = jump_s
        fleet.document = msgspec.structs.replace(
            fleet.document, rev=2, generated_at=fleet.document.generated_at + jump_s
        )
        for number in "123456789":
            clock.move(1.0)
            await pilot.press(number)
            await app.feed.look()
            await settle(pilot)
            assert "● LIVE" in text_of(app)
        await pilot.press("2")
        await settle(pilot)
        assert [line[:60] for line in text_of(app).splitlines()[3:12]] == before
        assert app.store.snapshot.connection.failures == 0


async def test_c109_a_console_that_stood_still_has_a_gap_there_and_no_line() -> None:
    clock = StillClock()
    app = console(StillFleet(drawn_fleet()), clock=clock)
    async with shown(app):
        for seconds in (1.0, 1.0, 600.0, 1.0):
            clock.move(seconds)
            await app.feed.look()
        values = app.store.history.trend("inst-9001", "inflight", last=6)

    assert [math.isnan(value) for value in values] == [False, False, False, True, False, False]
