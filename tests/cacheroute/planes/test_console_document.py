"""The columns say what the published pages say, at a tenth of the price."""

import gc
import json
import math
import time
from collections.abc import Callable
from dataclasses import asdict, replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.console.look import Look
from cacheroute.console.queueing import queueing_of
from cacheroute.console.rows.instances import FleetRow, rows_of
from cacheroute.console.rows.loads import load_rows
from cacheroute.console.rows.resources import resource_rows
from cacheroute.console.rows.scores import score_rows
from cacheroute.core.dispatch.rules import QueueRules
from cacheroute.core.topology import Link
from cacheroute.planes import debug
from cacheroute.planes.console_document import document, fingerprint, identity, total_of
from cacheroute.planes.summary import limits, ttl_s
from cacheroute.wire.console import ConsoleSnapshot
from cacheroute.wire.console_reading import read_snapshot
from cacheroute.wire.debug import InstanceLoadsReply, InstanceResourcesReply
from cacheroute.wire.instances import InstanceRow
from cacheroute.wire.queue_rules import QueueRules as QueueRulesTold
from tests.cacheroute.core.pool_builders import at
from tests.cacheroute.planes.console_parts import Drawn, a_thousand, an_owner, pools
from tests.cacheroute.planes.control_parts import Owner

MEASURES = {"cpu_util", "memory_util", "gpu_util", "gpu_memory_util"}


def told(owner: Owner) -> ConsoleSnapshot:
    found = read_snapshot(
        msgspec.json.encode(document(owner, owner.clock.now(), rev=1, run="r", who=1))
    )
    assert isinstance(found, ConsoleSnapshot)
    return found


def published(owner: Owner) -> tuple[list[InstanceRow], InstanceLoadsReply]:
    snapshot = owner.pool.snapshot(owner.clock.now())
    entries = debug.instance_rows(snapshot, include_dead=True, raw=False)
    loads = debug.instance_loads(
        snapshot,
        include_dead=True,
        ttl_s=ttl_s(owner),
        weights=owner.weights.as_mapping(),
        limits=limits(owner),
    )
    return (
        [InstanceRow.model_validate(json.loads(json.dumps(entry))) for entry in entries],
        InstanceLoadsReply.model_validate(loads),
    )


def values(row: object) -> dict[str, object]:
    return {name: getattr(row, name) for name in type(row).__slots__}  # type: ignore[attr-defined]


def is_close(ours: object, theirs: object, by: float) -> bool:
    if isinstance(ours, float) and isinstance(theirs, int | float):
        return math.isclose(ours, theirs, rel_tol=1e-3, abs_tol=by)
    return ours == theirs


@given(pools)
def test_the_columns_say_the_same_as_the_list_and_the_loads(drawn: list[Drawn]) -> None:
    owner = an_owner(*drawn)
    entries, loads = published(owner)

    ours = {row.id: values(row) for row in Look(snapshot=told(owner), url="u").instances}
    theirs = {row.id: values(row) for row in rows_of(entries, loads)}

    assert ours.keys() == theirs.keys()
    for id_, row in ours.items():
        other = theirs[id_]
        # A list tells when a report came in whole seconds.
        report_s, whole_s = row.pop("report_age_s"), other.pop("report_age_s")
        assert (report_s is None) == (whole_s is None)
        assert report_s is None or is_close(report_s, whole_s, by=1.0)
        for name, value in row.items():
            by = 0.5 if name in MEASURES else 0.006
            assert is_close(value, other[name], by), name


@given(pools)
def test_every_score_is_the_servers_own_total_to_the_last_bit(drawn: list[Drawn]) -> None:
    owner = an_owner(*drawn)
    _, loads = published(owner)
    snapshot = told(owner)

    totals = {row.instance_id: row.least_load_score.total for row in loads.instances}
    scores = snapshot.instances.score

    spread = scores if isinstance(scores, list) else [scores] * len(snapshot.ids)
    assert dict(zip(snapshot.ids, spread, strict=True)) == totals


