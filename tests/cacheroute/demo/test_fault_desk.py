"""Ordering faults over HTTP, and taking them back."""

import asyncio

import httpx
import pytest

from cacheroute.demo.faults import Fault
from tests.cacheroute.demo.live import Live, chat_body, live

PATH = "/demo/fault"


async def armed(on: Live) -> list[str]:
    return [fault["kind"] for fault in (await on.http.get(PATH)).json()["faults"]]


async def test_what_is_ordered_is_shown_and_can_be_taken_back() -> None:
    async with live() as on:
        ordered = await on.http.post(PATH, json={"kind": "error", "status": 503})
        assert ordered.json()["armed"]["status"] == 503
        await on.http.post(PATH, json={"kind": "slow"})
        assert await armed(on) == ["error", "slow"]
        assert on.instance.pacer.speed == 20.0
        assert (await on.http.delete(PATH)).json() == {"faults": []}
        assert await armed(on) == []
        assert on.instance.pacer.speed == 200.0


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"kind": "boom"}'])
async def test_what_is_no_order_is_a_400_with_a_sentence(content: bytes) -> None:
    async with live() as on:
        answer = await on.http.post(PATH, content=content)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"]


async def test_a_lasting_fault_ends_with_its_time() -> None:
    async with live() as on:
        await on.http.post(PATH, json={"kind": "freeze", "for_s": 0.01})
        async with asyncio.timeout(20):
            answer = await on.chat("hi", max_tokens=1)
        assert answer["usage"]["completion_tokens"] == 1
        assert await armed(on) == []


async def test_a_second_order_of_a_kind_replaces_the_first_and_its_end() -> None:
    async with live() as on:
        await on.http.post(PATH, json={"kind": "slow", "for_s": 0.01, "factor": 2})
        await on.http.post(PATH, json={"kind": "slow", "factor": 4})
        for _ in range(3):
            await asyncio.sleep(0.01)
        assert on.instance.pacer.speed == 50.0
        assert await armed(on) == ["slow"]


async def test_faults_can_be_there_from_the_start() -> None:
    async with live(faults=(Fault(kind="error", count=1),)) as on:
        assert (await on.post("/v1/chat/completions", chat_body("hi"))).status_code == 500


async def test_an_instance_that_refuses_comes_back_by_itself() -> None:
    async with live() as on:
        ordered = await on.http.post(PATH, json={"kind": "refuse", "for_s": 0.2})
        assert ordered.status_code == 200
        with pytest.raises(httpx.ConnectError):
            await on.http.get("/health")
        async with asyncio.timeout(20):
            while True:
                try:
                    assert (await on.http.get("/health")).status_code == 200
                    break
                except httpx.ConnectError:
                    await asyncio.sleep(0.01)
