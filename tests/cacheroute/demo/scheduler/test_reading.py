import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from cacheroute.core.errors import UpstreamProtocolError
from cacheroute.demo.scheduler import reading
from cacheroute.demo.scheduler.knowledge import Library
from cacheroute.demo.scheduler.peer_json import TooMuch
from cacheroute.demo.scheduler.reading import Reading, read_ids, read_texts
from cacheroute.wire import paths
from tests.cacheroute.demo.scheduler.parts import FakeKdn, a_pool, asked, fake_kdn, user
from tests.support.waiting import eventually


async def ids_of(kdn: FakeKdn) -> list[str]:
    with a_pool() as pool:
        return await read_ids(pool, kdn.address)


async def texts_of(kdn: FakeKdn, **known: str) -> dict[str, str]:
    with a_pool() as pool:
        ids = await read_ids(pool, kdn.address)
        return await read_texts(pool, kdn.address, ids, known)


async def test_ids_are_read_page_by_page_and_in_lower_case() -> None:
    async with fake_kdn(**{f"K{number}": "x" for number in range(2100)}) as kdn:
        assert await ids_of(kdn) == [f"k{number}" for number in range(2100)]
        assert [one["offset"] for one in kdn.listings] == [0, 1000, 2000]
        assert all(one["need_fields"] == ["kid"] for one in kdn.listings)


async def test_a_node_that_knows_no_offset_is_not_asked_for_ever() -> None:
    async with fake_kdn() as kdn:
        kdn.reply[paths.KNOWLEDGE_SNAPSHOT] = {"items": [{"kid": f"k{n}"} for n in range(1000)]}

        assert len(await ids_of(kdn)) == 1000
        assert len(kdn.listings) == 2


async def test_no_more_is_read_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_TEXTS", 100)
    monkeypatch.setattr(reading, "MAX_TEXT_CHARS", 64)
    async with fake_kdn(**{f"k{number}": "x" for number in range(300)}) as kdn:
        assert len(await ids_of(kdn)) == 100
        assert len(await texts_of(kdn)) == 64


async def test_ids_are_found_under_either_name_and_nothing_else_is() -> None:
    async with fake_kdn() as kdn:
        items = [1, {"id": " A "}, {"content": "x"}, {"kid": "B", "id": "z"}, {"kid": 3}]
        kdn.reply[paths.KNOWLEDGE_SNAPSHOT] = {"items": items}

        assert await ids_of(kdn) == ["a", "b"]


async def test_only_texts_that_are_new_are_asked_for() -> None:
    async with fake_kdn(a="old", B="new", c="newer") as kdn:
        assert await texts_of(kdn, a="old", gone="x") == {"a": "old", "b": "new", "c": "newer"}
        assert kdn.lookups == [{"knowledge_ids": ["b", "c"], "need_fields": ["content"]}]


async def test_a_text_that_has_gone_between_the_two_is_left_out() -> None:
    async with fake_kdn(a="x") as kdn:
        kdn.reply[paths.KNOWLEDGE_SNAPSHOT] = {"items": [{"kid": "a"}, {"kid": "b"}]}

        assert await texts_of(kdn) == {"a": "x"}


async def test_fewer_texts_are_asked_for_when_they_are_too_long_for_one_answer() -> None:
    many = {f"k{number}": "x" * 100 for number in range(40)}
    async with fake_kdn(**many) as kdn:
        kdn.most_texts = 20

        assert await texts_of(kdn) == many
        assert [len(one["knowledge_ids"]) for one in kdn.lookups] == [40, 32, 16, 16, 8]


async def test_a_text_that_is_too_long_for_any_answer_is_a_fault() -> None:
    async with fake_kdn(a="x") as kdn:
        kdn.most_texts = 0
        with pytest.raises(TooMuch):
            await texts_of(kdn)


@pytest.mark.parametrize("path", [paths.KNOWLEDGE_SNAPSHOT, paths.KNOWLEDGE_SEARCH_TEXT])
async def test_an_answer_without_items_is_a_fault(path: str) -> None:
    async with fake_kdn(a="x") as kdn:
        kdn.reply[path] = {"items": {}}
        with pytest.raises(UpstreamProtocolError):
            await texts_of(kdn)


@contextlib.asynccontextmanager
async def reading_of(kdn: FakeKdn) -> AsyncIterator[Library]:
    """Read one node over and over, for as long as the block lasts."""
    library = Library([kdn.address], 1)
    with a_pool() as pool:
        async with asyncio.TaskGroup() as group:
            one = Reading(pool, kdn.address, library, refresh_s=0.01)
            running = group.create_task(one.run())
            await one.tried.wait()
            yield library
            running.cancel()


async def test_new_texts_are_found_after_the_next_reading(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ask = asked(messages=[user("What is bread?")], RAG=True)
    async with fake_kdn(a="The KV cache") as kdn, reading_of(kdn) as library:
        assert library.find(ask).ids == ()
        kdn.texts["b"] = "Bread"
        await eventually(lambda: library.find(ask).ids == ("b",))

    assert capsys.readouterr().err == f"kdn {kdn.address.authority}: texts read: 1\n"


async def test_a_node_that_fails_keeps_its_texts_and_is_asked_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ask = asked(messages=[user("cache")], RAG=True)
    async with fake_kdn(a="The KV cache") as kdn, reading_of(kdn) as library:
        kdn.status, before = 500, len(kdn.listings)
        await eventually(lambda: len(kdn.listings) > before + 1)
        assert library.find(ask).ids == ("a",)

    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2, "one line for each change"
    assert said[1].endswith("Trying on.")
