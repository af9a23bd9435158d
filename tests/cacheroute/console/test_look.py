"""One look: rows of every kind from one document, which age while nothing else moves."""

from datetime import UTC, datetime

from cacheroute.console.look import Look
from cacheroute.wire.console import (
    Columns,
    ConsoleSnapshot,
    Identities,
    Knowledge,
    Pool,
    PredictionErrors,
    Proxy,
    SchedulerSide,
)

TWO = ConsoleSnapshot(
    rev=5,
    generated_at=100.0,
    run="r",
    ttl_s=30,
    proxy=Proxy(proxy_id="p", strategy="least_load", uptime_s=50.0, draining=False),
    pool=Pool(inflight=3, accepting=1, admission_state="degraded"),
    knowledge=Knowledge(kv_inject=2),
    prediction_errors=PredictionErrors(count=9, window=8, p50_ratio=0.1),
    scheduler=SchedulerSide(state="registered", url="http://s", state_age_s=4.0, heard_age_s=1.0),
    identities=Identities(ids=["a", "b"], host="h", port=[1, 2]),
    instances=Columns(
        state=["alive", "stale"],
        age_s=[1.0, 40.0],
        inflight=[3, 0],
        score=[3.0, 0.0],
        predicted_total_backlog_ms=[1_500.0, None],
        ejected_for_s=[2.0, 0.0],
        report_age_s=[0.5, None],
    ),
)
LOOK = Look(snapshot=TWO, url="http://p")


def test_a_look_knows_when_and_whose_it_is() -> None:
    assert (LOOK.rev, LOOK.run, LOOK.url) == (5, "r", "http://p")
    assert LOOK.at == datetime(1970, 1, 1, 0, 1, 40, tzinfo=UTC)
    assert LOOK.totals is None


def test_what_only_gets_older_is_the_same_look_later() -> None:
    later = LOOK.later(10.0)

    assert later.rev == LOOK.rev
    assert later.at_s == 110.0
    assert [row.age_s for row in later.instances] == [11.0, 50.0]
    assert later.instances[0].ejected_for_s == 0.0
    assert later.instances[0].report_age_s == 10.5
    assert later.overview().uptime_s == 60.0
    assert later.scheduler is not None
    assert (later.scheduler.state_age_s, later.scheduler.heard_age_s) == (14.0, 11.0)
    assert LOOK.later(-3.0).at_s == 100.0


def test_the_rows_of_a_kind_are_made_once() -> None:
    assert LOOK.instances is LOOK.instances
    assert [row.id for row in LOOK.queues] == ["a", "b"]
    assert [row.id for row in LOOK.resources] == ["a", "b"]


def test_the_overview_is_put_together_from_the_document_and_judged_by_our_rules() -> None:
    seen = LOOK.overview()

    assert (seen.proxy_id, seen.alive, seen.stale, seen.inflight) == ("p", 1, 1, 3)
    assert (seen.backlog_max_ms, seen.backlog_max_id) == (1_500.0, "a")
    assert seen.knowledge is not None
    assert (seen.knowledge.kv_inject, seen.knowledge.predictions) == (2, 8)
    assert seen.scheduler is not None
    assert {alert.kind for alert in seen.alerts} == {"stale", "ejected"}
    assert LOOK.overview(alerts=()).alerts == ()


def test_a_proxy_without_a_scheduler_or_that_tells_nothing_of_it_shows_none() -> None:
    off = ConsoleSnapshot(rev=1, generated_at=0.0, scheduler=SchedulerSide())

    assert Look(snapshot=off, url="u").overview().scheduler is None
    assert Look(snapshot=ConsoleSnapshot(rev=1, generated_at=0.0), url="u").scheduler is None


def test_a_few_instances_can_be_looked_at_alone() -> None:
    alone = LOOK.only("b", "z")

    assert [row.id for row in alone.instances] == ["b"]
    assert alone.rev == LOOK.rev
