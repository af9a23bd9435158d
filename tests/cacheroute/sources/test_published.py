"""A Proxy without our pages is put into columns, and says the same as its own pages."""

from hypothesis import given

from cacheroute.console.look import Look
from cacheroute.console.rows.instances import rows_of
from cacheroute.console.rows.scores import score_rows
from cacheroute.sources.published import snapshot_of
from cacheroute.wire.debug import PoolResourceReply, SchedulerReply, StatusReply
from tests.cacheroute.console.builders import an_entry, some_loads
from tests.cacheroute.planes.console_parts import Drawn, an_owner, pools
from tests.cacheroute.planes.test_console_document import published, values

STATUS = StatusReply(ok=True, ttl_s=30, alive_instances=1, total_instances=1, expired_instances=0)


@given(pools)
def test_the_rows_are_those_of_the_published_pages(drawn: list[Drawn]) -> None:
    owner = an_owner(*drawn)
    entries, loads = published(owner)
    look = Look(
        snapshot=snapshot_of(
            rev=1, status=STATUS, entries=entries, loads=loads, pool=None, scheduler=None, now_s=0.0
        ),
        url="u",
    )

    assert [values(row) for row in look.instances] == [
        values(row) for row in rows_of(entries, loads)
    ]
    assert [(row.id, row.score, row.rank, row.excluded) for row in look.scores] == [
        (row.id, row.score, row.rank, row.excluded) for row in score_rows(entries, loads)
    ]


def test_a_proxy_of_others_tells_alive_from_not_and_no_more_of_the_time() -> None:
    entries = [
        an_entry("a", last_seen_at=1_099),
        an_entry("b", last_seen_at=1_050, is_alive=False),
        an_entry("c", last_seen_at=900, is_alive=False),
    ]
    look = Look(
        snapshot=snapshot_of(
            rev=1, status=STATUS, entries=entries, loads=some_loads(), pool=None, scheduler=None,
            now_s=0.0,
        ),
        url="u",
    )  # fmt: skip

    assert {row.id: row.state for row in look.instances} == {
        "a": "alive", "b": "stale", "c": "dead",
    }  # fmt: skip
    assert {row.id: row.age_s for row in look.instances}["b"] == 50.0
    assert (look.totals, look.snapshot.proxy.draining) == (None, None)


def test_without_loads_no_age_is_known_and_the_clock_is_ours() -> None:
    snapshot = snapshot_of(
        rev=4, status=STATUS, entries=[an_entry()], loads=None, pool=None, scheduler=None,
        now_s=77.0,
    )  # fmt: skip

    assert (snapshot.rev, snapshot.generated_at, snapshot.instances.age_s) == (4, 77.0, None)
    assert snapshot.weights == {}


def test_the_summary_and_the_scheduler_are_taken_over() -> None:
    pool = PoolResourceReply(
        ok=True, pool_resource={"proxy_id": "p", "load": {"inflight_total": 3}}
    )
    scheduler = SchedulerReply(ok=True, state="registered", url="http://s")
    snapshot = snapshot_of(
        rev=1, status=STATUS, entries=[], loads=None, pool=pool, scheduler=scheduler, now_s=0.0
    )

    assert (snapshot.proxy.proxy_id, snapshot.pool.inflight) == ("p", 3)
    assert snapshot.scheduler is not None
    assert (snapshot.scheduler.state, snapshot.scheduler.url) == ("registered", "http://s")


def test_the_rules_of_the_queues_are_taken_over_and_absent_ones_stay_unknown() -> None:
    rules = {"prepare_concurrency": 2, "max_queue": 9}
    load = {"instance_id": "a", "max_concurrent": 4, "kv_links_busy": 1}
    document = snapshot_of(
        rev=1, status=STATUS, entries=[an_entry("a")], loads=some_loads(load, queue_rules=rules),
        pool=None, scheduler=None, now_s=0.0,
    )  # fmt: skip
    older = snapshot_of(
        rev=1, status=STATUS, entries=[], loads=some_loads(), pool=None, scheduler=None, now_s=0.0
    )

    assert document.queue_rules is not None
    assert (document.queue_rules.max_queue, document.queue_rules.release_policy) == (9, None)
    assert document.identities is not None
    assert (document.identities.max_concurrent, document.instances.kv_links_busy) == (4, 1)
    assert older.queue_rules is None
