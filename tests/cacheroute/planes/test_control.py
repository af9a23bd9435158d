"""The control plane, endpoint by endpoint, as peers and people see it."""

import json

import httpx
import pytest

from cacheroute.core.rules import PoolRules
from cacheroute.planes.control_owner import ControlRules
from cacheroute.wire import paths
from cacheroute.wire.instances import RegisterReply
from tests.cacheroute.core.pool_builders import an_instance, at
from tests.cacheroute.planes.control_parts import (
    CAPABILITIES,
    REGISTERED,
    VECTOR,
    Owner,
    a_client,
    post,
    refusal,
)

# Health


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("path", [paths.HEALTH, paths.HEALTHZ])
async def test_health_is_plain(client: httpx.AsyncClient, path: str, method: str) -> None:
    response = await client.request(method, path)
    assert response.status_code == 200
    assert method == "HEAD" or response.json() == {"ok": True, "ttl_s": 30}


async def test_ready_says_whether_a_request_has_a_chance(
    owner: Owner, client: httpx.AsyncClient
) -> None:
    empty = await client.get(paths.READY)
    assert (empty.status_code, empty.json()["reason"]) == (503, "no_instance")
    owner.register(an_instance())
    assert (await client.get(paths.READY)).status_code == 200
    owner.draining = True
    draining = await client.head(paths.READY)
    assert draining.status_code == 503


# Registration


async def test_a_registration_is_answered_as_published(client: httpx.AsyncClient) -> None:
    reply = await post(client, paths.INSTANCE_REGISTER, host="127.0.0.1", port=9001)
    assert reply == {
        "instance_id": "hp_127.0.0.1:9001",
        "heartbeat_interval_s": 10,
        "ttl_s": 30,
        "capability_fingerprint": None,
    }
    assert RegisterReply.model_validate(reply).ttl_s == 30


@pytest.mark.parametrize(("ttl_s", "interval_s"), [(30, 10), (9, 3), (2, 1), (0.5, 1), (300, 10)])
async def test_the_suggested_heartbeat_follows_the_ttl(ttl_s: float, interval_s: int) -> None:
    client = a_client(Owner(PoolRules(ttl_s=ttl_s)))
    reply = await post(client, paths.INSTANCE_REGISTER, **REGISTERED)
    assert reply["heartbeat_interval_s"] == interval_s