@given(pools)
def test_the_parts_of_a_score_and_the_order_are_those_of_the_published_pages(
    drawn: list[Drawn],
) -> None:
    owner = an_owner(*drawn)
    entries, loads = published(owner)

    ours = Look(snapshot=told(owner), url="u").scores
    theirs = score_rows(entries, loads)

    assert [(row.id, row.rank, row.state, row.excluded, row.behind) for row in ours] == [
        (row.id, row.rank, row.state, row.excluded, row.behind) for row in theirs
    ]
    for mine, its in zip(ours, theirs, strict=True):
        assert {term.signal for term in mine.terms} == {term.signal for term in its.terms}
        for term, other in zip(
            sorted(mine.terms, key=lambda term: term.signal),
            sorted(its.terms, key=lambda term: term.signal),
            strict=True,
        ):
            assert (term.weight, term.source) == (other.weight, other.source)
            assert is_close(term.value, other.value, by=0.001)


@given(pools)
def test_loads_and_resources_are_the_published_ones(drawn: list[Drawn]) -> None:
    owner = an_owner(*drawn)
    _, loads = published(owner)
    snapshot = owner.pool.snapshot(owner.clock.now())
    hosts = InstanceResourcesReply.model_validate(
        debug.instance_resources(snapshot, include_dead=True)
    )
    look = Look(snapshot=told(owner), url="u")

    for ours, theirs in (
        (look.loads, load_rows(loads)),
        (look.resources, resource_rows(hosts, loads)),
    ):
        assert [row.id for row in ours] == [row.id for row in theirs]
        for mine, its in zip(ours, theirs, strict=True):
            other = values(its)
            for name, value in values(mine).items():
                by = {"report_age_s": 1.0}.get(name, 0.5 if name in MEASURES else 0.006)
                assert is_close(value, other[name], by), name


@given(pools, st.sampled_from([1, 3, 256]))
def test_the_queues_are_summed_up_alike_from_columns_and_from_the_pages(
    drawn: list[Drawn], max_queue: int
) -> None:
    owner = an_owner(*drawn)
    owner.queue_rules = QueueRules(max_queue=max_queue)
    for number, member in enumerate(owner.pool.members.values()):
        if number % 2:
            member.instance = replace(member.instance, max_concurrent=number)
    _, loads = published(owner)

    assert Look(snapshot=told(owner), url="u").queueing == queueing_of(load_rows(loads))


def test_what_nobody_reported_is_null_and_a_zero_is_a_zero() -> None:
    owner = an_owner(
        Drawn(
            silent_s=0.0, inflight=0, qps_1m=None, gpu_util=None, weight=1.0, draining=False,
            resting_s=0.0, queued=None, reported=None, models=None, static=False,
        )
    )  # fmt: skip
    it = told(owner).instances

    assert (it.inflight, it.score) == (0, 0.0)
    assert (it.cpu_util, it.qps_1m, it.report_age_s, it.prepare_queue_depth) == (None,) * 4
    assert told(Owner()).ids == []


def test_the_rules_and_the_links_in_use_are_told() -> None:
    owner = a_thousand()
    first, second, *_ = owner.pool.members
    owner.queue_rules = QueueRules(max_queue=7, release_policy="text_bypass")
    owner.injection_strategy = "iws"
    owner.topology.report(second, {"kdn:1": Link.of({"bandwidth_mbps": 1.0})}, owner.clock.now())
    owner.links.reserve((second, "kdn:1"), 0.0, 5.0)

    it = told(owner)
    rows = {row.id: row for row in Look(snapshot=it, url="u").loads}

    assert (it.queue_rules, it.proxy.injection_strategy) == (
        QueueRulesTold(**asdict(owner.queue_rules)),
        "iws",
    )
    assert (rows[first].kv_links, rows[first].kv_links_busy) == (0, 0)
    assert (rows[second].kv_links, rows[second].kv_links_busy) == (1, 1)
    assert (rows[first].queue_limit, rows[first].ready_limit) == (7, 64)


def test_totals_add_up_what_has_left_and_what_reached_nobody() -> None:
    owner = an_owner()
    nowhere, departed = owner.elsewhere
    nowhere.requests, departed.requests, departed.completion_tokens = 2, 3, 40
    nowhere.fail("no_instance")
    departed.ttft_s.observe(0.2)

    totals = told(owner).totals

    assert totals is not None
    assert (totals.requests, totals.failures, totals.completion_tokens) == (5, 1, 40)
    assert sum(totals.ttft_counts) == 1
    assert len(totals.ttft_counts) == len(totals.ttft_bounds_s) + 1


