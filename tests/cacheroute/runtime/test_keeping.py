"""A store that never fails whoever keeps something in it."""

import logging

import pytest

from cacheroute.core.topology import Link
from cacheroute.runtime import keeping as keeping_module
from cacheroute.runtime.keeping import Keeping, Known
from cacheroute.stores.base import Loaded, SavedLinks
from cacheroute.stores.memory import MemoryRegistry
from tests.cacheroute.core.pool_builders import an_instance
from tests.cacheroute.runtime.test_registrar import FullDisk, Given, said

LINKS = {"kdn://h:9101": Link.of({"bandwidth_mbps": 10.0})}


def test_what_is_kept_comes_back_until_it_is_removed() -> None:
    keeping = Keeping(MemoryRegistry())
    keeping.save(an_instance())
    keeping.save_links(an_instance(), LINKS, 7.0)
    loaded = keeping.load()
    assert loaded.instances == (an_instance(),)
    assert loaded.links == {"i-1": SavedLinks(links=LINKS, reported_wall_s=7.0)}
    keeping.save_links(an_instance(), {}, 8.0)
    assert keeping.load().links == {}
    keeping.remove("i-1")
    assert keeping.load() == Loaded(instances=())


def test_a_static_instance_is_in_the_settings_and_not_kept() -> None:
    keeping = Keeping(MemoryRegistry())
    static = an_instance(origin="static")
    keeping.save(static)
    keeping.save_links(static, LINKS, 7.0)
    assert keeping.load() == Loaded(instances=())


def test_a_store_that_fails_is_told_of_once_until_it_works_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    keeping = Keeping(FullDisk())
    keeping.save(an_instance())
    keeping.save_links(an_instance(), LINKS, 7.0)
    keeping.remove("i-1")
    assert said(caplog) == ["registry.not_kept reason=No space left for i-1."]
    keeping._store = MemoryRegistry()
    keeping.save(an_instance())
    keeping._store = FullDisk()
    keeping.save_links(an_instance(), LINKS, 7.0)
    assert said(caplog)[1:] == ["registry.not_kept reason=No space left for the links of i-1."]


def test_what_could_not_be_written_is_written_once_the_store_works_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    here: dict[str, Known] = {
        "i-1": (an_instance(weight=2.0), SavedLinks(links=LINKS, reported_wall_s=7.0)),
        "i-2": (an_instance("i-2", port=2), None),
    }
    kept = MemoryRegistry()
    for instance_id in ("i-2", "i-3"):
        kept.save(an_instance(instance_id))
    kept.save_links("i-2", SavedLinks(links=LINKS, reported_wall_s=1.0))
    keeping = Keeping(FullDisk())
    keeping.save(an_instance())
    keeping.save_links(an_instance("i-2"), {}, 0.0)
    keeping.remove("i-3")
    keeping.catch_up(here.get)
    assert said(caplog) == ["registry.not_kept reason=No space left for i-1."]
    keeping._store = kept
    keeping.catch_up(here.get)
    assert said(caplog)[1:] == ["registry.caught_up"]
    loaded = keeping.load()
    assert {each.instance_id: each for each in loaded.instances} == {
        instance_id: instance for instance_id, (instance, _) in here.items()
    }
    assert loaded.links == {"i-1": SavedLinks(links=LINKS, reported_wall_s=7.0)}
    keeping.catch_up(lambda _: pytest.fail("nothing is owed any more"))


def test_what_is_to_be_written_later_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping_module, "MAX_OWED", 3)
    keeping = Keeping(FullDisk())
    for number in range(10):
        keeping.remove(f"i-{number}")
    kept: list[str] = []
    keeping._store = MemoryRegistry()
    keeping.catch_up(lambda instance_id: kept.append(instance_id))
    assert kept == ["i-7", "i-8", "i-9"]


def test_a_store_that_cannot_be_read_holds_nothing(caplog: pytest.LogCaptureFixture) -> None:
    assert Keeping(FullDisk()).load() == Loaded(instances=())
    assert said(caplog) == ["registry.unreadable reason=The disk cannot be read."]


def test_what_made_no_sense_is_told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    Keeping(Given((), skipped=("Row 7 makes no sense.",))).load()
    assert said(caplog) == ["registry.skipped reason=Row 7 makes no sense."]