async def test_the_fingerprint_is_worked_out_here(client: httpx.AsyncClient) -> None:
    reply = await post(
        client,
        paths.INSTANCE_REGISTER,
        **REGISTERED,
        capabilities=CAPABILITIES,
        capability_fingerprint="sha256:wrong",
    )
    assert reply["capability_fingerprint"] == VECTOR


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", (422, "body")),
        ("{", (422, "body")),
        ("[1]", (422, "body")),
        ("{}", (422, "body.host")),
        ('{"host": "", "port": 1}', (422, "body.host")),
        ('{"host": "h h", "port": 1}', (422, "body.host")),
        ('{"host": 7, "port": 1}', (422, "body.host")),
        ('{"host": "h"}', (422, "body.port")),
        ('{"host": "h", "port": 0}', (422, "body.port")),
        ('{"host": "h", "port": 99999999}', (422, "body.port")),
        ('{"host": "h", "port": true}', (422, "body.port")),
        ('{"host": "h", "port": 1.5}', (422, "body.port")),
        ('{"host": "h", "port": 1, "weight": -1}', (422, "body.weight")),
        ('{"host": "h", "port": 1, "weight": NaN}', (422, "body.weight")),
        ('{"host": "h", "port": 1, "weight": 1e999}', (422, "body.weight")),
        ('{"host": "h", "port": 1, "meta": {"x": [NaN]}}', (422, "body.meta")),
        ('{"host": "h", "port": 1, "meta": {"x": "\\ud800"}}', (422, "body")),
        ('{"host": "h", "port": 1, "meta": ' + '{"a":' * 60 + "1" + "}" * 61, (422, "body.meta")),
        ('{"host": "h", "port": 1, "instance_id": "a b"}', (422, "body.instance_id")),
        ('{"host": "h", "port": 1, "endpoints": "chat"}', (422, "body.endpoints")),
        ('{"host": "h", "port": 1, "capabilities": {"x": 1}}', (422, "body.capabilities.x")),
        ('{"host": "127.0.0.1:9001/v1/chat/completions", "port": 9001}', (422, "body.host")),
        ('{"host": "::1:9001", "port": 9001}', (422, "body.host")),
        ('{"host": "gopher://h", "port": 9001}', (422, "body.host")),
        ('{"host": "file:///etc/passwd", "port": 9001}', (422, "body.host")),
        ('{"host": "169.254.169.254", "port": 80}', (400, "forbidden_address")),
        ('{"host": "[::ffff:169.254.169.254]", "port": 80}', (400, "forbidden_address")),
        ('{"host": "metadata.google.internal", "port": 80}', (400, "forbidden_address")),
        ('{"host": "fe80::1", "port": 80}', (400, "forbidden_address")),
        ('{"host": "0.0.0.0", "port": 80}', (400, "forbidden_address")),
    ],
)
async def test_a_bad_registration_is_refused_by_name_and_changes_nothing(
    owner: Owner, client: httpx.AsyncClient, content: str, expected: tuple[int, str]
) -> None:
    assert await refusal(client, paths.INSTANCE_REGISTER, content) == expected
    assert len(owner.pool) == 0


async def test_the_proxy_does_not_take_itself_for_an_instance() -> None:
    owner = Owner()
    rules = ControlRules(own_hosts=frozenset({"10.0.0.1"}), own_ports=frozenset({8001, 8002}))
    client = a_client(owner, rules)
    for host in ("127.0.0.1", "localhost", "::1", "10.0.0.1"):
        body = json.dumps({"host": host, "port": 8002})
        assert await refusal(client, paths.INSTANCE_REGISTER, body) == (400, "own_address")
    await post(client, paths.INSTANCE_REGISTER, host="10.0.0.2", port=8002)


async def test_refusals_of_the_pool_have_a_code_each() -> None:
    owner = Owner(PoolRules(max_instances=1))
    owner.register(an_instance("s", port=9000, origin="static"))
    owner.register(an_instance("r", port=9002))
    client = a_client(owner)
    for body, expected in (
        ({"host": "127.0.0.1", "port": 9000}, (409, "address_taken")),
        ({"host": "127.0.0.1", "port": 9001, "instance_id": "s"}, (409, "static_instance")),
        ({"host": "127.0.0.1", "port": 9001}, (503, "pool_full")),
        (
            {"host": "127.0.0.1", "port": 9001, "meta": {"a": "x" * 20_000}},
            (422, "meta_too_large"),
        ),
    ):
        assert await refusal(client, paths.INSTANCE_REGISTER, json.dumps(body)) == expected


async def test_many_errors_are_not_all_told_and_long_input_is_cut(
    client: httpx.AsyncClient,
) -> None:
    body = {"host": "h", "port": "x" * 10_000, "tags": [7] * 60}
    response = await client.post(paths.INSTANCE_REGISTER, json=body)
    assert response.status_code == 422
    assert len(response.json()["detail"]) == 20
    assert len(response.content) < 4_000


async def test_unknown_keys_are_ignored(owner: Owner, client: httpx.AsyncClient) -> None:
    await post(client, paths.INSTANCE_REGISTER, **REGISTERED, from_the_future={"x": 1})
    assert list(owner.pool.members) == ["i-1"]


# Heartbeats


