"""The stream as its server sees it: who is let in, what is sent when, and who is cut off."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.types import Message

from cacheroute.planes.console import ConsolePages
from cacheroute.planes.console_stream import MAX_READERS, ConsoleStream, event_of
from tests.cacheroute.core.pool_builders import an_instance, at, joined
from tests.cacheroute.planes.control_parts import Owner
from tests.support.sse import events
from tests.support.waiting import eventually

SCOPE: dict[str, Any] = {"type": "http", "client": ("127.0.0.1", 50_000)}


class Reader:
    """One who reads along, or stops reading."""

    def __init__(self) -> None:
        self.status = 0
        self.body = b""
        self.ended = False
        self.has_left = asyncio.Event()
        self.is_stuck = False

    async def receive(self) -> Message:
        await self.has_left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            return
        if self.is_stuck and message["body"]:
            await asyncio.Event().wait()
        self.body += message["body"]
        self.ended = not message.get("more_body", False)

    @property
    def kinds(self) -> list[bytes]:
        return [event.name for event in events(self.body)]


class Setting:
    """A pool, its stream, and the addresses that were cut off."""

    def __init__(self, **changes: float) -> None:
        self.owner = Owner()
        joined(self.owner.pool, an_instance("a"), self.owner.clock.now())
        self.stopping = asyncio.Event()
        self.cut: list[object] = []
        waits = {"every_s": 0.005, "keep_alive_s": 60.0, "slow_s": 5.0, **changes}
        self.stream = ConsoleStream(
            ConsolePages(self.owner), self.stopping, self.cut.append, **waits
        )

    def change(self) -> None:
        """Let there be news."""
        self.owner.pool.members["a"].inflight += 1
        self.later(1.0)

    def later(self, seconds: float) -> None:
        """Let time pass."""
        self.owner.clock.instant = at(self.owner.clock.instant.mono_s + seconds)

    @asynccontextmanager
    async def reading(self, reader: Reader) -> AsyncIterator["asyncio.Task[None]"]:
        response = self.stream.open()
        task = asyncio.ensure_future(response(SCOPE, reader.receive, reader.send))
        try:
            yield task
        finally:
            reader.has_left.set()
            async with asyncio.timeout(5.0):
                await task


async def test_the_whole_comes_first_and_then_only_what_is_new() -> None:
    setting, reader = Setting(), Reader()
    async with setting.reading(reader):
        await eventually(lambda: reader.kinds == [b"snapshot"])
        setting.change()
        await eventually(lambda: reader.kinds == [b"snapshot", b"change"])
        joined(setting.owner.pool, an_instance("b", port=9009), setting.owner.clock.now())
        setting.later(1.0)
        await eventually(lambda: reader.kinds == [b"snapshot", b"change", b"snapshot"])

    first, second, third = [event.json() for event in events(reader.body)]
    assert reader.status == 200
    assert first["identities"]["ids"] == ["a"]
    assert (second["identities"], second["instances"]["inflight"]) == (None, 1)
    assert third["identities"]["ids"] == ["a", "b"]
    assert first["rev"] < second["rev"] < third["rev"]


async def test_a_silence_ends_with_a_comment() -> None:
    setting, reader = Setting(keep_alive_s=0.0), Reader()
    async with setting.reading(reader):
        await eventually(lambda: b"\n: nothing new\n" in reader.body)

    assert reader.kinds == [b"snapshot"]


async def test_it_ends_with_the_proxy_as_an_answer_that_is_whole() -> None:
    setting, reader = Setting(), Reader()
    async with setting.reading(reader) as task:
        await eventually(lambda: reader.kinds)
        setting.stopping.set()
        await eventually(task.done)

    assert reader.ended
    assert setting.stream.readers == 0


async def test_it_ends_when_its_reader_leaves_and_makes_room() -> None:
    setting, reader = Setting(), Reader()
    async with setting.reading(reader) as task:
        await eventually(lambda: setting.stream.readers == 1)
        reader.has_left.set()
        await eventually(task.done)

    assert setting.stream.readers == 0
    assert setting.cut == []


async def test_a_reader_that_does_not_read_is_cut_off() -> None:
    setting, reader = Setting(slow_s=0.02), Reader()
    reader.is_stuck = True
    async with setting.reading(reader) as task:
        await eventually(task.done)

    assert setting.cut == [SCOPE["client"]]
    assert setting.stream.readers == 0


async def test_there_is_room_for_eight_and_none_while_the_proxy_stops() -> None:
    setting = Setting()
    setting.stream.readers = MAX_READERS

    refused = setting.stream.open()
    assert refused.status_code == 503
    assert b"too_many_readers" in refused.body
    assert refused.headers["retry-after"] == "5"

    setting.stream.readers = 0
    setting.stopping.set()
    assert b"draining" in setting.stream.open().body


async def test_readers_share_one_document() -> None:
    setting = Setting(every_s=0.5)
    readers = [Reader() for _ in range(3)]
    async with (
        setting.reading(readers[0]), setting.reading(readers[1]), setting.reading(readers[2]),
    ):  # fmt: skip
        await eventually(lambda: all(reader.kinds for reader in readers))
    frame = setting.stream.pages.frame(60.0)

    assert {reader.body for reader in readers} == {event_of(frame, None)}
