"""From settings to a running Proxy, and to its orderly end."""

import asyncio
import socket
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from cacheroute.core.routing.strategies import LeastLoad
from cacheroute.planes.metrics import CATALOGUE
from cacheroute.runtime.clock import SystemClock
from cacheroute.runtime.compose import App, build
from cacheroute.settings.load import load
from cacheroute.settings.tree import Settings
from cacheroute.stores.memory import MemoryRegistry
from cacheroute.stores.sqlite import SqliteRegistry
from tests.cacheroute.core.pool_builders import an_instance
from tests.cacheroute.runtime.scheduler_stand_in import StandIn
from tests.support.backend import scripted
from tests.support.client import connected, fetch, post
from tests.support.openai_shapes import CHAT, DONE, chat, token
from tests.support.proxy import running_proxy
from tests.support.script import END, Freeze, Gate, chunk, stream, stream_head
from tests.support.sse import error_of
from tests.support.waiting import eventually, eventually_is


def settings(state_dir: Path, **given: object) -> Settings:
    options = {"proxy.port": 0, "control.port": 0, "state_dir": state_dir, **given}
    return load(None, [f"{key}={value}" for key, value in options.items()], {}).settings


async def started(state_dir: Path, **given: object) -> App:
    app = build(settings(state_dir, **given))
    await app.start()
    return app


# What there is


async def test_settings_reach_their_places(tmp_path: Path) -> None:
    app = await started(
        tmp_path,
        **{
            "strategy.name": "ll",
            "strategy.weights.qps_1m": 0.5,
            "pool.ttl_s": 7,
            "proxy.max_capacity": 99,
            "proxy.id": "hp_mine",
        },
    )
    try:
        assert isinstance(app.proxy.strategy, LeastLoad)
        assert app.proxy.pool.rules.ttl_s == 7
        assert app.registrar is not None
        assert app.registrar.weights.qps_1m == 0.5
        assert app.registrar.capacity == 99
        assert app.proxy.proxy_id == "hp_mine"
        assert (tmp_path / "hp_mine" / "registry.sqlite").exists()
        assert app._request_log.path == tmp_path / "hp_mine" / "requests.jsonl"
    finally:
        await app.stop(0)


async def test_without_a_name_it_is_called_by_the_port_it_got(tmp_path: Path) -> None:
    app = await started(tmp_path)
    try:
        assert app.proxy.proxy_id == f"hp_127.0.0.1:{app.service_port}"
        assert app.service_port != app.control_port
    finally:
        await app.stop(0)


async def test_before_the_start_there_is_no_control_port(tmp_path: Path) -> None:
    app = build(settings(tmp_path))
    with pytest.raises(RuntimeError, match="the control plane is not started"):
        _ = app.control_port
    assert not app.is_ready()
    app._upstream.close()


async def test_static_instances_are_there_before_the_first_request() -> None:
    async with (
        scripted() as one,
        scripted() as two,
        running_proxy(
            one.url, backends=[{"name": "two", "url": two.url, "api_key": "sk-2"}]
        ) as proxy,
    ):
        assert set(proxy.app.proxy.pool.members) == {one.instance_id, "two"}
        for _ in range(2):
            assert (await post(proxy.service_port, chat())).status == 200
        assert (len(one.requests), len(two.requests)) == (1, 1)
        assert two.requests[0].head.one("authorization") == b"Bearer sk-2"
        assert all(row["is_alive"] for row in await proxy.instances())


async def test_one_url_serves_as_an_instance_for_each_model_behind_it() -> None:
    async with scripted() as server:
        backends = [
            {"name": model, "url": server.url, "model_name": model} for model in ("base", "adapter")
        ]
        async with running_proxy(backends=backends) as proxy:
            for _ in range(2):
                assert (await post(proxy.service_port, chat())).status == 200
            assert [request.json()["model"] for request in server.requests] == ["base", "adapter"]


# Health


