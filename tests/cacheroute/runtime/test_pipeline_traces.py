"""Every request that ends is told of afterwards: how it went, and of a Scheduler's each room."""

from typing import Any

from tests.cacheroute.runtime.test_pipeline_scheduler import forwarded
from tests.support.backend import refusing, scripted
from tests.support.client import post
from tests.support.openai_shapes import DONE, chat, token
from tests.support.proxy import RunningProxy, running_proxy
from tests.support.script import stream


async def traces(proxy: RunningProxy, query: str = "") -> list[dict[str, Any]]:
    page = await proxy.control("GET", f"/debug/traces{query}")
    rows: list[dict[str, Any]] = page["traces"]
    return rows


async def test_a_plain_stream_is_told_from_its_arrival_to_its_end() -> None:
    async with (
        scripted(stream(token("a"), DONE)) as backend,
        running_proxy(backend.url) as proxy,
    ):
        await post(proxy.service_port, chat(stream=True), headers=[("X-Request-Id", "r-1")])
        [row] = await traces(proxy)

        assert (row["request_id"], row["instance_id"], row["outcome"], row["has_story"]) == (
            "r-1", backend.instance_id, "ok", False,
        )  # fmt: skip
        assert 0 <= row["sent_ms"] <= row["ttft_ms"] <= row["e2e_ms"]
        assert [room["room"] for room in row["rooms"]] == ["place", "prefill", "decode"]
        assert row["rooms"][-1]["end_ms"] == row["e2e_ms"]


async def test_a_schedulers_request_is_told_with_its_story_its_prediction_and_its_decision() -> (
    None
):
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        await post(proxy.service_port, forwarded(stream=True))
        [row] = await traces(proxy)
        [told] = await traces(proxy, f"?request_id={row['request_id']}")

        assert (row["caller"], row["has_story"]) == ("scheduler", True)
        assert row["predicted_ttft_ms"] is not None
        assert "ready queue" in [room["room"] for room in row["rooms"]]
        assert told["marks"]["proxy_recv_ms"] > 0
        assert [one["instance_id"] for one in told["decisions"]] == [backend.instance_id]


async def test_a_request_that_asks_for_its_meta_has_a_story_too() -> None:
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        asks = [("X-CacheRoute-Meta", "event")]
        await post(proxy.service_port, chat(stream=True), headers=asks)

        assert [row["has_story"] for row in await traces(proxy)] == [True]


async def test_what_was_refused_and_what_failed_is_told_with_the_cause() -> None:
    async with refusing() as url, running_proxy(url) as proxy:
        await post(proxy.service_port, b"no json")
        await post(proxy.service_port, chat())
        failed, refused = await traces(proxy)

        assert (refused["outcome"], refused["instance_id"], refused["sent_ms"]) == (
            "bad_request", None, None,
        )  # fmt: skip
        assert failed["outcome"] != "ok"
        assert failed["error"]


async def test_the_totals_of_an_instance_that_leaves_stay_counted() -> None:
    async with scripted() as backend, running_proxy() as proxy:
        await proxy.register(instance_id="i-1", host="127.0.0.1", port=backend.port)
        await post(proxy.service_port, chat())

        async def requests() -> int:
            page = await proxy.control("GET", "/v1/console/snapshot")
            count: int = page["totals"]["requests"]
            return count

        assert await requests() == 1
        await proxy.control("POST", "/v1/instance/unregister", {"instance_id": "i-1"})
        assert await requests() == 1
