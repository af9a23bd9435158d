"""C040, C041: a caller's mistakes and an Instance's full queue take nobody out of the pool."""

import asyncio

import pytest

from tests.support.backend import scripted
from tests.support.client import post
from tests.support.openai_shapes import chat, completion
from tests.support.proxy import LONG_REST, running_proxy
from tests.support.received import Received
from tests.support.script import Script, json_answer


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 413, 415, 422, 451])
async def test_c040_twenty_mistakes_of_callers_leave_the_instance_in_rotation(
    status: int,
) -> None:
    said = {"error": {"message": "too long", "type": "x", "param": None, "code": None}}
    async with (
        scripted(json_answer(said, status)) as a,
        scripted(json_answer(said, status)) as b,
        running_proxy(a.url, b.url, pool__ejection__failures=2, **LONG_REST) as proxy,
    ):
        for _ in range(20):
            got = await post(proxy.service_port, chat())
            assert (got.status, got.json()) == (status, said)
        assert (len(a.requests), len(b.requests)) == (10, 10)
        a.reply = b.reply = json_answer(completion())
        for _ in range(4):
            assert (await post(proxy.service_port, chat())).status == 200
        assert (len(a.requests), len(b.requests)) == (12, 12)


async def test_c040_mistakes_do_not_wash_away_failures_either() -> None:
    replies = [json_answer({"error": {"message": "boom"}}, 500), json_answer({}, 400)]

    def in_turn(_: Received) -> Script:
        replies.reverse()
        return replies[0]

    async with (
        scripted(in_turn) as flaky,
        scripted() as good,
        running_proxy(flaky.url, good.url, pool__ejection__failures=3, **LONG_REST) as proxy,
    ):
        for _ in range(40):
            await post(proxy.service_port, chat())
        # Six requests at most: three failures with a mistake between each.
        assert len(flaky.requests) <= 6


FULL = json_answer({"error": {"message": "queue full"}}, 503, [("Retry-After", "1")])


async def test_c041_backpressure_of_the_only_instance_is_no_outage() -> None:
    async with (
        scripted(FULL) as backend,
        running_proxy(backend.url, pool__ejection__failures=2, **LONG_REST) as proxy,
    ):
        for _ in range(10):
            got = await post(proxy.service_port, chat())
            assert got.status in (429, 503)
            assert got.header("retry-after") is not None
            assert "queue full" in got.body.decode()
        backend.reply = json_answer(completion())
        await asyncio.sleep(1.1)
        assert (await post(proxy.service_port, chat())).status == 200


async def test_c041_an_instance_that_was_full_comes_back_when_its_hint_is_over() -> None:
    async with (
        scripted(FULL) as full,
        scripted() as free,
        running_proxy(full.url, free.url, pool__ejection__failures=2, **LONG_REST) as proxy,
    ):
        for _ in range(6):
            assert (await post(proxy.service_port, chat())).status == 200
        full.reply = json_answer(completion())
        before = len(full.requests)
        await asyncio.sleep(1.2)
        for _ in range(6):
            assert (await post(proxy.service_port, chat())).status == 200
        assert len(full.requests) - before >= 2


async def test_c041_all_are_full_and_the_first_free_one_is_used_at_once() -> None:
    async with (
        scripted(FULL) as a,
        scripted(FULL) as b,
        running_proxy(a.url, b.url) as proxy,
    ):
        assert (await post(proxy.service_port, chat())).status == 503
        b.reply = json_answer(completion())
        # Both asked for a pause; being asked all the same is better than no answer.
        statuses = [(await post(proxy.service_port, chat())).status for _ in range(2)]
        assert 200 in statuses


# Half-open states and their displays join with the full breaker.
