"""What operators see of the knowledge path after requests have gone along it."""

from cacheroute.client.control import AsyncControlClient
from tests.support.knowledge import Piece, Stage, stage
from tests.support.openai_shapes import DONE, token
from tests.support.script import stream

GOOD = Piece("The pump must never run dry.")
TEXT_ONLY = Piece("The valve is behind the seal.", kv_ready=False)


async def walked(s: Stage) -> None:
    """Send one request each way."""
    s.player.chats = stream(token("Yes"), DONE)
    await s.ask([GOOD.kid], stream=True)
    await s.ask([TEXT_ONLY.kid], stream=True)
    await s.ask([GOOD.kid], mode="text", stream=True)
    await s.ask([GOOD.kid], kdn="127.0.0.1:1", stream=True)


async def test_every_page_tells_what_became_of_knowledge() -> None:
    async with stage(GOOD, TEXT_ONLY) as s, AsyncControlClient(s.proxy.control_url) as client:
        await walked(s)
        status = await client.status()
        assert status.knowledge is not None
        assert status.knowledge.model_dump() == {"kv_inject": 1, "text_inject": 1, "fallback": 2}
        assert status.prediction_error is not None
        assert status.prediction_error.window == 4

        page = await client.predictions()
        (row,) = page.instances
        assert (row.instance_id, row.errors) == ("i-1", page.errors)
        assert page.errors == status.prediction_error
        assert page.source == "published"

        text = await s.proxy.metrics()
        for path in ("kv_inject", "text_inject", "no_kv_ready_fallback_text", "lookup_failed"):
            assert f'cacheroute_injections_total{{instance="i-1",path="{path}"}} 1.0' in text
        assert 'cacheroute_prediction_error_ratio_count{instance="i-1"} 4.0' in text
        for name, queue in (("depth", "prepare"), ("active", "ready")):
            assert f'cacheroute_queue_{name}{{instance="i-1",queue="{queue}"}} 0.0' in text
        assert "\ncacheroute_scheduler_registered " not in text


async def test_what_was_learned_of_an_instance_goes_with_it() -> None:
    async with stage(GOOD, TEXT_ONLY) as s, AsyncControlClient(s.proxy.control_url) as client:
        await walked(s)
        await s.proxy.control("POST", "/v1/instance/unregister", {"instance_id": "i-1"})
        assert (await client.predictions()).instances == []
        assert 'instance="i-1"' not in await s.proxy.metrics()
