"""What Instances tell the Proxy, and everybody who has to hear of it."""

import contextlib
import glob
import logging
import sqlite3
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cacheroute.core.instance import Instance
from cacheroute.core.model_cards import ModelCards
from cacheroute.core.pool_outcomes import Refusal, Registration
from cacheroute.core.resources import Resource, normalise
from cacheroute.core.routing.weights import Weights
from cacheroute.core.topology import Link, Topology
from cacheroute.dataplane.pool import UpstreamPool
from cacheroute.runtime.probing import Prober
from cacheroute.runtime.proxy import Proxy
from cacheroute.runtime.registrar import Registrar
from cacheroute.stores.base import Loaded, RegistryStore, SavedLinks, StoreError
from cacheroute.stores.memory import MemoryRegistry
from cacheroute.stores.sqlite import SqliteRegistry
from cacheroute.upstream.instance import Instances
from tests.cacheroute.core.pool_builders import an_instance
from tests.cacheroute.core.routing.routing_builders import a_request
from tests.cacheroute.runtime.runtime_parts import HandClock, a_proxy, placed
from tests.support.backend import scripted
from tests.support.client import post
from tests.support.openai_shapes import chat
from tests.support.proxy import running_proxy


class FullDisk:
    """A store on a disk that takes nothing and gives nothing."""

    def save(self, instance: Instance) -> None:
        raise StoreError(f"No space left for {instance.instance_id}.")

    def save_links(self, instance_id: str, report: SavedLinks | None) -> None:
        raise StoreError(f"No space left for the links of {instance_id}.")

    def remove(self, instance_id: str) -> None:
        raise StoreError(f"No space left for {instance_id}.")

    def load_all(self) -> Loaded:
        raise StoreError("The disk cannot be read.")

    def close(self) -> None:
        """Nothing to let go of."""


@dataclass(slots=True, eq=False)
class Desk:
    """A registrar with everybody who hears from it."""

    proxy: Proxy
    clock: HandClock
    store: RegistryStore
    registrar: Registrar
    prober: Prober
    upstream: UpstreamPool
    instances: Instances

    @property
    def asked(self) -> set[str]:
        """Who is to be probed at once."""
        return {
            m.instance.instance_id
            for m, turn in self.prober._plan._turns.items()
            if turn.due_s == 0.0
        }

    def remembered(self) -> list[str]:
        return [instance.instance_id for instance in self.store.load_all().instances]

    def register(self, instance_id: str = "i-1", **given: Any) -> Registration:
        outcome = self.registrar.register(an_instance(instance_id, **given))
        assert isinstance(outcome, Registration), outcome
        return outcome

    def heartbeat(self, instance_id: str = "i-1", **given: Any) -> str:
        whole: dict[str, Any] = {
            "qps_1m": None, "gpu_util": None, "capabilities": None, "reported_fingerprint": None,
            **given,
        }  # fmt: skip
        return self.registrar.heartbeat(instance_id, **whole).status


@contextlib.asynccontextmanager
async def desk(
    store: RegistryStore | None = None, strategy: str = "least_load"
) -> AsyncIterator[Desk]:
    proxy, clock = a_proxy(strategy=strategy)
    upstream = UpstreamPool()
    instances = Instances(upstream, time.monotonic)
    prober = Prober(
        proxy=proxy, upstream=upstream, cards=ModelCards(), interval_s=30.0, timeout_s=1.0,
        default_endpoint=None,
    )  # fmt: skip
    kept = store or MemoryRegistry()
    registrar = Registrar(
        proxy=proxy, topology=Topology(), store=kept, prober=prober, instances=instances,
        weights=Weights(), capacity=8, started=clock.now(),
    )  # fmt: skip
    try:
        yield Desk(proxy, clock, kept, registrar, prober, upstream, instances)
    finally:
        upstream.close()


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records]


# Coming