async def test_ready_means_that_somebody_is_there() -> None:
    async with running_proxy() as proxy:
        ports = (proxy.service_port, proxy.control_port)
        for port in ports:
            assert (await fetch(port, "GET", "/ready")).status == 503
            assert (await fetch(port, "GET", "/healthz")).status == 200
        await proxy.register(instance_id="i-1", host="127.0.0.1", port=9)
        for port in ports:
            assert (await fetch(port, "GET", "/ready")).status == 200
            assert (await fetch(port, "HEAD", "/ready")).status == 200
        proxy.app.proxy.draining = True
        for port in ports:
            assert (await fetch(port, "GET", "/ready")).status == 503


async def test_an_instance_that_is_this_proxy_under_another_name_gets_nothing() -> None:
    async with running_proxy(proxy__host="0.0.0.0") as proxy:
        pool = proxy.app.proxy.pool
        for name, port in (("mine", proxy.service_port), ("control", proxy.control_port)):
            pool.register(an_instance(name, host="localhost", port=port), SystemClock().now())
        got = await post(proxy.service_port, b"{}")
        assert (got.status, got.error["code"]) == (502, "upstream_connect_failed")
        assert proxy.app.proxy.traces.total == 1


async def test_silent_instances_make_it_unready() -> None:
    async with running_proxy(pool__ttl_s=0.1) as proxy:
        await proxy.register(instance_id="i-1", host="127.0.0.1", port=9, meta={"model": "gone"})
        assert proxy.app.is_ready()
        await eventually(lambda: not proxy.app.is_ready())
        listed = await fetch(proxy.service_port, "GET", "/v1/models")
        assert listed.json()["data"] == []


# The metrics page of a Proxy that has done something


async def test_the_metrics_page_parses_and_has_every_metric_of_the_catalogue() -> None:
    async with (
        scripted(stream(token("a"), DONE)) as backend,
        running_proxy(backend.url, strategy="least_load") as proxy,
    ):
        for _ in range(3):
            await post(proxy.service_port, chat(stream=True))
        await post(proxy.service_port, b"{")
        families = {f.name: f for f in text_string_to_metric_families(await proxy.metrics())}
        names = {
            row.name.removesuffix("_total") if row.kind == "counter" else row.name
            for row in CATALOGUE
        }
        assert families.keys() == names
        for row in CATALOGUE:
            family = families[
                row.name.removesuffix("_total") if row.kind == "counter" else row.name
            ]
            assert family.type == row.kind
            assert all(set(s.labels) - {"le"} == set(row.labels) for s in family.samples)
        assert (await proxy.samples("requests", "backend"))[backend.instance_id] == 3.0
        assert await proxy.samples("ttft count", "instance") == {backend.instance_id: 3.0}
        assert await proxy.unhappy_ends() == {"bad_request": 1.0}
        decided = families["cacheroute_decisions"].samples[0]
        assert (decided.labels, decided.value) == ({"strategy": "least_load"}, 3.0)


async def test_counters_of_an_instance_that_left_are_gone_also_when_a_request_outlived_it() -> None:
    gate = Gate()
    async with (
        scripted((stream_head(), chunk(token("a")), gate, chunk(DONE), END)) as backend,
        running_proxy() as proxy,
    ):
        await proxy.register(instance_id="i-1", host="127.0.0.1", port=backend.port)
        async with connected(proxy.service_port) as client:
            client.ask("POST", CHAT, body=chat(stream=True))
            await client.body_of(1)
            await proxy.control("POST", "/v1/instance/unregister", {"instance_id": "i-1"})
            gate.open()
            await client.over()
        assert not proxy.app.proxy.tallies
        assert "i-1" not in await proxy.metrics()


# State


async def test_a_folder_that_cannot_be_had_stops_no_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("")
    app = await started(blocker)
    try:
        assert isinstance(app._store, MemoryRegistry)
        assert any("registry.not_kept" in r.getMessage() for r in caplog.records)
        assert (await fetch(app.service_port, "GET", "/health")).status == 200
    finally:
        await app.stop(0)