async def test_a_heartbeat_is_answered_with_a_lone_ok(
    owner: Owner, client: httpx.AsyncClient
) -> None:
    owner.register(an_instance())
    reply = await post(
        client, paths.INSTANCE_HEARTBEAT, instance_id="i-1", inflight=99, qps_1m=2.5, gpu_util=40
    )
    assert reply == {"ok": True}
    member = owner.pool.members["i-1"]
    assert (member.inflight, member.qps_1m, member.gpu_util) == (0, 2.5, 40.0)


async def test_an_unknown_instance_is_told_to_come_again(client: httpx.AsyncClient) -> None:
    reply = await post(client, paths.INSTANCE_HEARTBEAT, instance_id="ghost")
    assert reply.pop("detail") == "ghost is not in the pool: register it again."
    assert reply == {"ok": False, "error": "unknown_instance", "requires_capabilities": True}


async def test_a_forgotten_instance_that_tells_everything_is_taken_back(
    owner: Owner, client: httpx.AsyncClient
) -> None:
    whole = {"instance_id": "hp_127.0.0.1:9001", "capabilities": CAPABILITIES}
    assert await post(client, paths.INSTANCE_HEARTBEAT, **whole) == {"ok": True}
    member = owner.pool.members["hp_127.0.0.1:9001"]
    assert member.instance.capability_fingerprint == VECTOR
    again = {"instance_id": "hp_127.0.0.1:9001", "capability_fingerprint": VECTOR}
    assert await post(client, paths.INSTANCE_HEARTBEAT, **again) == {"ok": True}


@pytest.mark.parametrize("instance_id", ["ghost", "hp_169.254.169.254:80", "hp_..:80"])
async def test_a_forgotten_instance_without_a_good_address_is_not(
    owner: Owner, client: httpx.AsyncClient, instance_id: str
) -> None:
    reply = await post(
        client, paths.INSTANCE_HEARTBEAT, instance_id=instance_id, capabilities=CAPABILITIES
    )
    assert reply["ok"] is False
    assert len(owner.pool) == 0


async def test_a_fingerprint_that_does_not_match_is_told_with_both(
    owner: Owner, client: httpx.AsyncClient
) -> None:
    await post(client, paths.INSTANCE_REGISTER, **REGISTERED, capabilities=CAPABILITIES)
    reply = await post(
        client, paths.INSTANCE_HEARTBEAT, instance_id="i-1", capability_fingerprint="sha256:0"
    )
    assert reply == {
        "ok": False,
        "error": "capability_fingerprint_mismatch",
        "requires_capabilities": True,
        "expected_fingerprint": VECTOR,
        "reported_fingerprint": "sha256:0",
    }
    owner.pool.unregister("i-1")
    await post(client, paths.INSTANCE_REGISTER, **REGISTERED)
    reply = await post(
        client, paths.INSTANCE_HEARTBEAT, instance_id="i-1", capability_fingerprint="sha256:0"
    )
    assert reply["error"] == "capability_fingerprint_unknown"
    assert reply["expected_fingerprint"] is None


@pytest.mark.parametrize(
    ("field", "value"),
    [("qps_1m", "NaN"), ("qps_1m", "-1"), ("gpu_util", "Infinity"), ("inflight", '"many"')],
)
async def test_a_load_that_is_no_load_is_refused_by_name(
    client: httpx.AsyncClient, field: str, value: str
) -> None:
    content = f'{{"instance_id": "i-1", "{field}": {value}}}'
    assert await refusal(client, paths.INSTANCE_HEARTBEAT, content) == (422, f"body.{field}")


# Leaving


async def test_an_instance_leaves_once_with_its_links(
    owner: Owner, client: httpx.AsyncClient
) -> None:
    await post(client, paths.INSTANCE_REGISTER, **REGISTERED)
    await post(client, paths.TOPOLOGY_REPORT, instance_id="i-1", links={"k": {}})
    assert await post(client, paths.INSTANCE_UNREGISTER, instance_id="i-1") == {"ok": True}
    reply = await post(client, paths.INSTANCE_UNREGISTER, instance_id="i-1")
    assert reply == {"ok": False, "error": "unknown_instance"}
    assert (await client.get(paths.TOPOLOGY_KDN_LINKS)).json() == {"kdn_links": {}}


