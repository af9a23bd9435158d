"""C064, C065: an address is one Instance, whatever it says of itself and how often."""

import asyncio

import pytest

from tests.support.backend import scripted
from tests.support.client import connected, fetch, post
from tests.support.openai_shapes import CHAT, chat, completion
from tests.support.proxy import LONG_REST, RunningProxy, running_proxy
from tests.support.script import Gate, json_answer
from tests.support.waiting import eventually, eventually_is


def model(name: str) -> dict[str, object]:
    """Return a capability object that names a model."""
    return {"model": {"identifier": name, "revision": None}}


async def models_listed(proxy: RunningProxy) -> list[str]:
    """Return the ids of the merged model list."""
    got = await fetch(proxy.service_port, "GET", "/v1/models")
    assert got.status == 200
    return [row["id"] for row in got.json()["data"]]


async def test_c064_a_new_model_replaces_the_old_one_everywhere() -> None:
    async with scripted() as backend, running_proxy() as proxy:
        at = {"host": backend.host, "port": backend.port}
        backend.set_models("m0")
        await proxy.register(**at, tags=["general"], capabilities=model("m0"))
        assert (await post(proxy.service_port, chat(model="m0"))).status == 200
        assert await models_listed(proxy) == ["m0"]

        backend.set_models("m1")
        await proxy.register(**at, tags=["decode"], capabilities=model("m1"))
        got = await post(proxy.service_port, chat(model="m0"))
        assert got.status in (404, 503)
        assert "m0" in got.error["message"]
        assert (await post(proxy.service_port, chat(model="m1"))).status == 200
        assert await models_listed(proxy) == ["m1"]
        [row] = await proxy.instances()
        assert row["tags"] == ["decode"]
        assert row["capabilities"]["model"]["identifier"] == "m1"

        await proxy.control("POST", "/v1/instance/unregister", {"instance_id": row["instance_id"]})
        assert await proxy.instances() == []
        assert await proxy.loads() == []
        assert await models_listed(proxy) == []
        resources = await proxy.control("GET", "/debug/instance_resources")
        assert resources["instances"] == []
        status = await proxy.control("GET", "/debug/status")
        assert (status["total_instances"], status["sample_ids"]) == (0, [])
        gauges = [
            line for line in (await proxy.metrics()).splitlines() if backend.authority in line
        ]
        assert not [line for line in gauges if "_total" not in line and "_bucket" not in line], (
            gauges
        )
        assert (await post(proxy.service_port, chat(model="m1"))).status == 503


async def test_c064_an_instance_that_moves_is_found_at_its_new_address_only() -> None:
    async with scripted() as old, scripted() as new, running_proxy() as proxy:
        for backend in (old, new):
            await proxy.register(instance_id="i", host=backend.host, port=backend.port)
        for _ in range(4):
            assert (await post(proxy.service_port, chat())).status == 200
        assert (len(old.requests), len(new.requests)) == (0, 4)
        assert len(await proxy.instances()) == 1


async def test_c064_the_same_address_under_a_new_name_is_the_same_server() -> None:
    async with scripted() as backend, running_proxy() as proxy:
        for name in ("i-1", "i-2"):
            await proxy.register(instance_id=name, host=backend.host, port=backend.port)
        assert [row["instance_id"] for row in await proxy.instances()] == ["i-2"]
        got = await post(proxy.service_port, chat())
        assert got.header("x-cacheroute-instance") == "i-2"


async def test_c065_registering_again_gives_no_larger_share() -> None:
    async with scripted() as a, scripted() as b, running_proxy() as proxy:
        for backend in (a, a, a, b, a, a):
            await proxy.register(host=backend.host, port=backend.port)
        for _ in range(60):
            assert (await post(proxy.service_port, chat())).status == 200
        assert (len(a.requests), len(b.requests)) == (30, 30)
        assert len(await proxy.instances()) == 2


