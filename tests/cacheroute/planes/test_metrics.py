"""The page as Prometheus reads it, beside the catalogue."""

import math
import re
from dataclasses import replace

import pytest
from prometheus_client.parser import text_string_to_metric_families

from cacheroute.core.tally import Tally
from cacheroute.planes.metrics import (
    CATALOGUE,
    InstanceGauges,
    MetricRow,
    QueueGauges,
    Readings,
    catalogue_table,
    render_metrics,
    samples,
)


def a_tally() -> Tally:
    tally = Tally()
    tally.requests = 5
    tally.fail("client_gone")
    tally.fail("upstream_closed")
    tally.fail("client_gone")
    tally.prompt_tokens, tally.completion_tokens, tally.cached_tokens = 700, 30, 512
    for value in (0.004, 0.3, 1000.0):
        tally.ttft_s.observe(value)
    tally.tpot_s.observe(0.02)
    tally.duration_ms.observe(42.0)
    tally.queue_wait_s.observe(0.0)
    for ratio in (0.04, 0.12, 25.0):
        tally.prediction_error.observe(ratio)
    tally.paths = {"text_inject": 2, "kv_inject": 7, "lookup_failed": 1}
    return tally


QUEUES = QueueGauges(waiting=(4, 0), active=(8, 3), backlog_s=1.25)


def readings(*ids: str) -> Readings:
    return Readings(
        instances=tuple(
            InstanceGauges(
                instance_id=one, tally=a_tally(), inflight=2, is_resting=n == 0, queues=QUEUES
            )
            for n, one in enumerate(ids)
        ),
        nowhere=Tally(),
        by_liveness={"alive": 1, "stale": 2},
        strategy="least_load",
        decisions_total=9,
        unknown_calls_total=3,
        client_connections=4,
        request_memory_bytes=5_000,
        log_dropped_total=1,
        is_scheduled=True,
    )


def page(*ids: str) -> str:
    kind, text = render_metrics(lambda: readings(*ids))
    assert kind.startswith("text/plain")
    return text.decode()


