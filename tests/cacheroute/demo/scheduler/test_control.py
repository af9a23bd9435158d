import json

import pytest

from cacheroute.wire import paths
from tests.cacheroute.demo.scheduler.parts import running_scheduler
from tests.support.client import fetch

BODY = {"proxy_id": "p-1", "host": "127.0.0.1", "port": 8001}


async def test_a_proxy_comes_lives_and_goes() -> None:
    async with running_scheduler() as scheduler:
        told = (await scheduler.control("POST", paths.PROXY_REGISTER, BODY)).json()
        assert told == {"proxy_id": "p-1", "heartbeat_interval_s": 5, "ttl_s": 30}
        beat = {"proxy_id": "p-1", "meta_patch": {"kdn_links": {"k": {"bandwidth_mbps": 10.0}}}}
        assert (await scheduler.control("POST", paths.PROXY_HEARTBEAT, beat)).json() == {"ok": True}
        [row] = await scheduler.proxies()
        assert (row["proxy_id"], row["is_alive"], row["inflight"]) == ("p-1", True, 0)
        assert row["meta"] == {"kdn_links": {"k": {"bandwidth_mbps": 10.0}}}
        assert row["endpoints"] == ["chat/completions", "completions"]
        for _ in range(2):
            gone = await scheduler.control("POST", paths.PROXY_UNREGISTER, {"proxy_id": "p-1"})
            assert gone.json() == {"ok": True}
        assert await scheduler.proxies("?include_dead=true") == []


async def test_an_unknown_proxy_is_asked_to_register_again() -> None:
    async with running_scheduler() as scheduler:
        answer = await scheduler.control("POST", paths.PROXY_HEARTBEAT, {"proxy_id": "p-1"})

        assert (answer.status, answer.json()) == (404, {"detail": "proxy_id not registered"})


async def test_the_intervals_are_those_of_the_options() -> None:
    async with running_scheduler(ttl_s=1.5, heartbeat_s=0.5) as scheduler:
        told = (await scheduler.control("POST", paths.PROXY_REGISTER, BODY)).json()

        assert (told["heartbeat_interval_s"], told["ttl_s"]) == (0.5, 1.5)
        health = await scheduler.control("GET", paths.HEALTHZ)
        assert health.json() == {"ok": True, "ttl_s": 1.5}


async def test_a_missing_field_is_told_as_fastapi_tells_it() -> None:
    async with running_scheduler() as scheduler:
        answer = await scheduler.control("POST", paths.PROXY_REGISTER, {"host": "x"})

        assert answer.status == 422
        assert answer.json() == {
            "detail": [
                {
                    "type": "missing",
                    "loc": ["body", "port"],
                    "msg": "Field required",
                    "input": {"host": "x"},
                }
            ]
        }


@pytest.mark.parametrize(
    ("body", "kind", "where"),
    [
        (b"", "missing", ["body"]),
        (b'{"host": ', "json_invalid", ["body", 9]),
        (b"[]", "model_type", ["body"]),
        (b'{"host":"a b","port":1}', "value_error", ["body", "host"]),
        (b'{"host":"a","port":0}', "greater_than_equal", ["body", "port"]),
        (b'{"host":"a","port":99999999}', "less_than_equal", ["body", "port"]),
        (b'{"host":"a","port":1,"weight":NaN}', "greater_than_equal", ["body", "weight"]),
        (b'{"host":"a","port":1,"meta":{"x":NaN}}', "value_error", ["body", "meta"]),
        (b'{"host":"a","port":1,"tags":[3]}', "string_type", ["body", "tags", 0]),
        (b'{"host":"a","port":1,"x":' + b"[" * 9000, "json_invalid", ["body", 0]),
    ],
)
async def test_a_wrong_body_is_a_422_with_the_place(
    body: bytes, kind: str, where: list[object]
) -> None:
    async with running_scheduler() as scheduler:
        answer = await fetch(scheduler.cp_port, "POST", paths.PROXY_REGISTER, body=body)

        assert answer.status == 422
        [row] = answer.json()["detail"]
        assert (row["type"], row["loc"]) == (kind, where)
        assert {"type", "loc", "msg", "input"} <= row.keys()
        assert await scheduler.proxies("?include_dead=true") == []


async def test_meta_that_outgrows_its_bound_is_a_422() -> None:
    async with running_scheduler() as scheduler:
        await scheduler.control("POST", paths.PROXY_REGISTER, BODY)
        beat = {"proxy_id": "p-1", "meta_patch": {"x": "y" * 300_000}}
        answer = await scheduler.control("POST", paths.PROXY_HEARTBEAT, beat)

        assert answer.status == 422
        assert answer.json()["detail"][0]["loc"] == ["body", "meta_patch"]


async def test_a_body_without_bounds_is_refused() -> None:
    async with running_scheduler() as scheduler:
        body = json.dumps({**BODY, "meta": {"x": "y" * 1_100_000}}).encode()
        answer = await fetch(scheduler.cp_port, "POST", paths.PROXY_REGISTER, body=body)

        assert answer.status == 413
        assert "detail" in answer.json()


async def test_the_dead_are_listed_only_when_they_are_asked_for() -> None:
    async with running_scheduler() as scheduler:
        assert await scheduler.proxies("?include_dead=0") == []
        answer = await scheduler.control("GET", paths.PROXY_LIST + "?include_dead=maybe")
        assert answer.status == 422
        [row] = answer.json()["detail"]
        assert (row["type"], row["loc"], row["input"]) == (
            "bool_parsing",
            ["query", "include_dead"],
            "maybe",
        )


async def test_paths_and_methods_that_are_none_are_told_as_fastapi_tells_them() -> None:
    async with running_scheduler() as scheduler:
        nothing = await scheduler.control("GET", "/v1/proxy")
        wrong = await scheduler.control("GET", paths.PROXY_REGISTER)
        head = await fetch(scheduler.cp_port, "HEAD", paths.HEALTHZ)

        assert (nothing.status, nothing.json()) == (404, {"detail": "Not Found"})
        assert (wrong.status, wrong.json()) == (405, {"detail": "Method Not Allowed"})
        assert wrong.header("allow") == "POST"
        assert (head.status, head.body) == (200, b"")
