import pytest

from cacheroute.demo import kv_blob
from cacheroute.demo.kdn import kv as room
from cacheroute.demo.kdn.kv import Kv
from cacheroute.demo.kdn.refused import Refused
from cacheroute.demo.kdn.texts import Texts
from tests.cacheroute.demo.kdn.test_texts import opened, register


async def keep(texts: Texts, kv: Kv, text: str, pairs: dict[bytes, bytes]) -> str:
    kid = await register(texts, text)
    await kv.begin(kid, more_bytes=sum(map(len, pairs.values())))
    await kv.add(kid, pairs)
    await kv.finish(kid, model="m", now_s=9)
    return kid


async def test_a_blob_counts_with_the_size_it_stands_for_and_anything_else_with_its_own() -> None:
    async with opened() as (texts, kv):
        kid = await keep(texts, kv, "a", {b"k1": kv_blob.pack(256, 80_000_000), b"k2": b"12345"})

        entry = texts.find([kid])[kid]

        assert (entry.kv_keys, entry.kv_nominal_bytes) == (2, 80_000_005)


async def test_it_comes_back_in_batches_in_the_order_of_the_keys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(room, "BATCH_KEYS", 2)
    async with opened() as (texts, kv):
        pairs = {b"c": b"3", b"a": b"1", b"\xff\x00": b"4", b"b": b"2"}
        kid = await keep(texts, kv, "a", pairs)

        first = await kv.batch(kid)
        second = await kv.batch(kid, after=first[-1][0])

        assert first == [(b"a", b"1"), (b"b", b"2")]
        assert second == [(b"c", b"3"), (b"\xff\x00", b"4")]
        assert await kv.batch(kid, after=second[-1][0]) == []


async def test_a_batch_is_bounded_in_bytes_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "BATCH_BYTES", 4)
    async with opened() as (texts, kv):
        kid = await keep(texts, kv, "a", {b"a": b"12", b"b": b"34", b"c": b"56"})

        assert [key for key, _ in await kv.batch(kid)] == [b"a", b"b"]


async def test_kv_counts_for_nothing_before_it_is_finished() -> None:
    async with opened() as (texts, kv):
        kid = await keep(texts, kv, "a", {b"old": b"1"})
        await kv.begin(kid, more_bytes=1)
        await kv.add(kid, {b"new": b"2"})
        assert not texts.find([kid])[kid].kv_ready

        assert await kv.finish(kid, model="m", now_s=10) == (1, 1)

        assert await kv.batch(kid) == [(b"new", b"2")]


async def test_nothing_is_kept_of_a_text_that_has_gone_meanwhile() -> None:
    async with opened() as (texts, kv):
        kid = await register(texts, "a")
        await kv.begin(kid, more_bytes=1)
        await kv.add(kid, {b"k": b"1"})
        await texts.delete([kid])
        await kv.add(kid, {b"l": b"1"})

        assert await kv.finish(kid, model="m", now_s=10) == (0, 0)

        assert await kv.batch(kid) == []


async def test_no_more_kv_than_may_be_held() -> None:
    async with opened() as (texts, kv):
        kid = await keep(texts, kv, "a", {b"k": b"x" * 9_000})
        other = await register(texts, "b")

        with pytest.raises(Refused) as refused:
            await kv.begin(other, more_bytes=1_001)
        assert refused.value.status == 507
        await kv.begin(other, more_bytes=1_000)
        # What it replaces makes room.
        await kv.begin(kid, more_bytes=10_000)


async def test_what_was_begun_can_be_forgotten() -> None:
    async with opened() as (texts, kv):
        kid = await keep(texts, kv, "a", {b"k": b"1"})

        await kv.forget(kid)

        assert not texts.find([kid])[kid].kv_ready
        assert await kv.batch(kid) == []
