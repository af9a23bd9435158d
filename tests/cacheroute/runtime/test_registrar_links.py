"""How long links to knowledge nodes last, also across a restart; and how the Scheduler stands."""

from pathlib import Path

import pytest

from cacheroute.core.topology import Link
from cacheroute.stores.base import SavedLinks
from cacheroute.stores.memory import MemoryRegistry
from tests.cacheroute.core.pool_builders import an_instance
from tests.cacheroute.runtime.test_registrar import FullDisk, Given, desk, said
from tests.support.proxy import running_proxy


def links() -> dict[str, Link]:
    return {"kdn://h:9101": Link.of({"bandwidth_mbps": 10.0})}


async def test_links_of_an_instance_that_never_measures_again_last_as_long_as_it_does() -> None:
    async with desk() as d:
        d.register()
        assert d.registrar.report_topology("i-1", links()) is None
        for _ in range(100):
            d.clock.wait(20.0)
            d.heartbeat()
        assert d.registrar.topology.links_of("i-1") == links()
        d.clock.wait(601.0)
        d.registrar.reap()
        assert not d.registrar.topology.reports


async def test_links_of_an_instance_that_has_moved_are_those_of_another_place() -> None:
    async with desk() as d:
        d.register()
        d.registrar.report_topology("i-1", links())
        d.register(weight=2.0)
        assert d.registrar.topology.links_of("i-1") == links()
        d.register(port=9002)
        assert d.registrar.topology.links_of("i-1") == {}


async def test_links_go_when_their_server_takes_another_name_or_leaves() -> None:
    async with desk() as d:
        d.register("old")
        d.registrar.report_topology("old", links())
        d.register("new")
        assert not d.registrar.topology.reports
        d.registrar.report_topology("new", links())
        d.registrar.unregister("new")
        assert not d.registrar.topology.known_addresses()


# Across a restart


def kept(store: MemoryRegistry) -> dict[str, SavedLinks]:
    return dict(store.load_all().links)


async def test_a_report_is_kept_and_goes_with_its_instance() -> None:
    store = MemoryRegistry()
    async with desk(store) as d:
        d.register()
        d.registrar.report_topology("i-1", links())
        now_wall_s = d.clock.wall_s
        assert kept(store) == {"i-1": SavedLinks(links=links(), reported_wall_s=now_wall_s)}
        d.clock.wait(5.0)
        d.registrar.report_topology("i-1", links())
        d.register(weight=2.0)
        assert kept(store)["i-1"].reported_wall_s == now_wall_s
        d.register(port=9002)
        assert kept(store) == {}
        d.registrar.report_topology("i-1", links())
        d.registrar.report_topology("i-1", {})
        assert kept(store) == {}
        d.registrar.report_topology("i-1", links())
        d.registrar.unregister("i-1")
        d.register()
        assert kept(store) == {}


async def test_a_report_that_is_refused_leaves_what_was_kept() -> None:
    store = MemoryRegistry()
    async with desk(store) as d:
        d.register()
        d.registrar.report_topology("i-1", links())
        before = kept(store)
        too_many = {f"k{n}": Link.of({}) for n in range(1_001)}
        assert d.registrar.report_topology("i-1", too_many) is not None
        assert kept(store) == before


async def test_a_disk_that_is_full_refuses_no_report() -> None:
    async with desk(FullDisk()) as d:
        d.register()
        assert d.registrar.report_topology("i-1", links()) is None
        assert d.registrar.topology.links_of("i-1") == links()


async def test_links_come_back_with_their_instance_and_as_old_as_they_are() -> None:
    async with desk() as before:
        then_wall_s = before.clock.wall_s - 600.0
    report = SavedLinks(links=links(), reported_wall_s=then_wall_s)
    store = Given((an_instance(),), links={"i-1": report, "nobody": report})
    async with desk(store) as d:
        d.registrar.restore()
        (restored,) = d.registrar.topology.reports.values()
        assert restored.links == links()
        assert d.clock.mono_s - restored.at.mono_s == pytest.approx(600.0)
        assert restored.at.wall_s == then_wall_s


async def test_links_of_an_instance_that_the_settings_name_now_stay_away() -> None:
    report = SavedLinks(links=links(), reported_wall_s=0.0)
    async with desk(Given((an_instance(),), links={"i-1": report})) as d:
        d.registrar.add_static(an_instance(port=9002, origin="static"))
        d.registrar.restore()
        assert not d.registrar.topology.reports


async def test_links_for_which_there_is_no_room_any_more_are_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    too_many = {f"k{n}": Link.of({}) for n in range(1_001)}
    store = Given((an_instance(),), links={"i-1": SavedLinks(links=too_many, reported_wall_s=0.0)})
    async with desk(store) as d:
        d.registrar.restore()
        assert set(d.proxy.pool.members) == {"i-1"}
        assert not d.registrar.topology.reports
        assert said(caplog) == [
            "registry.links_left_out instance_id=i-1 reason=A report may hold 1000 links, not 1001."
        ]


async def test_after_a_restart_the_nodes_are_known_without_any_new_report(tmp_path: Path) -> None:
    given = {"state_dir": str(tmp_path), "proxy__id": "hp_same"}
    async with running_proxy(**given) as first:
        for instance_id, port in (("i-1", 9), ("gone", 10)):
            await first.register(instance_id=instance_id, host="127.0.0.1", port=port)
            link = {"bandwidth_mbps": 940.5, "latency_ms": 0, "iface": None, "measured_by": "x"}
            keys = (f"kdn-{port}", f"kdn://127.0.0.{port}:9101")
            body = {"instance_id": instance_id, "links": dict.fromkeys(keys, link)}
            await first.control("POST", "/v1/topology/report", body)
        await first.control("POST", "/v1/instance/unregister", {"instance_id": "gone"})
        before = await first.control("GET", "/debug/topology")
    async with running_proxy(**given) as second:
        assert list(second.app._topology.known_addresses()) == ["127.0.0.9:9101"]
        found = second.app._topology.link_of("i-1", "127.0.0.9:9101")
        assert found is not None
        assert (found[0].bandwidth_mbps, found[0].latency_ms) == (940.5, 0.0)
        after = await second.control("GET", "/debug/topology")
        assert after["kdn_links"] == before["kdn_links"]
        assert after["kdn_links"]["kdn-9"]["reported_by"] == "i-1"
        assert after["instances"][0]["links"] == before["instances"][0]["links"]


# The Scheduler


async def test_without_a_scheduler_the_state_is_off() -> None:
    async with desk() as d:
        assert d.registrar.scheduler_state.state == "off"
        assert d.registrar.scheduler_state.since == d.registrar.started
