"""Staying on the Scheduler's list, whoever starts, restarts or goes first."""

import contextlib
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from cacheroute.core.topology import Link, Topology
from cacheroute.dataplane.pool import UpstreamPool
from cacheroute.formats.address import parse_base_url
from cacheroute.runtime.scheduling import Scheduling, described
from cacheroute.runtime.tasks import Tasks
from cacheroute.settings.load import load
from cacheroute.upstream.scheduler import Scheduler
from cacheroute.wire.scheduler import ProxyRegisterBody
from tests.cacheroute.core.pool_builders import an_instance, at
from tests.cacheroute.planes.control_parts import Owner
from tests.cacheroute.runtime.scheduler_stand_in import StandIn, Steps, a_server
from tests.support.backend import ScriptedBackend
from tests.support.script import Freeze, answer
from tests.support.waiting import eventually

ME = ProxyRegisterBody(
    proxy_id="p", host="127.0.0.1", port=8001, meta={"version": "proxy_v1"}, max_capacity=8
)


@dataclass(slots=True, eq=False)
class Stage:
    """A Proxy's half, a Scheduler's half, and a time that is moved by hand."""

    owner: Owner
    scheduling: Scheduling
    scheduler: StandIn
    server: ScriptedBackend
    steps: Steps

    @property
    def word(self) -> str:
        """How the Proxy stands with its Scheduler."""
        return self.scheduling.state.state

    async def paused(self, pauses: int) -> None:
        """Wait until this many pauses have begun, the last of them not over."""
        await eventually(lambda: len(self.steps.asked) >= pauses)

    async def step(self) -> None:
        """End the pause that is, and wait for the next one."""
        pauses = len(self.steps.asked)
        self.steps.go()
        await self.paused(pauses + 1)


@contextlib.asynccontextmanager
async def stage(*, is_up: bool = True, topology: Topology | None = None) -> AsyncIterator[Stage]:
    owner, stand_in, steps, tasks = Owner(), StandIn(), Steps(), Tasks()
    owner.topology = topology or Topology()
    server = a_server(stand_in)
    await server.listen()
    if not is_up:
        server.refuse()
    upstream = UpstreamPool()
    scheduling = Scheduling(
        Scheduler(upstream, parse_base_url(server.url), timeout_s=5.0),
        described=ME,
        clock=owner.clock,
        heartbeat_s=7.0,
        pause=steps,
    )
    scheduling.start(tasks, owner)
    try:
        yield Stage(owner, scheduling, stand_in, server, steps)
    finally:
        await tasks.stop()
        upstream.close()
        server.refuse()
        await eventually(lambda: not server.open_sockets)


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage().partition(" url")[0] for record in caplog.records]


# All is well


