"""What the control plane shows: the list, resources, topology and the debug pages."""

import json

import httpx
import msgspec
import pytest
from pydantic import TypeAdapter

from cacheroute.core.pool_member import Member
from cacheroute.core.routing.selection import Chosen
from cacheroute.core.scheduler_state import SchedulerState
from cacheroute.wire import paths
from cacheroute.wire.debug import (
    InstanceLoadsReply,
    InstanceResourcesReply,
    PoolResourceReply,
    PoolResourceSourcesReply,
    PredictionsReply,
    SchedulerReply,
    StatusReply,
)
from cacheroute.wire.decisions import DecisionsReply
from cacheroute.wire.instances import InstanceRow
from cacheroute.wire.links import TopologyReply
from tests.cacheroute.core.pool_builders import an_instance, at
from tests.cacheroute.planes.control_parts import (
    REGISTERED,
    Owner,
    a_request,
    post,
    refusal,
)

# The list


async def test_a_list_element_has_every_published_key(
    owner: Owner, client: httpx.AsyncClient
) -> None:
    await post(client, paths.INSTANCE_REGISTER, **REGISTERED)
    (row,) = (await client.get(paths.INSTANCE_LIST)).json()
    assert row["load"] == {"inflight": 0, "qps_1m": None, "gpu_util": None}
    assert row["resource"].pop("raw_resource") == {}
    assert len(row["resource"]) == 23
    assert set(row["resource"].values()) == {None}
    assert row["is_alive"] is True
    assert isinstance(row["registered_at"], int)
    assert InstanceRow.model_validate(row).state == "alive"


async def test_the_dead_are_listed_on_demand(owner: Owner, client: httpx.AsyncClient) -> None:
    owner.register(an_instance())
    owner.clock.instant = at(1_031.0)
    assert (await client.get(paths.INSTANCE_LIST)).json() == []
    (row,) = (await client.get(paths.INSTANCE_LIST, params={"include_dead": True})).json()
    assert (row["is_alive"], row["state"], row["age_s"]) == (False, "stale", 31.0)
    rows = TypeAdapter(list[InstanceRow]).validate_python([row])
    assert rows[0].last_seen_at == rows[0].registered_at or rows[0].registered_at == 0


async def test_a_wrong_query_is_a_422(client: httpx.AsyncClient) -> None:
    response = await client.get(paths.INSTANCE_LIST, params={"include_dead": "perhaps"})
    assert response.status_code == 422
    assert response.json()["detail"][0]["loc"] == ["query", "include_dead"]


# Resources


async def test_a_snapshot_is_kept_and_shown(owner: Owner, client: httpx.AsyncClient) -> None:
    owner.register(an_instance())
    snapshot = {"timestamp_ms": 1, "devices": {"cpu": {"utilization_pct": 12.5}}}
    reply = await post(
        client, paths.INSTANCE_RESOURCE_SNAPSHOT, instance_id="i-1", snapshot=snapshot
    )
    assert reply == {"ok": True}
    (row,) = (await client.get(paths.INSTANCE_LIST)).json()
    assert row["resource"]["cpu_util"] == 12.5
    assert row["resource"]["raw_resource"] == snapshot
    (lean,) = (await client.get(paths.INSTANCE_LIST, params={"raw": False})).json()
    assert "raw_resource" not in lean["resource"]
    page = (await client.get(paths.DEBUG_INSTANCE_RESOURCES)).json()
    assert "raw_resource" not in page["instances"][0]["resource"]
    parsed = InstanceResourcesReply.model_validate(page)
    assert parsed.instances[0].resource.cpu_util == 12.5


async def test_a_snapshot_of_nobody_is_told_so(client: httpx.AsyncClient) -> None:
    reply = await post(
        client, paths.INSTANCE_RESOURCE_SNAPSHOT, instance_id="ghost", snapshot={}, metadata={}
    )
    assert reply == {"ok": False, "error": "unknown_instance"}


