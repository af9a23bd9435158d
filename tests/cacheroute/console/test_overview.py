"""A Proxy at a glance, whether it tells much or little."""

from typing import Any

from cacheroute.console.overview import Overview, lines_of, overview_of
from cacheroute.console.rows.instances import rows_of
from cacheroute.wire.debug import (
    InstanceLoadsReply,
    PoolResourceReply,
    SchedulerReply,
    StatusReply,
)
from cacheroute.wire.instances import InstanceRow
from cacheroute_cli.tables import render_line, render_lines


def an_overview(
    *,
    status: Any = None,
    pool: Any = None,
    entries: Any = (),
    loads: Any = (),
    scheduler: Any = None,
    rules: Any = None,
) -> Overview:
    counts = {"alive_instances": 0, "total_instances": 0, "expired_instances": 0}
    rows = [
        InstanceRow.model_validate(
            {"host": "h", "port": 1, "registered_at": 0, "last_seen_at": 0, **entry}
        )
        for entry in entries
    ]
    told = InstanceLoadsReply.model_validate(
        {
            "ok": True, "ttl_s": 30, "generated_at": 100.0, "instances": list(loads),
            "queue_rules": rules,
        }
    )  # fmt: skip
    return overview_of(
        status=StatusReply.model_validate({"ok": True, "ttl_s": 30, **counts, **(status or {})}),
        pool=PoolResourceReply(ok=True, pool_resource=pool or {}),
        rows=rows_of(rows, told),
        loads=told,
        proxy_url="http://127.0.0.1:8002",
        scheduler=SchedulerReply.model_validate({"ok": True, **scheduler}) if scheduler else None,
    )


def text_of(overview: Overview) -> list[str]:
    return [render_line(line, color=False) for line in lines_of(overview)]


def test_everything_known_is_told_in_three_lines_and_what_is_wrong_below() -> None:
    overview = an_overview(
        status={"proxy_id": "proxy-a", "strategy": "least_load", "uptime_s": 8_040.0},
        pool={
            "pool_admission_state": "accepting",
            "pool_admission_reason": "Of 2 alive: 2 accepting.",
            "instances": {"accepting": 2, "degraded": 0, "rejecting": 0},
            "load": {"inflight_total": 31, "qps_1m_total": 41.2},
        },
        entries=[
            {"instance_id": "a", "is_alive": True},
            {"instance_id": "b", "is_alive": True},
            {"instance_id": "c", "is_alive": False, "state": "stale"},
        ],
        loads=[
            {"instance_id": "a", "is_alive": True, "predicted_total_backlog_ms": 920.0},
            {"instance_id": "b", "is_alive": True, "predicted_total_backlog_ms": 4_100.0},
            {"instance_id": "c", "is_alive": False, "predicted_total_backlog_ms": 9_000.0},
        ],
    )

    assert text_of(overview) == [
        "proxy     proxy-a  127.0.0.1:8002  up 2h14m  least_load  ttl 30 s",
        "pool      2 alive · 1 stale · 0 dead    accepting 2  degraded 0  rejecting 0",
        "load      inflight 31  41.2 req/s  prepare —  ready —  backlog max 4100 ms (b)",
        "alerts    ▲ stale   c last seen 1m40s ago, ttl 30 s",
    ]


def test_the_load_is_told_with_its_limits_and_the_strategies_in_force() -> None:
    told = an_overview(
        status={"strategy": "least_load", "injection_strategy": "iws"},
        entries=[{"instance_id": "a", "is_alive": True}, {"instance_id": "b", "is_alive": True}],
        loads=[
            {"instance_id": "a", "is_alive": True, "active_prepare": 4, "active_ready": 9},
            {"instance_id": "b", "is_alive": True, "ready_queue_depth": 3},
        ],
        rules={
            "prepare_concurrency": 8, "ready_concurrency": 16, "max_queue": 3,
            "release_policy": "ordered",
        },
    )  # fmt: skip
    lines = text_of(told)

    assert lines[0] == "proxy     —  127.0.0.1:8002  least_load · iws · ordered  ttl 30 s"
    assert "prepare 4/16  ready 9/32 +3  backlog max —" in lines[2]
    assert lines[3] == "          queue full at b"


def test_a_proxy_of_another_make_has_dashes_and_no_zeros() -> None:
    lines = text_of(an_overview(pool={"load": "odd", "instances": {"accepting": "many"}}))

    assert lines == [
        "proxy     —  127.0.0.1:8002  ttl 30 s",
        "pool      0 alive · 0 stale · 0 dead    accepting —  degraded —  rejecting —",
        "load      inflight —  — req/s  prepare —  ready —  backlog max —",
        "next      cacheroute instance start",
    ]


def test_a_pool_in_trouble_says_why() -> None:
    pool = {"pool_admission_state": "rejecting", "pool_admission_reason": "No Instance is alive."}

    assert text_of(an_overview(pool=pool))[2] == "          No Instance is alive."


def test_a_measured_zero_is_a_zero() -> None:
    overview = an_overview(pool={"load": {"inflight_total": 0, "qps_1m_total": 0.0}})

    assert (overview.inflight, overview.qps_1m) == (0, 0.0)
    assert "inflight 0  0.0 req/s" in text_of(overview)[2]


def knowledge(counts: Any = None, errors: Any = None) -> Overview:
    return an_overview(
        status={"knowledge": counts or {}, "prediction_error": errors or {}},
        entries=[{"instance_id": "a", "is_alive": True}],
    )