async def test_c065_registering_again_keeps_what_is_counted() -> None:
    gate = Gate()
    async with (
        scripted((gate, *json_answer(completion()))) as backend,
        running_proxy() as proxy,
        connected(proxy.service_port) as client,
    ):
        await proxy.register(instance_id="i", host=backend.host, port=backend.port)
        client.ask("POST", CHAT, body=chat())
        await backend.received()
        first = (await proxy.instances())[0]["registered_at"]
        for _ in range(5):
            await proxy.register(instance_id="i", host=backend.host, port=backend.port)
            assert await proxy.inflight() == {"i": 1}
        gate.open()
        assert (await client.over()).status == 200
        await proxy.idle()
        assert (await proxy.instances())[0]["registered_at"] == first


async def test_c065_going_and_coming_back_does_not_upset_the_count() -> None:
    gate = Gate()
    async with (
        scripted((gate, *json_answer(completion()))) as backend,
        running_proxy() as proxy,
        connected(proxy.service_port) as client,
    ):
        await proxy.register(instance_id="i", host=backend.host, port=backend.port)
        client.ask("POST", CHAT, body=chat())
        await backend.received()
        await proxy.control("POST", "/v1/instance/unregister", {"instance_id": "i"})
        await proxy.register(instance_id="i", host=backend.host, port=backend.port)
        gate.open()
        await client.over()
        await asyncio.sleep(0.05)
        assert await proxy.inflight() == {"i": 0}


@pytest.mark.parametrize("times", [1, 5])
async def test_c065_an_instance_that_fails_is_out_completely(times: int) -> None:
    async with (
        scripted() as failing,
        scripted() as good,
        running_proxy(pool__ejection__failures=3, **LONG_REST) as proxy,
    ):
        for backend in (failing,) * times + (good,):
            await proxy.register(host=backend.host, port=backend.port)
        failing.reply = json_answer({"error": {"message": "boom"}}, 500)
        for _ in range(20):
            assert (await post(proxy.service_port, chat())).status == 200
        assert len(failing.requests) == 3


async def test_c065_an_instance_whose_probes_fail_is_out_as_well() -> None:
    async with (
        scripted() as failing,
        scripted() as good,
        running_proxy(
            pool__health_check_interval_s=0.05, pool__ejection__failures=3, **LONG_REST
        ) as proxy,
    ):
        for backend in (failing,) * 5 + (good,):
            await proxy.register(host=backend.host, port=backend.port)
        failing.pages["/v1/models"] = failing.pages["/health"] = json_answer({}, 500)
        probed = len(failing.probes)
        await eventually(lambda: len(failing.probes) >= probed + 6)
        before = len(failing.requests)
        for _ in range(10):
            assert (await post(proxy.service_port, chat())).status == 200
        assert len(failing.requests) == before


async def test_c065_a_static_instance_that_also_registers_is_one() -> None:
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        await proxy.control(
            "POST", "/v1/instance/register", {"host": backend.host, "port": backend.port}
        )
        assert len(await proxy.instances()) == 1
        for _ in range(4):
            assert (await post(proxy.service_port, chat())).status == 200
        assert await proxy.inflight() == {backend.instance_id: 0}


async def test_c064_a_model_nobody_serves_is_told_with_what_there_is() -> None:
    async with scripted() as backend, running_proxy() as proxy:
        backend.set_models("m0")
        await proxy.register(host=backend.host, port=backend.port, capabilities=model("m0"))
        got = await post(proxy.service_port, chat(model="m9"))
        assert got.status == 404
        assert got.error["code"] == "model_not_found"
        assert "m9" in got.error["message"]
        assert not backend.requests


async def test_c064_what_a_static_instance_lists_is_learnt_by_asking() -> None:
    async with scripted() as backend:
        backend.set_models("a-model", "another")
        async with running_proxy(backend.url, pool__health_check_interval_s=0.1) as proxy:
            names = await eventually_is(lambda: models_listed(proxy), bool)
            assert sorted(names) == ["a-model", "another"]
            assert (await post(proxy.service_port, chat(model="another"))).status == 200
            assert (await post(proxy.service_port, chat(model="m9"))).status == 404
            backend.set_models("m9")
            await eventually_is(lambda: models_listed(proxy), lambda names: names == ["m9"])
            assert (await post(proxy.service_port, chat(model="m9"))).status == 200
