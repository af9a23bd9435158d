"""What Instances say when they are asked, and what becomes of those that do not answer."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest

from cacheroute.core.health.ejection import Ejections
from cacheroute.core.health.probe_plan import PLACES
from cacheroute.core.model_cards import ModelCards
from cacheroute.core.pool_member import Member
from cacheroute.dataplane.pool import UpstreamPool
from cacheroute.runtime.probing import Prober
from cacheroute.runtime.proxy import Proxy
from tests.cacheroute.core.pool_builders import an_instance, joined
from tests.cacheroute.runtime.runtime_parts import HandClock, a_proxy
from tests.support.backend import ScriptedBackend, page, refusing, scripted
from tests.support.client import fetch
from tests.support.proxy import running_proxy
from tests.support.script import END, Freeze, chunk, json_answer, stream_head
from tests.support.waiting import eventually, eventually_is


@dataclass(slots=True, eq=False)
class Round:
    """A prober that runs."""

    proxy: Proxy
    clock: HandClock
    cards: ModelCards
    prober: Prober
    task: asyncio.Task[None]

    def add(self, backend: ScriptedBackend, instance_id: str = "i-1", **given: Any) -> Member:
        """Let an Instance register, and be asked."""
        instance = an_instance(instance_id, port=backend.port, **given)
        member = joined(self.proxy.pool, instance, self.clock.now())
        self.prober.ask_soon(member)
        return member

    def pass_time(self, seconds: float) -> None:
        """Let the clock run, and the prober look at it."""
        self.clock.wait(seconds)
        self.prober._wake.set()


@contextlib.asynccontextmanager
async def probing(*, timeout_s: float = 5.0, endpoint: str | None = None) -> AsyncIterator[Round]:
    proxy, clock = a_proxy()
    upstream, cards = UpstreamPool(), ModelCards()
    prober = Prober(
        proxy=proxy,
        upstream=upstream,
        cards=cards,
        interval_s=30.0,
        timeout_s=timeout_s,
        default_endpoint=endpoint,
    )
    task = asyncio.get_running_loop().create_task(prober.run())
    round_ = Round(proxy, clock, cards, prober, task)
    try:
        yield round_
    finally:
        assert not round_.task.done(), round_.task.exception()
        round_.task.cancel()
        await asyncio.wait([round_.task])
        upstream.close()


def paths(backend: ScriptedBackend) -> list[str]:
    return [probe.path for probe in backend.probes]


def served(member: Member) -> set[str]:
    """The models that an Instance is known to serve."""
    return set(member.models or ())


# What they serve


async def test_a_new_instance_is_asked_at_once_and_its_models_are_known() -> None:
    async with scripted() as backend, probing() as round_:
        backend.set_models("a", "b")
        member = round_.add(backend)
        await eventually(lambda: served(member) == {"a", "b"})
        assert paths(backend) == ["/v1/models"]


async def test_it_is_asked_again_when_its_time_has_come_and_not_before() -> None:
    async with scripted() as backend, probing() as round_:
        member = round_.add(backend)
        await eventually(lambda: served(member) == {"m"})
        backend.set_models("new")
        round_.pass_time(29.0)
        await asyncio.sleep(0.02)
        assert len(backend.probes) == 1
        round_.pass_time(2.0)
        await eventually(lambda: served(member) == {"new"})


async def test_one_that_changed_is_asked_now_also_while_it_is_being_asked() -> None:
    async with scripted() as backend, probing() as round_:
        member = round_.add(backend)
        await eventually(lambda: len(backend.probes) == 1)
        backend.set_models("new")
        round_.prober.ask_soon(member)
        await eventually(lambda: served(member) == {"new"})


@pytest.mark.parametrize(
    "said",
    [
        b"", b"null", b"[]", b"<html>", b'{"data":null}', b'{"data":[1]}', b"\xff\xfe",
        b'{"data":[{"id":"' + b"\xff" + b'"}]}',
        b'{"data":[{"id":' + b"[" * 5000 + b"]" * 5000 + b"}]}",
        b"[" * 100_000,
    ],
    ids=range(10),
)  # fmt: skip
async def test_a_list_that_cannot_be_read_says_nothing_and_harms_nobody(said: bytes) -> None:
    async with scripted() as odd, scripted() as backend, probing() as round_:
        odd.pages["/v1/models"] = page(said, "application/json")
        one = round_.add(odd, "odd")
        await eventually(lambda: odd.probes)
        other = round_.add(backend, "good")
        await eventually(lambda: served(other) == {"m"})
        assert one.models is None
        assert not Ejections.is_resting(one)
        round_.pass_time(31.0)
        await eventually(lambda: len(backend.probes) == 2)


@pytest.mark.parametrize("status", [401, 404, 405])
async def test_one_that_has_no_list_answers_all_the_same(status: int) -> None:
    async with scripted() as backend, probing() as round_:
        backend.pages["/v1/models"] = json_answer({}, status)
        member = round_.add(backend, origin="static")
        await eventually(lambda: backend.probes)
        await asyncio.sleep(0.02)
        assert member.models is None
        assert member.rest is None


async def test_an_empty_list_means_that_it_serves_nothing() -> None:
    async with scripted() as backend, probing() as round_:
        backend.set_models()
        member = round_.add(backend)
        await eventually(lambda: member.models == frozenset())


async def test_the_key_and_the_base_path_are_its_own() -> None:
    async with scripted(base="/base") as backend, probing() as round_:
        member = round_.add(backend, base_path="/base", api_key="sk-1")
        await eventually(lambda: served(member) == {"m"})
        (probe,) = backend.probes
        assert probe.target == "/base/v1/models"
        assert probe.head.one("authorization") == b"Bearer sk-1"


# Whether they answer


@pytest.mark.parametrize("of", ["instance", "settings"])
async def test_a_health_page_is_asked_first_where_one_is_named(of: str) -> None:
    async with (
        scripted() as backend,
        probing(endpoint="/health" if of != "instance" else None) as r,
    ):
        member = r.add(backend, health_endpoint="/health" if of == "instance" else None)
        await eventually(lambda: served(member) == {"m"})
        assert paths(backend) == ["/health", "/v1/models"]


@pytest.mark.parametrize("status", [500, 503])
async def test_a_health_page_that_says_no_counts_like_a_failed_request(
    status: int, caplog: pytest.LogCaptureFixture
) -> None:
    async with scripted() as backend, probing(endpoint="/health") as round_:
        backend.pages["/health"] = json_answer({}, status)
        member = round_.add(backend)
        for count in (1, 2, 3):
            await eventually(lambda: len(backend.probes) >= count)  # noqa: B023
            round_.pass_time(1.1)
        await eventually(lambda: Ejections.is_resting(member))
        assert set(paths(backend)) == {"/health"}
        told = [r.getMessage() for r in caplog.records if r.name == "cacheroute.probing"]
        assert len(told) == 1
        assert told[0].startswith("probe.failed instance_id=i-1 reason=")
        assert f"answered /health with {status}" in told[0]


async def test_one_that_never_answers_is_asked_less_and_less_often() -> None:
    async with scripted() as backend, probing(endpoint="/health") as round_:
        backend.pages["/health"] = json_answer({}, 500)
        member = round_.add(backend)
        turn = round_.prober._plan._turns[member]
        for count, pause_s in enumerate((1.0, 1.0, 1.0, 2.0, 4.0, 8.0), start=1):
            await eventually(lambda: turn.failures == count)  # noqa: B023
            due_s = turn.due_s - round_.clock.now().mono_s
            assert due_s == pytest.approx(pause_s)
            round_.pass_time(pause_s + 0.1)


async def test_a_dead_static_instance_is_taken_out_and_comes_back() -> None:
    async with (
        scripted() as good,
        refusing() as dead,
        running_proxy(
            dead, good.url, pool__health_check_interval_s=0.05, pool__ejection__failures=2
        ) as proxy,
    ):
        name = f"hp_{dead.removeprefix('http://')}"

        async def resting() -> bool:
            return f'resting{{instance="{name}"}} 1.0' in await proxy.metrics()

        await eventually_is(resting, bool)
        assert proxy.app.is_ready()


async def test_silence_is_a_failure_with_the_limit_in_its_words(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with scripted() as backend, probing(timeout_s=0.05) as round_:
        backend.pages["/v1/models"] = (Freeze(),)
        round_.add(backend)
        await eventually(lambda: caplog.records)
        assert "did not answer /v1/models within 0.05 s." in caplog.records[0].getMessage()


async def test_one_that_answers_again_is_told_and_a_green_page_alone_ends_no_rest(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    async with scripted() as backend, probing() as round_:
        backend.pages["/v1/models"] = json_answer({}, 500)
        member = round_.add(backend)
        await eventually(lambda: backend.probes)
        for _ in range(3):
            round_.proxy.failed(member, "boom")
        backend.set_models("m")
        round_.pass_time(0.9)
        await asyncio.sleep(0.01)
        round_.pass_time(0.2)
        await eventually(lambda: served(member) == {"m"})
        assert any("probe.answers instance_id=i-1" in r.getMessage() for r in caplog.records)
        assert member.rest is not None


async def test_an_answer_is_a_sign_of_life_of_static_instances_alone() -> None:
    async with scripted() as backend, scripted() as other, probing() as round_:
        static = round_.add(backend, "static", origin="static")
        registered = round_.add(other, "registered")
        await eventually(lambda: static.models and registered.models)
        round_.pass_time(31.0)
        await eventually(lambda: static.last_seen_mono_s == round_.clock.mono_s)
        assert registered.last_seen_mono_s == round_.clock.mono_s - 31.0


async def test_one_that_is_stuck_keeps_no_newcomer_waiting() -> None:
    async with scripted() as stuck, scripted() as backend, probing() as round_:
        stuck.pages["/v1/models"] = (Freeze(),)
        round_.add(stuck, "stuck")
        await eventually(lambda: stuck.probes)
        member = round_.add(backend, "new")
        await eventually(lambda: served(member) == {"m"}, within_s=1.0)


async def test_one_that_leaves_while_it_is_asked_leaves_nothing_behind() -> None:
    async with scripted() as backend, scripted() as other, probing() as round_:
        listed = b'{"data":[{"id":"late"}]}'
        begun, rest = chunk(listed[:5]), chunk(listed[5:])
        backend.pages["/v1/models"] = (
            stream_head(content_type="application/json"),
            begun,
            rest,
            END,
        )
        member = round_.add(backend)
        await eventually(lambda: backend.probes)
        round_.proxy.pool.unregister("i-1")
        round_.prober.forget(member)
        newcomer = round_.add(other, "i-2")
        await eventually(lambda: served(newcomer) == {"m"})
        assert member not in round_.prober._plan
        assert round_.cards.merged([("i-1", ["declared"])])[0]["owned_by"] == "cacheroute"


# The merged list


async def test_the_lists_of_all_are_one_list_and_each_card_is_as_it_was() -> None:
    async with scripted() as one, scripted() as two, running_proxy(one.url, two.url) as proxy:
        card = {
            "id": "x",
            "object": "model",
            "owned_by": "vllm",
            "max_model_len": 4096,
            "root": "/w",
        }
        one.pages["/v1/models"] = json_answer({"object": "list", "data": [card]})
        two.set_models("m", "x")
        await proxy.register(
            instance_id="i-3", host="127.0.0.1", port=1, meta={"model": "declared"}
        )
        for backend in (one, two):
            proxy.app._prober.ask_soon(proxy.app.proxy.pool.members[backend.instance_id])

        async def listed() -> list[dict[str, Any]]:
            got = await fetch(proxy.service_port, "GET", "/v1/models")
            rows = got.json()["data"]
            assert isinstance(rows, list)
            return rows

        rows = await eventually_is(listed, lambda rows: len(rows) == 3)
        assert {row["id"] for row in rows} == {"x", "m", "declared"}
        assert next(row for row in rows if row["id"] == "x") == card
        got = await fetch(proxy.service_port, "GET", "/v1/models/x")
        assert got.json() == card


async def test_who_was_being_asked_when_the_prober_broke_off_is_asked_again() -> None:
    async with scripted() as backend, probing() as round_:
        backend.pages["/v1/models"] = (Freeze(),)
        member = round_.add(backend)
        await eventually(lambda: len(backend.probes) == 1)
        round_.task.cancel()
        await asyncio.wait([round_.task])

        round_.task = asyncio.get_running_loop().create_task(round_.prober.run())
        await eventually(lambda: len(backend.probes) == 2)
        assert member in round_.prober._plan._asking


async def test_those_that_hang_keep_nobody_waiting_that_answers() -> None:
    """Twice as many as are asked at once, each at an address of its own."""
    async with scripted() as live, scripted(host="0.0.0.0") as dead, probing() as round_:
        dead.pages["/v1/models"] = json_answer({}, 500)
        hosts = [f"127.0.1.{number}" for number in range(1, 2 * PLACES + 1)]
        members = [round_.add(dead, host, host=host) for host in hosts]
        turns = round_.prober._plan._turns
        await eventually(lambda: all(turns[member].failures for member in members))
        member = round_.add(live, "live")
        await eventually(lambda: served(member) == {"m"})
        dead.pages["/v1/models"] = (Freeze(),)
        before = len(dead.probes)
        round_.pass_time(31.0)
        await eventually(lambda: len(live.probes) == 2)
        await eventually(lambda: len(dead.probes) == before + PLACES)


async def test_a_list_of_a_million_values_is_not_built() -> None:
    async with scripted() as backend, probing() as round_:
        listing = b'{"data":[{"id":"m","x":[' + b"[]," * 500_000 + b"1]}]}"
        backend.pages["/v1/models"] = page(listing, "application/json")
        member = round_.add(backend)
        turn = round_.prober._plan._turns[member]
        await eventually(lambda: turn.failures == 0)
        assert member.models is None
        assert not Ejections.is_resting(member)