async def test_nothing_that_is_not_json_comes_out_again(
    owner: Owner, client: httpx.AsyncClient
) -> None:
    owner.register(an_instance())
    content = (
        '{"instance_id": "i-1", "metadata": {"report_monotonic_ms": 1e999}, "snapshot": '
        '{"x": NaN, "devices": {"cpu": {"utilization_pct": Infinity, "load1": -1e999}}}}'
    )
    response = await client.post(paths.INSTANCE_RESOURCE_SNAPSHOT, content=content)
    assert response.json() == {"ok": True}
    for path in (paths.INSTANCE_LIST, paths.DEBUG_INSTANCE_RESOURCES, paths.DEBUG_POOL_RESOURCE):
        text = (await client.get(path)).text
        assert "NaN" not in text
        assert "Infinity" not in text
        json.loads(text)


# Topology


async def test_the_best_link_is_shown_with_its_reporter(
    owner: Owner, client: httpx.AsyncClient
) -> None:
    for number, bandwidth_mbps in ((1, 100.0), (2, 1000.0)):
        owner.register(an_instance(f"i-{number}", port=number))
        link = {"bandwidth_mbps": bandwidth_mbps, "latency_ms": 0, "iface": None, "hops": 2}
        reply = await post(
            client, paths.TOPOLOGY_REPORT, instance_id=f"i-{number}", links={"kdn-a": link}
        )
        assert reply == {"ok": True, "merged_links": 1}
    page = (await client.get(paths.TOPOLOGY_KDN_LINKS)).json()
    assert page["kdn_links"]["kdn-a"] == {
        "bandwidth_mbps": 1000.0,
        "latency_ms": 0.0,
        "iface": None,
        "hops": 2,
        "reported_by": "i-2",
    }


async def test_links_of_nobody_are_not_taken(owner: Owner, client: httpx.AsyncClient) -> None:
    reply = await post(client, paths.TOPOLOGY_REPORT, instance_id="ghost", links={"k": {}})
    assert (reply["ok"], reply["error"]) == (False, "unknown_instance")
    assert not owner.topology.reports


async def test_links_of_the_silent_are_shown_but_not_merged(
    owner: Owner, client: httpx.AsyncClient
) -> None:
    owner.register(an_instance())
    links = {"kdn://h:9101": {"bandwidth_mbps": 100.0, "rtt_ms": 0}}
    await post(client, paths.TOPOLOGY_REPORT, instance_id="i-1", links=links)
    page = msgspec.json.decode((await client.get(paths.DEBUG_TOPOLOGY)).content, type=TopologyReply)
    assert page.known_addresses == ["h:9101"]
    assert page.kdn_links["kdn://h:9101"]["reported_by"] == "i-1"
    owner.clock.instant = at(1_031.0)
    page = msgspec.json.decode((await client.get(paths.DEBUG_TOPOLOGY)).content, type=TopologyReply)
    (row,) = page.instances
    assert (row.state, row.is_alive, row.age_s, row.report_age_s) == ("stale", False, 31.0, 31.0)
    assert row.links == {"kdn://h:9101": {"bandwidth_mbps": 100.0, "rtt_ms": 0.0}}
    assert page.kdn_links == {}
    assert (await client.get(paths.TOPOLOGY_KDN_LINKS)).json() == {"kdn_links": {}}
    assert (await client.get(paths.DEBUG_STATUS)).json()["topology_kdn_links"] == 0
    await post(client, paths.INSTANCE_HEARTBEAT, instance_id="i-1")
    assert len((await client.get(paths.TOPOLOGY_KDN_LINKS)).json()["kdn_links"]) == 1


