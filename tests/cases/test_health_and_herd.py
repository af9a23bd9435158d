"""C044: a green health page does not keep, or bring back, an engine that answers nobody."""

import asyncio

from tests.support.backend import scripted
from tests.support.client import post
from tests.support.openai_shapes import chat, completion
from tests.support.proxy import LONG_REST, running_proxy
from tests.support.script import Freeze, json_answer


async def test_c044_a_stuck_engine_with_green_pages_is_taken_out_and_stays_out() -> None:
    async with (
        scripted((Freeze(),)) as stuck,
        scripted() as good,
        running_proxy(
            stuck.url, good.url,
            timeouts__first_byte_s=0.2, pool__health_check_interval_s=0.1,
            pool__ejection__failures=3, **LONG_REST,
        ) as proxy,
    ):  # fmt: skip
        statuses = [(await post(proxy.service_port, chat())).status for _ in range(10)]
        assert sorted(statuses) == [200] * 7 + [504] * 3
        await asyncio.sleep(0.5)
        # Its pages were asked again and again meanwhile, and were green.
        assert len([probe for probe in stuck.probes if probe.path != "/metrics"]) >= 2
        for _ in range(6):
            assert (await post(proxy.service_port, chat())).status == 200
        assert len(stuck.requests) == 3
        assert {row["is_alive"] for row in await proxy.instances()} == {True}


async def test_c044_only_a_real_answer_brings_it_back_to_its_full_share() -> None:
    async with (
        scripted((Freeze(),)) as stuck,
        scripted() as good,
        running_proxy(
            stuck.url, good.url,
            timeouts__first_byte_s=0.2, pool__health_check_interval_s=0.1,
            pool__ejection__failures=1,
            pool__ejection__cool_down_s=0.3, pool__ejection__cool_down_max_s=0.3,
        ) as proxy,
    ):  # fmt: skip
        for _ in range(2):
            await post(proxy.service_port, chat())
        assert len(stuck.requests) == 1
        await asyncio.sleep(0.4)
        # One request may try it; while that one waits, the others go elsewhere.
        tried = await asyncio.gather(*(post(proxy.service_port, chat()) for _ in range(10)))
        assert sum(got.status == 504 for got in tried) <= 1
        assert len(stuck.requests) <= 2
        stuck.reply = json_answer(completion())
        await asyncio.sleep(0.4)
        before = len(stuck.requests)
        for _ in range(12):
            assert (await post(proxy.service_port, chat())).status == 200
        assert len(stuck.requests) - before >= 5


# A probation with canaries, and "up but stalled" on screen, join with the full breaker.
