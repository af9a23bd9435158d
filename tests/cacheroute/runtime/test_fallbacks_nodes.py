"""Which knowledge nodes are asked: those that are known here, whatever a request says."""

import pytest

from tests.support.knowledge import Piece, asked_with, stage

PUMP = Piece("The pump P-7 never runs dry.")
PLAIN = asked_with()


@pytest.mark.parametrize(
    "address",
    ["169.254.169.254:80", "127.0.0.1:1", "http://127.0.0.1:2/x", "user@127.0.0.1:3", "nonsense"],
)
async def test_a_node_that_is_not_known_is_not_asked(address: str) -> None:
    async with stage(PUMP) as on:
        told = await on.ask([PUMP.kid], kdn=address)
        assert told.paths == {}
        assert told.meta["kv_ack"] == {}
        assert told.kids == ([], [], [PUMP.kid])
        assert told.meta["error"] == (
            f"prepare_failed: {address!r} is no knowledge node that this Proxy may ask; let an "
            "Instance report a link to it, or name it in kdn.allow"
        )
        assert on.looked_up == []
        assert on.player.ordered == []
        assert on.player.asked == [PLAIN]


async def test_a_node_that_an_instance_has_reported_may_be_asked() -> None:
    async with stage(PUMP, kdn__allow=[]) as on:
        refused = await on.ask([PUMP.kid])
        assert refused.meta["error"].startswith("prepare_failed: ")
        links = {f"kdn://{on.node.authority}": {"bandwidth_mbps": 1000.0, "latency_ms": 0.2}}
        report = {"instance_id": "i-1", "links": links}
        await on.proxy.control("POST", "/v1/topology/report", report)
        told = await on.ask([PUMP.kid])
        assert told.paths == {"kvcache_actual_path": "kv_inject"}
        assert told.trace["predict_kv_bandwidth_source"] == "link_snapshot"


async def test_every_node_may_be_asked_where_the_list_says_so() -> None:
    async with stage(PUMP, kdn__allow=["*"]) as on:
        assert (await on.ask([PUMP.kid])).paths == {"kvcache_actual_path": "kv_inject"}