async def test_one_that_registers_is_kept_probed_and_told_of(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    async with desk() as d:
        assert d.register().created
        assert d.remembered() == ["i-1"]
        assert d.asked == {"i-1"}
        assert said(caplog) == ["instance.registered instance_id=i-1 address=127.0.0.1:9001"]


async def test_one_that_registers_again_unchanged_costs_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with desk() as d:
        d.register()
        d.prober._plan._turns.clear()
        caplog.set_level(logging.INFO)
        caplog.clear()
        assert not d.register().changed
        assert d.asked == set()
        assert said(caplog) == []


async def test_one_that_changed_is_saved_and_probed_again() -> None:
    async with desk() as d:
        d.register()
        d.prober._plan._turns.clear()
        assert d.register(weight=2.0).changed
        assert d.asked == {"i-1"}
        assert d.store.load_all().instances[0].weight == 2.0


async def test_the_same_server_under_a_new_name_replaces_the_old_one() -> None:
    async with desk() as d:
        d.register("old")
        member = d.proxy.pool.members["old"]
        d.proxy.tally(member).requests = 5
        d.register("new")
        assert d.remembered() == ["new"]
        assert set(d.proxy.pool.members) == {"new"}
        assert d.asked == {"new"}
        assert not d.proxy.tallies


async def test_a_refusal_changes_nothing_and_is_told(caplog: pytest.LogCaptureFixture) -> None:
    async with desk() as d:
        d.registrar.add_static(an_instance("static", origin="static"))
        outcome = d.registrar.register(an_instance("other"))
        assert isinstance(outcome, Refusal)
        assert outcome.code == "address_taken"
        assert d.remembered() == []
        assert said(caplog) == ["instance.refused instance_id=other code=address_taken"]


async def test_a_static_instance_is_probed_and_never_kept() -> None:
    async with desk() as d:
        d.registrar.add_static(an_instance("static", origin="static"))
        assert d.asked == {"static"}
        assert d.remembered() == []
        d.register("static")
        assert d.remembered() == []


@pytest.mark.parametrize("weight", [0.0, 3.0])
async def test_a_change_of_weight_under_load_reaches_the_index(weight: float) -> None:
    async with desk() as d:
        d.register("i-1", port=1)
        d.register("i-2", port=2)
        held = [placed(d.proxy, a_request()) for _ in range(4)]
        d.register("i-1", port=1, weight=weight)
        for placement in held:
            d.proxy.release(placement)
        assert all(member.inflight == 0 for member in d.proxy.pool.members.values())


# Going


async def test_one_that_unregisters_is_forgotten_by_all() -> None:
    async with desk() as d:
        d.register()
        d.registrar.report_topology("i-1", {})
        d.proxy.tally(d.proxy.pool.members["i-1"])
        assert d.registrar.unregister("i-1")
        assert d.remembered() == []
        assert not d.proxy.pool.members
        assert not d.proxy.tallies
        assert not d.prober._plan._turns
        assert not d.registrar.unregister("i-1")


async def test_a_static_one_cannot_be_unregistered() -> None:
    async with desk() as d:
        d.registrar.add_static(an_instance("static", origin="static"))
        assert not d.registrar.unregister("static")
        assert d.asked == {"static"}


async def test_one_that_is_silent_for_long_is_reaped(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with desk() as d:
        d.register()
        d.clock.wait(599.0)
        d.registrar.reap()
        assert "i-1" in d.proxy.pool.members
        d.clock.wait(2.0)
        d.registrar.reap()
        assert not d.proxy.pool.members
        assert d.remembered() == []
        assert "instance.expired instance_id=i-1" in said(caplog)
        assert "instance.gone instance_id=i-1 reason=reaped" in said(caplog)


# Signs of life


async def test_a_heartbeat_counts_and_brings_its_numbers() -> None:
    async with desk() as d:
        d.register()
        d.clock.wait(29.0)
        assert d.heartbeat(qps_1m=4.0, gpu_util=50.0) == "ok"
        d.clock.wait(29.0)
        member = d.proxy.pool.members["i-1"]
        assert d.proxy.pool.liveness(member, d.clock.now()) == "alive"
        assert (member.qps_1m, member.gpu_util) == (4.0, 50.0)


async def test_new_capabilities_are_kept_and_probed() -> None:
    async with desk() as d:
        d.register()
        d.prober._plan._turns.clear()
        assert d.heartbeat(capabilities={"model": {"identifier": "new"}}) == "ok"
        assert d.asked == {"i-1"}
        assert d.store.load_all().instances[0].capabilities == {"model": {"identifier": "new"}}


@pytest.mark.parametrize("times", [1, 5])
async def test_an_unknown_id_is_told_of_once(times: int, caplog: pytest.LogCaptureFixture) -> None:
    async with desk() as d:
        for _ in range(times):
            assert d.heartbeat("ghost") == "unknown_instance"
            d.registrar.report_resource("ghost", a_resource())
            assert d.registrar.report_topology("ghost", {}) is not None
        assert said(caplog) == ["instance.unknown instance_id='ghost' call=heartbeat"]
        d.register("ghost")
        d.registrar.unregister("ghost")
        caplog.clear()
        d.heartbeat("ghost")
        assert len(said(caplog)) == 1


def a_resource() -> Resource:
    return normalise({}, {}, HandClock().now())


# A store that fails


async def test_a_disk_that_is_full_keeps_nobody_out(caplog: pytest.LogCaptureFixture) -> None:
    async with desk(FullDisk()) as d:
        for n in range(3):
            d.register(f"i-{n}", port=n + 1)
        assert len(d.proxy.pool.members) == 3
        assert d.registrar.unregister("i-0")
        assert d.heartbeat("i-1", capabilities={"model": {"identifier": "m"}}) == "ok"
        told = [line for line in said(caplog) if line.startswith("registry.")]
        assert told == ["registry.not_kept reason=No space left for i-0."]


async def test_a_disk_that_cannot_be_read_stops_no_start(caplog: pytest.LogCaptureFixture) -> None:
    async with desk(FullDisk()) as d:
        d.registrar.restore()
        assert said(caplog) == ["registry.unreadable reason=The disk cannot be read."]


# After a restart


@dataclass(slots=True)
class Given:
    """A store that remembers what it is given."""

    instances: tuple[Instance, ...]
    skipped: tuple[str, ...] = ()
    links: dict[str, SavedLinks] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)

    def save(self, instance: Instance) -> None:
        """Keep nothing new."""

    def save_links(self, instance_id: str, report: SavedLinks | None) -> None:
        """Keep nothing new."""

    def remove(self, instance_id: str) -> None:
        self.removed.append(instance_id)

    def load_all(self) -> Loaded:
        return Loaded(instances=self.instances, links=self.links, skipped=self.skipped)

    def close(self) -> None:
        """Nothing to let go of."""


async def test_what_was_known_before_is_back_and_probed(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    store = Given((an_instance("a", port=1), an_instance("b", port=2)), ("Row 7 makes no sense.",))
    async with desk(store) as d:
        d.registrar.restore()
        assert set(d.proxy.pool.members) == {"a", "b"} == d.asked
        assert said(caplog) == [
            "registry.skipped reason=Row 7 makes no sense.",
            "registry.restored instances=2",
        ]


async def test_what_the_settings_say_outranks_what_was_known_before() -> None:
    store = Given((an_instance("old-name"), an_instance("b", port=2)))
    async with desk(store) as d:
        d.registrar.add_static(an_instance("static", origin="static"))
        d.registrar.restore()
        assert set(d.proxy.pool.members) == {"static", "b"}
        assert store.removed == ["old-name"]


async def test_a_second_proxy_on_the_same_folder_serves_with_what_the_first_one_knew(
    tmp_path: Path,
) -> None:
    async with scripted() as backend:
        given = {"state_dir": str(tmp_path), "proxy__id": "hp_same"}
        async with running_proxy(**given) as first:
            await first.register(
                instance_id="i-1", host="127.0.0.1", port=backend.port, tags=["a"], weight=2.0,
                meta={"rack": 7},
            )  # fmt: skip
            await first.register(instance_id="gone", host="127.0.0.1", port=9)
            await first.control("POST", "/v1/instance/unregister", {"instance_id": "gone"})
            before = await first.instances()
        async with running_proxy(**given) as second:
            assert (await post(second.service_port, chat())).status == 200
            (row,) = await second.instances()
            for key in ("instance_id", "host", "port", "tags", "weight", "meta", "registered_at"):
                assert row[key] == before[0][key]
            assert row["is_alive"]


async def test_who_came_while_the_store_was_locked_is_kept_when_it_is_free(tmp_path: Path) -> None:
    path = tmp_path / "registry.sqlite"
    with contextlib.closing(SqliteRegistry.open(path).store) as store:
        async with desk(store) as each:
            with contextlib.closing(sqlite3.connect(path)) as other:
                other.execute("BEGIN EXCLUSIVE")
                each.register("i-1")
                each.register("i-2", port=2)
                each.registrar.unregister("i-2")
                links = {"kdn://h:9101": Link.of({"bandwidth_mbps": 10.0})}
                assert each.registrar.report_topology("i-1", links) is None
                other.rollback()
            assert each.remembered() == []
            each.registrar.reap()
            assert each.remembered() == ["i-1"]
            assert store.load_all().links["i-1"].links == links


async def test_what_is_owed_at_the_end_is_written_before_the_store_is_closed(
    tmp_path: Path,
) -> None:
    given = {"state_dir": str(tmp_path), "proxy__id": "p-1"}
    async with running_proxy(**given) as proxy:
        [path] = glob.glob(f"{tmp_path}/**/registry.sqlite", recursive=True)
        with contextlib.closing(sqlite3.connect(path)) as other:
            other.execute("BEGIN EXCLUSIVE")
            await proxy.register(instance_id="i-1", host="127.0.0.1", port=9)
            other.rollback()

    with contextlib.closing(SqliteRegistry.open(Path(path)).store) as store:
        assert [instance.instance_id for instance in store.load_all().instances] == ["i-1"]