def test_a_fingerprint_is_the_same_while_only_time_passes_and_moves_with_whatever_is_told() -> None:
    owner = a_thousand()
    [first, *_] = owner.pool.members.values()
    first.queues = None
    first.awaiting, first.unanswered_since_mono_s = 0, 990.0
    before, who = fingerprint(owner, owner.clock.now()), identity(owner)

    assert fingerprint(owner, owner.clock.now()) == before

    changes: list[Callable[[], object]] = [
        lambda: setattr(first, "inflight", 99),
        lambda: setattr(first, "awaiting", 1),
        lambda: setattr(first, "unanswered_since_mono_s", 991.0),
        lambda: setattr(first, "qps_1m", 1.5),
        lambda: setattr(first, "weight", 0.0),
        lambda: setattr(first, "draining", True),
        lambda: setattr(first, "ejected_until_mono_s", 2_000.0),
        lambda: setattr(first, "last_seen_mono_s", 999.9),
        lambda: setattr(owner.tallies[first], "requests", 7_000),
        lambda: setattr(owner, "draining", True),
        lambda: setattr(owner.decisions, "total", 1),
        lambda: setattr(owner.traces, "total", 1),
        lambda: owner.links.reserve(("i-1", "kdn:1"), 0.0, 5.0),
        lambda: owner.links.reserve(("i-1", "kdn:1"), 0.0, 5.0),
        lambda: owner.nodes.answered("kdn:1", 1.0),
        lambda: owner.topology.report("i-1", {"kdn:1": Link.of({"rtt_ms": 1})}, at(1.0)),
    ]
    for change in changes:
        change()
        after = fingerprint(owner, owner.clock.now())
        assert after != before
        before = after
    assert identity(owner) == who


def test_numbers_too_large_to_round_are_told_all_the_same() -> None:
    owner = a_thousand()
    [first, *_] = owner.pool.members.values()
    first.qps_1m = 1.7e308

    column = told(owner).instances.qps_1m

    assert isinstance(column, list)
    assert column[0] == pytest.approx(1.7e308)


def test_a_thousand_instances_take_84_kib_once_they_are_known() -> None:
    snapshot = told(a_thousand())
    whole = msgspec.json.encode(snapshot)
    known = msgspec.json.encode(msgspec.structs.replace(snapshot, identities=None))

    assert len(known) <= 100 * 1024, len(known)
    assert len(whole) <= 140 * 1024, len(whole)


def cpu_s(work: Callable[[], object], rounds: int = 7) -> float:
    """Return the least that it took; other work on the machine only adds."""
    took = []
    gc.disable()
    try:
        for _ in range(rounds):
            began_s = time.process_time()
            work()
            took.append(time.process_time() - began_s)
    finally:
        gc.enable()
    return min(took)


def loop() -> int:
    total = 0
    for number in range(200_000):
        total += number * number
    return total


def test_a_thousand_instances_cost_the_proxy_little_more_than_a_short_loop() -> None:
    """The loop takes 10 ms where a document may take 15, and news of nothing 3."""
    owner = a_thousand()
    now = owner.clock.now()
    loop_s = cpu_s(loop)

    made_s = cpu_s(lambda: msgspec.json.encode(document(owner, now, rev=1, run="r", who=1)))
    asked_s = cpu_s(lambda: fingerprint(owner, now))

    assert made_s < 2 * loop_s
    assert asked_s < 0.6 * loop_s


def test_a_thousand_rows_are_read_in_a_third_of_that() -> None:
    """The loop takes 10 ms where reading may take 3."""
    body = msgspec.json.encode(told(a_thousand()))
    loop_s = cpu_s(loop)

    def rows() -> list[FleetRow]:
        found = read_snapshot(body)
        assert isinstance(found, ConsoleSnapshot)
        return list(Look(snapshot=found, url="u").instances)

    assert cpu_s(rows) < 0.6 * loop_s


def test_a_total_is_none_without_a_share() -> None:
    owner = a_thousand()
    [first, *_] = owner.pool.members.values()
    first.weight = 0.0
    view = owner.pool.view(first, owner.clock.now())

    assert total_of(view, owner.weights) is None