async def test_it_registers_once_and_then_only_sends_heartbeats(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    async with stage() as s:
        await s.paused(1)
        await s.step()
        await s.step()
        assert [name for name, _ in s.scheduler.calls] == ["register", "heartbeat", "heartbeat"]
        assert s.steps.asked == [5.0, 5.0, 5.0]
        state = s.scheduling.state
        assert (state.state, state.url) == ("registered", s.server.url)
        assert (state.registrations, state.heartbeats, state.failures) == (1, 2, 0)
        assert (state.proxy_id, state.interval_s, state.last_error) == ("p", 5.0, None)
        assert said(caplog) == ["scheduler.registered"]


async def test_the_scheduler_says_how_often_it_wants_to_hear_from_us() -> None:
    async with stage() as s:
        s.scheduler.interval_s = 0.001
        await s.paused(1)
        assert s.steps.asked == [0.5]
        s.scheduler.restart()
        s.scheduler.interval_s = 60
        await s.step()
        assert s.steps.asked == [0.5, 60.0]


async def test_every_heartbeat_says_how_the_pool_is_and_gives_no_load_figures() -> None:
    async with stage() as s:
        await s.paused(1)
        (registration,) = s.scheduler.named("register")
        assert registration["pool_resource"]["instances"]["alive"] == 0
        assert registration["meta"] == {"version": "proxy_v1"}
        s.owner.register(an_instance())
        await s.step()
        (beat,) = s.scheduler.named("heartbeat")
        assert set(beat) == {"proxy_id", "pool_resource"}
        assert beat["pool_resource"]["instances"]["alive"] == 1
        assert beat["pool_resource"]["utilization"]["cpu_avg"] is None


# Links to knowledge nodes


async def test_links_are_told_as_long_as_there_are_some_and_once_when_there_are_none() -> None:
    async with stage() as s:
        await s.paused(1)
        s.owner.register(an_instance())
        link = Link.of({"bandwidth_mbps": 100.0, "latency_ms": 0.0})
        s.owner.report_topology("i-1", {"kdn://h:9101": link})
        await s.step()
        told = {"kdn://h:9101": {"bandwidth_mbps": 100.0, "latency_ms": 0.0, "reported_by": "i-1"}}
        assert s.scheduler.known["p"]["meta"] == {"version": "proxy_v1", "kdn_links": told}
        s.owner.clock.instant = at(1_031.0)
        await s.step()
        assert s.scheduler.known["p"]["meta"]["kdn_links"] == {}
        await s.step()
        beats = s.scheduler.named("heartbeat")
        assert ["meta_patch" in beat for beat in beats] == [True, True, False]


async def test_static_links_are_told_with_the_registration() -> None:
    topology = Topology(static={"h:1": Link.of({"bandwidth_mbps": 5.0})})
    async with stage(topology=topology) as s:
        await s.paused(1)
        (registration,) = s.scheduler.named("register")
        assert registration["meta"] == {
            "version": "proxy_v1",
            "kdn_links": {"h:1": {"bandwidth_mbps": 5.0, "reported_by": "static"}},
        }


# Models


async def test_models_are_told_with_the_registration_and_again_when_they_change() -> None:
    async with stage() as s:
        s.owner.register(an_instance("a", port=1, meta={"models": ["m2", "m1"]}))
        s.scheduler.restart()
        await s.paused(1)
        await s.step()
        assert s.scheduler.known["p"]["meta"] == {"version": "proxy_v1", "models": ["m1", "m2"]}
        await s.step()
        s.owner.register(an_instance("b", port=2, meta={"model": "m3"}))
        await s.step()
        assert s.scheduler.known["p"]["meta"]["models"] == ["m1", "m2", "m3"]
        s.owner.clock.instant = at(1_031.0)
        await s.step()
        assert s.scheduler.known["p"]["meta"]["models"] == []
        await s.step()
        patches = [beat.get("meta_patch") for beat in s.scheduler.named("heartbeat")]
        told = [{"models": ["m1", "m2", "m3"]}, {"models": []}]
        assert patches[-4:] == [None, *told, None]


async def test_models_that_the_scheduler_did_not_hear_of_are_told_with_the_next_heartbeat() -> None:
    async with stage() as s:
        await s.paused(1)
        s.owner.register(an_instance(meta={"model": "m"}))
        s.scheduler.instead = lambda _: answer(b"not now", 503)
        await s.step()
        s.scheduler.instead = lambda _: None
        await s.step()
        assert s.scheduler.known["p"]["meta"]["models"] == ["m"]


# Trouble


async def test_a_scheduler_that_comes_later_is_found(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with stage(is_up=False) as s:
        await s.paused(1)
        for _ in range(7):
            await s.step()
        assert s.steps.asked == [0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 10.0, 10.0]
        state = s.scheduling.state
        assert (state.state, state.failures, state.registrations) == ("unreachable", 8, 0)
        assert state.last_error is not None
        assert "No connection" in state.last_error
        await s.server.listen()
        await s.step()
        assert s.word == "registered"
        assert s.scheduling.state.failures == 0
        assert set(s.scheduler.known) == {"p"}
        assert said(caplog) == ["scheduler.unreachable", "scheduler.registered"]


async def test_a_scheduler_that_has_forgotten_us_is_told_again_at_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    async with stage() as s:
        await s.paused(1)
        s.scheduler.restart()
        await s.step()
        assert [name for name, _ in s.scheduler.calls] == ["register", "heartbeat", "register"]
        assert set(s.scheduler.known) == {"p"}
        assert s.scheduling.state.registrations == 2
        assert said(caplog) == [
            "scheduler.registered",
            "scheduler.forgot_us",
            "scheduler.registered",
        ]


async def test_a_scheduler_that_is_gone_for_a_while_is_never_registered_with_in_vain() -> None:
    async with stage() as s:
        await s.paused(1)
        s.server.refuse()
        await s.step()
        await s.step()
        assert s.word == "unreachable"
        assert s.steps.asked == [5.0, 0.5, 1.0]
        await s.server.listen()
        await s.step()
        assert s.word == "registered"
        assert len(s.scheduler.named("register")) == 1
        assert s.steps.asked[-1] == 5.0


@pytest.mark.parametrize(("status", "word"), [(503, "unreachable"), (422, "refused")])
async def test_what_a_scheduler_has_against_us_is_kept_and_it_is_tried_again(
    status: int, word: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with stage() as s:
        s.scheduler.instead = lambda _: answer(b"not now", status)
        await s.paused(1)
        await s.step()
        assert s.word == word
        assert f"with {status}: not now." in (s.scheduling.state.last_error or "")
        assert s.steps.asked == [0.5, 1.0]
        s.scheduler.instead = lambda _: None
        await s.step()
        assert s.word == "registered"
        s.scheduler.instead = lambda _: answer(b"not now", status)
        await s.step()
        assert s.word == word
        assert said(caplog).count(f"scheduler.{word}") == 2


async def test_a_path_that_does_not_exist_is_no_reason_to_try_without_a_pause() -> None:
    async with stage() as s:
        s.scheduler.instead = lambda _: answer(b"", 404)
        await s.paused(1)
        await s.step()
        assert s.steps.asked == [0.5, 1.0]
        assert s.word == "refused"


async def test_a_scheduler_that_forgets_at_once_is_told_once_an_interval() -> None:
    async with stage() as s:
        s.scheduler.instead = lambda name: answer(b"", 404) if name == "heartbeat" else None
        await s.paused(1)
        await s.step()
        await s.step()
        assert s.steps.asked == [5.0, 5.0, 5.0]
        assert len(s.scheduler.named("register")) == 3


# The end


async def test_who_leaves_is_taken_off_the_list_and_sends_nothing_more(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    async with stage() as s:
        await s.paused(1)
        await s.scheduling.leave()
        s.steps.go()
        assert s.scheduler.known == {}
        assert [name for name, _ in s.scheduler.calls] == ["register", "unregister"]
        assert s.word == "off"
        await s.scheduling.leave()
        assert len(s.scheduler.calls) == 2
        assert said(caplog)[-1] == "scheduler.left"


async def test_who_was_never_answered_and_leaves_has_nothing_to_wait_for() -> None:
    async with stage(is_up=False) as s:
        await s.paused(1)
        await s.scheduling.leave()
        assert s.word == "off"


async def test_who_was_refused_says_no_goodbye() -> None:
    async with stage() as s:
        s.scheduler.instead = lambda _: answer(b"", 422)
        await s.paused(1)
        await s.scheduling.leave()
        assert s.scheduler.named("unregister") == []


async def test_a_registration_that_is_under_way_is_taken_back() -> None:
    async with stage() as s:
        s.scheduler.instead = lambda name: (Freeze(),) if name == "register" else None
        await eventually(lambda: s.scheduler.calls)
        await s.scheduling.leave()
        assert [name for name, _ in s.scheduler.calls] == ["register", "unregister"]


async def test_a_silent_scheduler_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cacheroute.runtime.scheduling.LEAVE_WITHIN_S", 0.05)
    async with stage() as s:
        s.scheduler.instead = lambda name: (Freeze(),) if name == "unregister" else None
        await s.paused(1)
        await s.scheduling.leave()
        assert s.word == "off"
        assert "more than 0.05 s" in (s.scheduling.state.last_error or "")


# What is told of this Proxy


def test_a_proxy_is_told_by_its_settings_and_the_port_it_has_bound() -> None:
    settings = load(
        None,
        ["proxy.host=0.0.0.0", "proxy.port=0", "proxy.max_capacity=32"],
        {"HOME": "/h", "PROXY_INSTANCE_COUNT": "4", "PROXY_KV_MEM_PER_INSTANCE_GB": "96"},
    ).settings
    body = described(settings, 43210)
    assert (body.proxy_id, body.host, body.port) == ("hp_127.0.0.1:43210", "127.0.0.1", 43210)
    assert (body.max_capacity, body.instance_count) == (32, 4)
    assert (body.kv_mem_per_instance_gb, body.kv_cache_update_policy) == (96.0, "lru")
    assert body.meta == {"version": "proxy_v1"}


def test_an_ipv6_address_is_told_in_brackets() -> None:
    settings = load(None, ["proxy.host=::1", "proxy.id=east"], {"HOME": "/h"}).settings
    body = described(settings, 8001)
    assert (body.proxy_id, body.host, body.port) == ("east", "[::1]", 8001)
