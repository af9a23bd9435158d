import contextlib
from collections.abc import AsyncIterator

import pytest

from cacheroute.demo.kdn import texts as room
from cacheroute.demo.kdn.content import kid_of
from cacheroute.demo.kdn.database import Database
from cacheroute.demo.kdn.kv import Kv
from cacheroute.demo.kdn.refused import Refused
from cacheroute.demo.kdn.texts import Texts


@contextlib.asynccontextmanager
async def opened(max_texts: int = 10) -> AsyncIterator[tuple[Texts, Kv]]:
    database = Database(None)
    await database.open()
    try:
        yield Texts(database, max_texts=max_texts), Kv(database, max_bytes=10_000)
    finally:
        await database.close()


async def register(texts: Texts, text: str) -> str:
    entry, _ = await texts.register(text, meta=None, now_s=5)
    return entry.kid


async def with_kv(kv: Kv, kid: str) -> None:
    await kv.begin(kid, more_bytes=2)
    await kv.add(kid, {b"a": b"12", b"b": b"345"})
    await kv.finish(kid, model="m", now_s=9)


async def test_a_text_is_kept_once() -> None:
    async with opened() as (texts, _):
        first, is_new = await texts.register(" hello\r\n", meta=None, now_s=5)
        second, is_new_again = await texts.register("hello", meta="{}", now_s=6)

        assert (first.kid, first.length, is_new) == (kid_of("hello"), 5, True)
        assert (second, is_new_again) == (first, False)
        assert not first.kv_ready


async def test_no_more_texts_than_may_be_held() -> None:
    async with opened(max_texts=1) as (texts, _):
        await register(texts, "one")

        with pytest.raises(Refused) as refused:
            await register(texts, "two")
        assert refused.value.status == 507
        assert await register(texts, "one") == kid_of("one")


async def test_contents_come_only_when_asked_for() -> None:
    async with opened() as (texts, _):
        kid = await register(texts, "hello")

        assert texts.find([kid, "ff", kid])[kid].content is None
        assert texts.find([kid], with_content=True)[kid].content == "hello"
        assert texts.find([]) == {}


async def test_more_text_than_an_answer_holds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MAX_REPLY_CHARS", 9)
    async with opened() as (texts, _):
        kids = [await register(texts, each * 5) for each in "ab"]

        assert len(texts.find(kids)) == 2
        with pytest.raises(Refused) as refused:
            texts.find(kids, with_content=True)
        assert refused.value.status == 413


async def test_pages_come_in_the_order_of_registration() -> None:
    async with opened() as (texts, _):
        kids = [await register(texts, each) for each in "zax"]

        assert [entry.kid for entry in texts.page(limit=2, offset=0)] == kids[:2]
        assert [entry.kid for entry in texts.page(limit=2, offset=2)] == kids[2:]


async def test_what_is_held_is_counted() -> None:
    async with opened() as (texts, kv):
        kid = await register(texts, "four")
        await register(texts, "seven77")
        await with_kv(kv, kid)

        totals = texts.totals()

        assert (totals.texts, totals.kv_ready, totals.chars) == (2, 1, 11)
        assert (totals.kv_keys, totals.kv_keys_max, totals.kv_nominal_bytes) == (2, 2, 5)
        entry = texts.find([kid])[kid]
        assert (entry.kv_model, entry.kv_keys, entry.kv_updated_at_s) == ("m", 2, 9)


async def test_an_empty_node_counts_nothing() -> None:
    async with opened() as (texts, _):
        assert texts.totals().texts == texts.totals().chars == texts.totals().kv_keys_max == 0


async def test_a_text_takes_its_kv_along_when_it_goes() -> None:
    async with opened() as (texts, kv):
        kept, gone = await register(texts, "kept"), await register(texts, "gone")
        await with_kv(kv, gone)

        assert await texts.delete([gone, "ff", gone]) == ([gone], [gone])

        assert list(texts.find([kept, gone])) == [kept]
        assert await kv.batch(gone) == []


async def test_everything_can_go() -> None:
    async with opened() as (texts, kv):
        kid = await register(texts, "gone")
        await with_kv(kv, kid)

        await texts.delete_all()

        assert texts.totals().texts == 0
        assert await kv.batch(kid) == []
