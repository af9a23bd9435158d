"""The operator's calls: what they answer, whom they let in, and what they note of him."""

import json
from typing import Any

import httpx
import pytest

from cacheroute.planes.admin import add_admin
from cacheroute.planes.control import build_control_app
from cacheroute.planes.control_owner import ControlRules
from cacheroute.wire import paths
from cacheroute.wire.admin import ChangeReply, StrategiesReply, StrategyReply
from tests.cacheroute.planes.control_parts import Owner
from tests.cacheroute.runtime.operating_parts import Desk, a_desk, fleet

CHANGES = (
    paths.ADMIN_DRAIN,
    paths.ADMIN_UNDRAIN,
    paths.ADMIN_WEIGHT,
    paths.ADMIN_UNREGISTER,
    paths.ADMIN_STRATEGY,
)
TOKEN = "correct horse"


def a_client(
    desk: Desk, rules: ControlRules | None = None, *, peer: str = "127.0.0.1"
) -> httpx.AsyncClient:
    rules = rules or ControlRules()
    app = build_control_app(Owner(), rules)
    add_admin(app, desk.operator, has_token=rules.token is not None)
    transport = httpx.ASGITransport(app, client=(peer, 50_000), raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://control")


def a_body(path: str, *ids: str) -> dict[str, Any]:
    if path == paths.ADMIN_STRATEGY:
        return {"name": "least_load"}
    weight = {"weight": 2} if path == paths.ADMIN_WEIGHT else {}
    return {"instance_ids": list(ids or ("i-1",)), **weight}


async def test_a_change_answers_with_before_after_and_its_effect_in_numbers() -> None:
    desk = a_desk(*fleet(3))
    body = {"instance_ids": ["i-1", "i-1", "i-2"], "reason": "new driver"}
    response = await a_client(desk).post(paths.ADMIN_DRAIN, json=body)
    assert response.status_code == 200
    assert response.json() == {
        "ok": True,
        "verb": "drain",
        "dry_run": False,
        "kept": False,
        "changes": [
            {
                "instance_id": instance_id,
                "changed": True,
                "before": {
                    "state": "alive", "draining": False, "reason": None,
                    "weight": 1.0, "own_weight": 1.0, "weight_fixed": False,
                },
                "after": {
                    "state": "alive", "draining": True, "reason": "new driver",
                    "weight": 1.0, "own_weight": 1.0, "weight_fixed": False,
                },
                "inflight": 0,
                "waiting": 0,
            }
            for instance_id in ("i-1", "i-2")
        ],
        "left_count": 1,
        "left_ids": ["i-3"],
        "left_resting": 0,
        "left_without": [],
    }  # fmt: skip
    assert ChangeReply.model_validate_json(response.content).changes[1].instance_id == "i-2"
    assert desk.routable == {"i-3"}


@pytest.mark.parametrize("path", CHANGES)
async def test_every_change_can_be_asked_about_first(path: str) -> None:
    desk = a_desk(*fleet(2))
    response = await a_client(desk).post(path, json={**a_body(path), "dry_run": True})
    assert response.status_code == 200
    assert response.json()["dry_run"]
    assert (desk.audit.lines, desk.routable, desk.operator.strategy) == (
        [], {"i-1", "i-2"}, "round_robin",
    )  # fmt: skip


async def test_a_reset_is_a_null_and_must_be_said() -> None:
    desk = a_desk(*fleet(2))
    client = a_client(desk)
    await client.post(paths.ADMIN_WEIGHT, json={"instance_ids": ["i-1"], "weight": 2})
    forgotten = await client.post(paths.ADMIN_WEIGHT, json={"instance_ids": ["i-1"]})
    assert forgotten.status_code == 422
    assert desk.proxy.pool.members["i-1"].weight == 2.0
    await client.post(paths.ADMIN_WEIGHT, json={"instance_ids": ["i-1"], "weight": None})
    assert desk.proxy.pool.members["i-1"].weight == 1.0


@pytest.mark.parametrize(
    ("path", "body", "expected"),
    [
        (paths.ADMIN_DRAIN, a_body("", "i-9"), (404, "unknown_instance", "i-2")),
        (paths.ADMIN_DRAIN, a_body("", "i-1", "i-2"), (409, "nobody_left", None)),
        (paths.ADMIN_UNREGISTER, a_body("", "zzz"), (404, "unknown_instance", None)),
        (paths.ADMIN_STRATEGY, {"name": "fast"}, (422, "unknown_strategy", None)),
    ],
)
async def test_a_refusal_says_why_and_what_may_have_been_meant(
    path: str, body: dict[str, object], expected: tuple[int, str, str | None]
) -> None:
    desk = a_desk(*fleet(2))
    response = await a_client(desk).post(path, json=body)
    told = response.json()
    assert (response.status_code, told["error"], told["nearest"]) == expected
    assert told["detail"].endswith((".", "?"))
    assert desk.routable == {"i-1", "i-2"}


@pytest.mark.parametrize(
    "body",
    [
        "{}",
        '{"instance_ids": []}',
        '{"instance_ids": "i-1"}',
        '{"instance_ids": ["a b"]}',
        '{"instance_ids": ["i-1"], "weight": -1}',
        '{"instance_ids": ["i-1"], "weight": 1e-9}',
        '{"instance_ids": ["i-1"], "weight": 1e9}',
        '{"instance_ids": ["i-1"], "weight": true}',
        '{"instance_ids": ["i-1"], "weight": 1e999}',
        '{"instance_ids": ["i-1"], "weight": 1, "dryrun": true}',
        "nonsense",
    ],
)
async def test_a_body_that_makes_no_sense_changes_nothing(body: str) -> None:
    desk = a_desk(*fleet(2))
    assert (await a_client(desk).post(paths.ADMIN_WEIGHT, content=body)).status_code == 422
    assert desk.audit.lines == []


async def test_too_many_ids_are_refused() -> None:
    body = {"instance_ids": [f"i-{n}" for n in range(1_001)]}
    assert (await a_client(a_desk()).post(paths.ADMIN_DRAIN, json=body)).status_code == 422


async def test_the_strategies_are_listed_and_one_is_taken() -> None:
    desk = a_desk(*fleet(2))
    client = a_client(desk)
    told = StrategiesReply.model_validate_json((await client.get(paths.ADMIN_STRATEGY)).content)
    assert (told.strategy, told.configured) == ("round_robin", "round_robin")
    assert {row.name for row in told.known} >= {"round_robin", "least_load"}
    response = await client.post(paths.ADMIN_STRATEGY, json={"name": "ll"})
    changed = StrategyReply.model_validate_json(response.content)
    assert (changed.before, changed.after, changed.changed) == ("round_robin", "least_load", True)
    told = StrategiesReply.model_validate_json((await client.get(paths.ADMIN_STRATEGY)).content)
    assert (told.strategy, told.configured) == ("least_load", "round_robin")


@pytest.mark.parametrize("path", CHANGES)
async def test_without_a_token_another_machine_changes_nothing(path: str) -> None:
    desk = a_desk(*fleet(2))
    response = await a_client(desk, peer="10.0.0.9").post(path, json=a_body(path))
    assert (response.status_code, response.json()["error"]) == (403, "forbidden")
    page = await a_client(desk).post(path, json=a_body(path), headers={"origin": "http://x"})
    assert page.status_code == 403
    assert (desk.audit.lines, desk.routable) == ([], {"i-1", "i-2"})


@pytest.mark.parametrize("path", CHANGES)
async def test_with_a_token_nobody_changes_anything_without_it(path: str) -> None:
    desk = a_desk(*fleet(2))
    client = a_client(desk, ControlRules(token=TOKEN))
    for headers in ({}, {"authorization": "Bearer wrong"}):
        response = await client.post(path, json=a_body(path), headers=headers)
        assert response.status_code == 401
    assert desk.audit.lines == []
    remote = a_client(desk, ControlRules(token=TOKEN), peer="10.0.0.9")
    allowed = await remote.post(
        path, json=a_body(path), headers={"authorization": f"Bearer {TOKEN}"}
    )
    assert allowed.status_code == 200
    assert len(desk.audit.lines) == (0 if path == paths.ADMIN_UNDRAIN else 1)


async def test_who_changes_something_is_noted_and_his_token_is_not() -> None:
    desk = a_desk(*fleet(3))
    headers = {"authorization": f"Bearer {TOKEN}", "x-cacheroute-user": "kim@desk\x07" + "x" * 99}
    await a_client(desk, ControlRules(token=TOKEN), peer="10.0.0.9").post(
        paths.ADMIN_DRAIN, json=a_body(""), headers=headers
    )
    await a_client(desk).post(
        paths.ADMIN_UNDRAIN, json=a_body(""), headers={"authorization": "Bearer made-up"}
    )
    first, second = desk.audit.lines
    assert (first["peer"], first["user"]) == ("10.0.0.9", "kim@desk" + "x" * 56)
    assert isinstance(first["token"], str)
    assert len(first["token"]) == 8
    assert TOKEN not in json.dumps(desk.audit.lines)
    # Where no token is asked for, one that is shown proves nothing.
    assert (second["peer"], second["user"], second["token"]) == ("127.0.0.1", None, None)


@pytest.mark.parametrize("path", CHANGES)
async def test_a_change_is_a_post(path: str) -> None:
    expected = 200 if path == paths.ADMIN_STRATEGY else 405
    assert (await a_client(a_desk()).get(path)).status_code == expected
    assert (await a_client(a_desk()).delete(path)).status_code == 405


async def test_of_a_large_fleet_only_some_of_those_left_are_named() -> None:
    desk = a_desk(*fleet(60))
    told = (await a_client(desk).post(paths.ADMIN_DRAIN, json=a_body(""))).json()
    assert (told["left_count"], len(told["left_ids"])) == (59, 20)