async def test_a_static_instance_does_not_leave(owner: Owner, client: httpx.AsyncClient) -> None:
    owner.register(an_instance(origin="static"))
    reply = await post(client, paths.INSTANCE_UNREGISTER, instance_id="i-1")
    assert (reply["ok"], reply["error"]) == (False, "static_instance")


# Around them


async def test_an_unknown_path_and_a_wrong_method_are_told(client: httpx.AsyncClient) -> None:
    missing = await client.get("/nowhere")
    assert (missing.status_code, missing.json()["error"]) == (404, "not_found")
    wrong = await client.get(paths.INSTANCE_REGISTER)
    assert (wrong.status_code, wrong.json()["error"]) == (405, "method_not_allowed")
    assert wrong.headers["allow"] == "POST"
    for path in ("/docs", "/redoc", "/openapi.json", "/healthz/"):
        assert (await client.get(path)).status_code == 404


async def test_no_other_origin_is_invited(client: httpx.AsyncClient) -> None:
    response = await client.get(paths.HEALTHZ, headers={"origin": "http://elsewhere"})
    assert not [name for name in response.headers if name.startswith("access-control-")]


async def test_bodies_are_bounded(client: httpx.AsyncClient) -> None:
    large = json.dumps({**REGISTERED, "meta": {"x": "x" * 1024 * 1024}})
    assert await refusal(client, paths.INSTANCE_REGISTER, large) == (413, "too_large")
    snapshot = json.dumps({"instance_id": "i-1", "snapshot": {"x": "x" * 64 * 1024}})
    assert await refusal(client, paths.INSTANCE_RESOURCE_SNAPSHOT, snapshot) == (413, "too_large")


async def test_a_defect_shows_nothing_of_its_inside(owner: Owner) -> None:
    owner.weights = None  # type: ignore[assignment]
    response = await a_client(owner).get(paths.DEBUG_INSTANCE_LOADS)
    assert response.status_code == 500
    assert response.json()["error"] == "internal_error"
    assert "NoneType" not in response.text


@pytest.mark.parametrize(
    ("host", "authority"),
    [
        ("::1", "[::1]:9001"),
        ("[::1]", "[::1]:9001"),
        ("[::1]:9001", "[::1]:9001"),
        ("http://[::1]:9001/v1/", "[::1]:9001"),
    ],
)
async def test_every_spelling_of_an_address_is_one_instance(
    owner: Owner, client: httpx.AsyncClient, host: str, authority: str
) -> None:
    await post(client, paths.INSTANCE_REGISTER, host="0:0:0:0:0:0:0:1", port=9001)
    await post(client, paths.INSTANCE_REGISTER, host=host, port=9001)
    (member,) = owner.pool.members.values()
    assert member.instance.authority == authority
    assert member.instance.base_path == ""


async def test_a_skewed_sender_neither_dies_early_nor_lives_on(
    owner: Owner, client: httpx.AsyncClient
) -> None:
    owner.register(an_instance())
    for stamp in (2_000_000_000_000, 0, 1_700_000_000, "yesterday", None):
        reply = await post(
            client,
            paths.INSTANCE_RESOURCE_SNAPSHOT,
            instance_id="i-1",
            snapshot={"timestamp_ms": stamp},
            metadata={"report_wall_time_ms": stamp},
        )
        assert reply == {"ok": True}
    owner.clock.instant = at(1_031.0)
    (row,) = (await client.get(paths.INSTANCE_LIST, params={"include_dead": True})).json()
    assert row["is_alive"] is False
    page = (await client.get(paths.DEBUG_POOL_RESOURCE)).json()
    assert page["pool_resource"]["pool_admission_state"] == "rejecting"