def test_knowledge_is_told_when_there_is_something_to_say() -> None:
    assert an_overview().knowledge is None
    assert len(text_of(knowledge())) == 3
    counts = {"kv_inject": 3, "text_inject": 0, "fallback": 1}
    assert text_of(knowledge(counts))[3] == "knowledge kv 3  text 0  fallback 1"
    errors = {"count": 7, "window": 7, "p50_ratio": 0.1}
    assert text_of(knowledge(counts, errors))[3].endswith("fallback 1  TTFT error p50 10.0% of 7")
    assert text_of(knowledge(errors=errors))[3].startswith("knowledge kv 0  text 0")


def test_a_scheduler_that_lists_us_has_its_age_and_keeps_old_trouble_to_itself() -> None:
    said = {
        "state": "registered", "url": "http://127.0.0.1:7002", "state_age_s": 7_980.0,
        "heard_age_s": 0.8, "last_error": "It was gone.",
    }  # fmt: skip
    assert text_of(an_overview(scheduler=said))[3] == (
        "scheduler registered for 2h13m  127.0.0.1:7002  heard 0.8s ago"
    )


def test_a_scheduler_that_is_not_there_has_a_reason() -> None:
    said = {"state": "refused", "url": "http://s:1", "state_age_s": 5.0, "last_error": "No room."}
    assert text_of(an_overview(scheduler=said))[3] == "scheduler refused for 5.0s  s:1  No room."
    said = {"state": "registering", "url": "http://s:1", "state_age_s": 0.0}
    assert text_of(an_overview(scheduler=said))[3] == "scheduler registering for 0.0s  s:1"


def test_every_line_of_long_names_fits_eighty_columns() -> None:
    overview = an_overview(
        status={
            "proxy_id": "hp_192.168.100.100:18001", "strategy": "least_load",
            "uptime_s": 86_399.0, "knowledge": {"kv_inject": 9_999_999, "fallback": 9_999_999},
            "prediction_error": {"window": 512, "p50_ratio": 9.99},
        },
        entries=[{"instance_id": "hp_192.168.100.100:19001", "is_alive": True}],
        loads=[
            {
                "instance_id": "hp_192.168.100.100:19001", "is_alive": True,
                "predicted_total_backlog_ms": 123_456.0,
            }
        ],
        pool={
            "pool_admission_state": "degraded",
            "pool_admission_reason": "Of 1 alive: 0 accepting, 1 degraded. " * 4,
        },
    )  # fmt: skip
    lines = render_lines(lines_of(overview), width=80, color=False)
    assert all(len(line) <= 80 for line in lines)
    assert " ".join(" ".join(lines).split()).count("1 degraded.") == 4


def test_a_proxy_that_ends_says_so_and_another_make_cannot() -> None:
    ours = an_overview(status={"proxy_id": "p", "draining": True})

    assert ours.draining
    assert "draining" in text_of(ours)[0]
    assert an_overview(status={"draining": True}).draining is None


def test_of_many_alerts_a_few_are_shown_and_the_rest_is_named() -> None:
    entries = [
        {"instance_id": f"i-{n}", "is_alive": n == 0, "state": "alive" if n == 0 else "dead"}
        for n in range(9)
    ]

    lines = text_of(an_overview(entries=entries))

    first = next(line for line in lines if "last seen" in line)
    assert first.startswith("alerts    ✕ dead    i-1")
    assert lines[-1] == "          3 more: cacheroute alerts"


def test_trouble_at_one_instance_is_followed_by_where_to_look() -> None:
    entries = [{"instance_id": "hot", "is_alive": True, "resource": {"gpu_util_avg": 99}}]

    lines = text_of(an_overview(entries=entries))

    assert lines[-2:] == [
        "alerts    ✕ gpu     hot GPU use 99%",
        "next      cacheroute show hot",
    ]


def test_a_knowledge_node_that_fails_is_followed_by_where_to_look() -> None:
    failing = {"node": "kdn:1", "failing_s": 41.0, "asked_age_s": 3.0}
    entries = [{"instance_id": "i-1", "is_alive": True}]

    lines = text_of(an_overview(entries=entries, status={"kdn_failing": [failing]}))

    assert lines[-2:] == [
        "alerts    ▲ kdn     kdn:1 has not answered for 41s",
        "next      cacheroute topology",
    ]


def test_a_proxy_without_a_summary_or_loads_is_told_with_dashes() -> None:
    status = StatusReply(
        ok=True, ttl_s=30, alive_instances=0, total_instances=0, expired_instances=0
    )

    overview = overview_of(status=status, pool=None, rows=[], loads=None, proxy_url="http://h")

    assert (overview.inflight, overview.accepting, overview.backlog_max_ms) == (None, None, None)


def test_a_reason_that_only_repeats_the_counts_is_left_out() -> None:
    def reason(said: str) -> list[str]:
        pool = {"pool_admission_state": "degraded", "pool_admission_reason": said}
        return [line for line in text_of(an_overview(pool=pool)) if "alive:" in line]

    assert reason("Of 3 alive: 3 degraded.") == []
    assert reason("Of 3 alive: 1 accepting, 2 rejecting.") == []
    assert len(reason("Of 3 alive: 1 degraded, 2 without a snapshot.")) == 1