@pytest.mark.parametrize("value", ["NaN", "1e999", "-1", '"fast"', "true"])
async def test_a_link_has_finite_numbers(client: httpx.AsyncClient, value: str) -> None:
    content = f'{{"instance_id": "i-1", "links": {{"k": {{"latency_ms": {value}}}}}}}'
    status, field = await refusal(client, paths.TOPOLOGY_REPORT, content)
    assert (status, field) == (422, "body.links.k.latency_ms")


async def test_a_report_is_bounded(owner: Owner, client: httpx.AsyncClient) -> None:
    owner.register(an_instance())
    links: dict[str, object] = {f"k{n}": {} for n in range(1_001)}
    body = json.dumps({"instance_id": "i-1", "links": links})
    assert await refusal(client, paths.TOPOLOGY_REPORT, body) == (422, "body.links")
    links.popitem()
    reply = await post(client, paths.TOPOLOGY_REPORT, instance_id="i-1", links=links)
    assert reply["merged_links"] == 1_000


# Debug pages


async def test_the_status_counts_the_pool(owner: Owner, client: httpx.AsyncClient) -> None:
    owner.register(an_instance("old", port=1))
    owner.clock.instant = at(1_060.0)
    owner.register(an_instance("new", port=2))
    owner.pool.lease(owner.pool.members["new"])
    await post(client, paths.INSTANCE_HEARTBEAT, instance_id="ghost")
    page = (await client.get(paths.DEBUG_STATUS)).json()
    assert page["sample_ids"] == ["new"]
    status = StatusReply.model_validate(page)
    assert (status.alive_instances, status.total_instances, status.expired_instances) == (1, 2, 1)
    assert (status.stale_instances, status.dead_instances) == (1, 0)
    assert (status.inflight, status.unknown_reports) == (1, 1)
    assert (status.strategy, status.uptime_s) == ("round_robin", 160.0)


async def test_the_status_tells_what_became_of_knowledge_and_how_wrong_predictions_were(
    owner: Owner, client: httpx.AsyncClient
) -> None:
    status = StatusReply.model_validate((await client.get(paths.DEBUG_STATUS)).json())
    assert status.prediction_error is not None
    assert (status.prediction_error.count, status.prediction_error.p50_ratio) == (0, None)
    owner.knowledge_paths = {"kv_inject": 4, "text_inject": 2, "lookup_failed": 1}
    owner.predictions.saw_ttft(Member(an_instance()), 110.0, 100.0)
    status = StatusReply.model_validate((await client.get(paths.DEBUG_STATUS)).json())
    assert status.knowledge is not None
    assert status.knowledge.model_dump() == {"kv_inject": 4, "text_inject": 2, "fallback": 1}
    assert status.prediction_error is not None
    assert status.prediction_error.p50_ratio == pytest.approx(0.1)
    assert (status.prediction_error.count, status.prediction_error.window) == (1, 1)


async def test_the_status_names_the_knowledge_nodes_that_fail_the_longest_ones_first(
    owner: Owner, client: httpx.AsyncClient
) -> None:
    now_s = owner.clock.now().mono_s
    owner.nodes.answered("well:1", now_s)
    owner.nodes.failed("late:1", "late:1 refused the connection.", now_s - 2.0)
    owner.nodes.failed("long:1", "long:1 was too slow.", now_s - 41.0)
    owner.nodes.failed("long:1", "long:1 refused the connection.", now_s - 3.0)
    status = StatusReply.model_validate((await client.get(paths.DEBUG_STATUS)).json())
    assert [row.model_dump() for row in status.kdn_failing] == [
        {"node": "long:1", "failing_s": 41.0, "asked_age_s": 3.0,
         "error": "long:1 refused the connection."},
        {"node": "late:1", "failing_s": 2.0, "asked_age_s": 2.0,
         "error": "late:1 refused the connection."},
    ]  # fmt: skip