def values(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Return every sample of a page as Prometheus understands it."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_the_page_has_exactly_the_metrics_of_the_catalogue() -> None:
    found = {family.name: family for family in text_string_to_metric_families(page("i-1", "i-2"))}
    expected = {
        row.name.removesuffix("_total") if row.kind == "counter" else row.name for row in CATALOGUE
    }
    assert found.keys() == expected


@pytest.mark.parametrize("row", CATALOGUE, ids=lambda row: row.name)
def test_a_metric_has_the_kind_the_labels_and_the_help_of_its_row(row: MetricRow) -> None:
    name = row.name.removesuffix("_total") if row.kind == "counter" else row.name
    family = next(f for f in text_string_to_metric_families(page("i-1")) if f.name == name)
    assert (family.type, family.documentation) == (row.kind, row.help)
    assert family.samples
    for sample in family.samples:
        assert set(sample.labels) - {"le"} == set(row.labels)


def test_counters_are_told_by_instance_and_cause() -> None:
    found = values(page("i-1"))
    backend = (("backend", "i-1"), ("rule", ""), ("service", ""))
    assert found["kronaxis_router_requests_total", backend] == 5
    cause = (("backend", "i-1"), ("cause", "client_gone"), ("rule", ""), ("service", ""))
    assert found["kronaxis_router_errors_total", cause] == 2
    nowhere = (("backend", ""), ("rule", ""), ("service", ""))
    assert found["kronaxis_router_requests_total", nowhere] == 0
    for kind, count in (("prompt", 700), ("completion", 30), ("cached", 512)):
        assert found["cacheroute_tokens_total", (("instance", "i-1"), ("kind", kind))] == count


def test_gauges_show_the_moment() -> None:
    found = values(page("i-1", "i-2"))
    assert found["cacheroute_inflight", (("instance", "i-2"),)] == 2
    assert found["cacheroute_instance_resting", (("instance", "i-1"),)] == 1
    assert found["cacheroute_instance_resting", (("instance", "i-2"),)] == 0
    states = {s: found["cacheroute_instances", (("state", s),)] for s in ("alive", "stale", "dead")}
    assert states == {"alive": 1, "stale": 2, "dead": 0}
    assert found["cacheroute_decisions_total", (("strategy", "least_load"),)] == 9
    assert found["cacheroute_unknown_instance_calls_total", ()] == 3
    assert found["cacheroute_client_connections", ()] == 4
    assert found["cacheroute_request_memory_bytes", ()] == 5_000
    assert found["cacheroute_request_log_dropped_total", ()] == 1


def test_the_way_of_knowledge_is_told_by_instance() -> None:
    found = values(page("i-1"))
    for path, count in (("kv_inject", 7), ("text_inject", 2), ("lookup_failed", 1)):
        labels = (("instance", "i-1"), ("path", path))
        assert found["cacheroute_injections_total", labels] == count
    for queue, depth, active in (("prepare", 4, 8), ("ready", 0, 3)):
        labels = (("instance", "i-1"), ("queue", queue))
        assert found["cacheroute_queue_depth", labels] == depth
        assert found["cacheroute_queue_active", labels] == active
    assert found["cacheroute_backlog_seconds", (("instance", "i-1"),)] == 1.25
    assert found["cacheroute_prediction_error_ratio_count", (("instance", "i-1"),)] == 3
    assert found["cacheroute_scheduler_registered", ()] == 1


def test_what_nobody_knows_is_absent_and_never_zero() -> None:
    plain = InstanceGauges(instance_id="i-1", tally=Tally(), inflight=0, is_resting=False)
    unknown = replace(readings(), instances=(plain,), is_scheduled=None)
    for name in (
        "cacheroute_queue_depth", "cacheroute_queue_active", "cacheroute_backlog_seconds",
        "cacheroute_injections_total", "cacheroute_prediction_error_ratio",
        "cacheroute_scheduler_registered",
    ):  # fmt: skip
        assert list(samples(name, unknown)) == []
    lost = replace(unknown, is_scheduled=False)
    assert list(samples("cacheroute_scheduler_registered", lost)) == [
        ("cacheroute_scheduler_registered", {}, 0.0)
    ]


@pytest.mark.parametrize(
    "row", [r for r in CATALOGUE if r.kind == "histogram"], ids=lambda r: r.name
)
def test_a_histogram_rises_to_its_count(row: MetricRow) -> None:
    found = values(page("i-1"))
    of = [key for key in found if key[0].startswith(row.name) and ("i-1" in dict(key[1]).values())]
    buckets = sorted(
        (math.inf if (le := dict(labels)["le"]) == "+Inf" else float(le), found[name, labels])
        for name, labels in of
        if name.endswith("_bucket")
    )
    counts = [count for _, count in buckets]
    assert buckets[-1][0] == math.inf
    assert counts == sorted(counts)
    (count,) = (found[key] for key in of if key[0].endswith("_count"))
    assert count == counts[-1] > 0


def test_the_sum_of_a_histogram_is_the_sum_of_its_values() -> None:
    labels = (("instance", "i-1"),)
    found = values(page("i-1"))
    assert found["cacheroute_ttft_seconds_sum", labels] == pytest.approx(1000.304)
    assert found["cacheroute_ttft_seconds_count", labels] == 3


@pytest.mark.parametrize("name", ['a"b', "a\\b", "a\nb", "ä", "hp_[::1]:80", "{}"])
def test_any_name_of_an_instance_is_one_label(name: str) -> None:
    found = values(page(name))
    assert found["cacheroute_inflight", (("instance", name),)] == 2


def test_a_pool_of_nobody_has_a_page_as_well() -> None:
    found = values(page())
    assert found["cacheroute_instances", (("state", "alive"),)] == 1
    assert not [key for key in found if key[0] == "cacheroute_inflight"]


def test_a_metric_that_is_not_in_the_catalogue_has_no_samples() -> None:
    assert list(samples("made_up", readings("i-1"))) == []


def test_the_table_of_the_readme_has_a_row_for_each() -> None:
    table = catalogue_table()
    assert len(table.splitlines()) == 2 + len(CATALOGUE)
    for row in CATALOGUE:
        assert re.search(rf"^\| `{row.name}` \| {row.kind} \| .+ \| .+ \|$", table, re.M)


def test_names_are_ours_or_published_and_end_as_prometheus_wants() -> None:
    for row in CATALOGUE:
        assert re.fullmatch(r"(cacheroute|kronaxis_router)_[a-z_]+", row.name)
        assert row.name.endswith("_total") == (row.kind == "counter")
        assert row.help.endswith(".")