async def test_a_registry_that_is_damaged_begins_anew(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "hp_mine"
    folder.mkdir()
    (folder / "registry.sqlite").write_bytes(b"no database at all, but long enough to be read" * 99)
    app = await started(tmp_path, **{"proxy.id": "hp_mine"})
    try:
        assert isinstance(app._store, SqliteRegistry)
        assert any("registry.renewed" in r.getMessage() for r in caplog.records)
    finally:
        await app.stop(0)


# Starting and stopping


async def test_a_control_port_that_is_taken_is_an_error_and_what_runs_can_be_stopped(
    tmp_path: Path,
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        app = build(settings(tmp_path, **{"control.port": taken.getsockname()[1]}))
        with pytest.raises(OSError, match="in use"):
            await app.start()
        await app.stop(0)
    assert not [t for t in asyncio.all_tasks() if t.get_name() in ("prober", "reaper")]


async def test_stopping_lets_a_running_answer_end_and_takes_nothing_new() -> None:
    gate = Gate()
    reply = (stream_head(), chunk(token("a")), gate, chunk(token("b") + DONE), END)
    async with (
        scripted(reply) as backend,
        running_proxy(backend.url) as proxy,
        connected(proxy.service_port) as client,
    ):
        client.ask("POST", CHAT, body=chat(stream=True))
        await client.body_of(1)
        stopping = asyncio.get_running_loop().create_task(proxy.app.stop(grace_s=5))
        await eventually(lambda: proxy.app.proxy.draining)
        with pytest.raises(ConnectionRefusedError):
            await post(proxy.service_port, chat())
        assert (await fetch(proxy.control_port, "GET", "/ready")).status == 503
        gate.open()
        assert (await client.over()).body == token("a") + token("b") + DONE
        await asyncio.wait_for(stopping, 2)


async def test_who_stops_is_unready_at_once_however_long_the_scheduler_takes() -> None:
    stand_in = StandIn(instead=lambda name: (Freeze(),) if name == "unregister" else None)
    async with (
        scripted() as backend,
        scripted(stand_in.reply) as scheduler,
        running_proxy(backend.url, scheduler__url=scheduler.url) as proxy,
    ):
        await eventually(lambda: stand_in.known)
        stopping = asyncio.get_running_loop().create_task(proxy.app.stop(grace_s=5))
        await eventually(lambda: stand_in.named("unregister"))
        for port in (proxy.service_port, proxy.control_port):
            assert (await fetch(port, "GET", "/ready")).status == 503
        assert (await post(proxy.service_port, chat())).status == 200, "it may still be sent some"
        await asyncio.wait_for(stopping, 3)


async def test_when_the_grace_is_over_a_stream_is_told_and_a_silent_request_too() -> None:
    reply = (stream_head(), chunk(token("a")), Freeze())
    async with (
        scripted(reply) as backend,
        running_proxy(backend.url) as proxy,
        connected(proxy.service_port) as client,
        connected(proxy.service_port) as waiting,
    ):
        client.ask("POST", CHAT, body=chat(stream=True))
        await client.body_of(1)
        backend.reply = (Freeze(),)
        waiting.ask("POST", CHAT, body=chat())
        await backend.received(2)
        await asyncio.wait_for(proxy.app.stop(grace_s=0.05), 3)
        got = await client.over()
        assert got.cut
        error = error_of(got.events[-1])
        assert error is not None
        assert error["code"] == "draining"
        refused = await waiting.over()
        assert refused.status == 503
        assert refused.error["code"] == "draining"


async def test_stopping_twice_is_stopping_once(tmp_path: Path) -> None:
    app = await started(tmp_path)
    await app.stop(0)
    await app.stop(0)


async def test_after_the_end_nothing_runs_any_more(tmp_path: Path) -> None:
    before = asyncio.all_tasks()
    app = await started(tmp_path)
    await app.stop(0)
    await eventually(lambda: asyncio.all_tasks() == before)


async def test_one_that_was_reaped_is_gone_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cacheroute.runtime.compose._REAP_EVERY_S", 0.02)
    async with running_proxy(
        pool__ttl_s=0.02, pool__stale_ttls=1.0, pool__reap_after_s=0.05
    ) as proxy:
        await proxy.register(instance_id="i-1", host="127.0.0.1", port=9)
        await eventually_is(proxy.instances, lambda rows: not rows)