async def test_of_many_nodes_that_fail_the_status_names_some(
    owner: Owner, client: httpx.AsyncClient
) -> None:
    for number in range(100):
        owner.nodes.failed(f"kdn:{number}", "It is gone.", owner.clock.now().mono_s)
    status = StatusReply.model_validate((await client.get(paths.DEBUG_STATUS)).json())
    assert len(status.kdn_failing) == 32


async def test_the_predictions_have_a_page_of_their_own(
    owner: Owner, client: httpx.AsyncClient
) -> None:
    owner.predictions.saw_ttft(Member(an_instance()), 110.0, 100.0)
    page = PredictionsReply.model_validate((await client.get(paths.DEBUG_PREDICTIONS)).json())
    assert page.generated_at == owner.clock.now().wall_s
    assert [row.instance_id for row in page.instances] == ["i-1"]
    assert page.errors.p50_ratio == pytest.approx(0.1)


async def test_the_scheduler_has_a_page_of_its_own(owner: Owner, client: httpx.AsyncClient) -> None:
    assert (await client.get(paths.DEBUG_STATUS)).json()["scheduler_state"] == "off"
    owner.scheduler_state = SchedulerState(
        since=at(990.0), url="http://s:7002", state="unreachable", last_error="It is gone."
    )
    page = SchedulerReply.model_validate((await client.get(paths.DEBUG_SCHEDULER)).json())
    assert (page.state, page.state_age_s) == ("unreachable", 10.0)
    assert (page.url, page.last_error) == ("http://s:7002", "It is gone.")
    assert (await client.get(paths.DEBUG_STATUS)).json()["scheduler_state"] == "unreachable"


async def test_loads_show_terms_weights_and_sources(
    owner: Owner, client: httpx.AsyncClient
) -> None:
    owner.register(an_instance(weight=2.0))
    owner.pool.lease(owner.pool.members["i-1"])
    await post(client, paths.INSTANCE_HEARTBEAT, instance_id="i-1", qps_1m=4)
    page = (await client.get(paths.DEBUG_INSTANCE_LOADS)).json()
    assert page["metric_source"]["queue_depth"] == "unavailable"
    row = page["instances"][0]
    assert row["prepare_queue_depth"] is None
    score = row["least_load_score"]
    assert score["total"] == 0.5
    assert score["components"] == {"inflight": 1.0, "qps_1m": 4.0}
    assert score["weighted_components"] == {"inflight": 1.0}
    assert score["source"] == {
        "inflight": "proxy_lifecycle_counter",
        "qps_1m": "instance_heartbeat",
    }
    assert len(score["weights"]) == 9
    assert InstanceLoadsReply.model_validate(page).instances[0].inflight == 1


async def test_the_pool_is_summed_up(owner: Owner, client: httpx.AsyncClient) -> None:
    owner.register(an_instance())
    page = (await client.get(paths.DEBUG_POOL_RESOURCE)).json()
    assert PoolResourceReply.model_validate(page).pool_resource["pool_admission_state"] == (
        "degraded"
    )
    assert page["pool_resource"]["load"]["capacity"] == 8
    sources = (await client.get(paths.DEBUG_POOL_RESOURCE_SOURCES)).json()
    assert PoolResourceSourcesReply.model_validate(sources).metric_source["capacity"] == (
        "proxy_config"
    )


async def test_decisions_are_told_newest_first(owner: Owner, client: httpx.AsyncClient) -> None:
    chosen = Chosen(Member(an_instance()))
    for number in (1, 2, 3):
        owner.decisions.add(a_request(f"req-{number}"), 1, "round_robin", chosen, None)
    page = (await client.get(paths.DEBUG_DECISIONS, params={"last": 2})).json()
    assert [row["request_id"] for row in page["decisions"]] == ["req-3", "req-2"]
    assert page["total"] == 3
    assert page["decisions"][0]["instance_id"] == "i-1"
    assert msgspec.convert(page, DecisionsReply).decisions[0].reason
    assert (await client.get(paths.DEBUG_DECISIONS, params={"last": 0})).status_code == 422
