"""A Proxy at a glance, whether it tells much or little."""

from typing import Any

from cacheroute.wire.debug import InstanceLoadsReply, PoolResourceReply, StatusReply
from cacheroute.wire.instances import InstanceRow
from cacheroute_cli.overview import Overview, lines_of, overview_of
from cacheroute_cli.tables import render_line


def an_overview(
    *, status: Any = None, pool: Any = None, entries: Any = (), loads: Any = ()
) -> Overview:
    counts = {"alive_instances": 0, "total_instances": 0, "expired_instances": 0}
    return overview_of(
        status=StatusReply.model_validate({"ok": True, "ttl_s": 30, **counts, **(status or {})}),
        pool=PoolResourceReply(ok=True, pool_resource=pool or {}),
        entries=[
            InstanceRow.model_validate(
                {"host": "h", "port": 1, "registered_at": 0, "last_seen_at": 0, **entry}
            )
            for entry in entries
        ],
        loads=InstanceLoadsReply.model_validate(
            {"ok": True, "ttl_s": 30, "generated_at": 100.0, "instances": list(loads)}
        ),
        proxy_url="http://127.0.0.1:8002",
    )


def text_of(overview: Overview) -> list[str]:
    return [render_line(line, color=False) for line in lines_of(overview)]


def test_everything_known_is_told_in_three_lines() -> None:
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
        "proxy     proxy-a  http://127.0.0.1:8002  up 2h14m  least_load  ttl 30 s",
        "pool      2 alive · 1 stale · 0 dead    accepting 2  degraded 0  rejecting 0",
        "load      inflight 31  41.2 req/s  prepare —  ready —  backlog max 4100 ms (b)",
    ]


def test_a_proxy_of_another_make_has_dashes_and_no_zeros() -> None:
    lines = text_of(an_overview(pool={"load": "odd", "instances": {"accepting": "many"}}))

    assert lines == [
        "proxy     —  http://127.0.0.1:8002  ttl 30 s",
        "pool      0 alive · 0 stale · 0 dead    accepting —  degraded —  rejecting —",
        "load      inflight —  — req/s  prepare —  ready —  backlog max —",
    ]


def test_a_pool_in_trouble_says_why() -> None:
    pool = {"pool_admission_state": "rejecting", "pool_admission_reason": "No Instance is alive."}

    assert text_of(an_overview(pool=pool))[-1] == "          No Instance is alive."


def test_a_measured_zero_is_a_zero() -> None:
    overview = an_overview(pool={"load": {"inflight_total": 0, "qps_1m_total": 0.0}})

    assert (overview.inflight, overview.qps_1m) == (0, 0.0)
    assert "inflight 0  0.0 req/s" in text_of(overview)[2]
