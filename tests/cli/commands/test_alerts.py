"""`cacheroute alerts`."""

from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli
from tests.cli.commands.control_plane import a_control_plane, an_instance, our_replies, replies


def test_what_is_out_of_order_is_listed_the_worst_first(cli: Cli) -> None:
    pool = replies(
        an_instance("free"),
        an_instance("busy", load={"inflight": 9}),
        an_instance("idle"),
        an_instance("gone", is_alive=False, last_seen_at=900),
    )
    with a_control_plane(pool) as url:
        document = cli("alerts", "--proxy-url", url, "-o", "json").document

    assert [(a["kind"], a["instance_id"], a["value"]) for a in document["items"]] == [
        ("dead", "gone", 201.0),
        ("skew", "busy", 9),
    ]


def test_a_pool_in_order_has_none_and_that_is_fine(cli: Cli) -> None:
    with a_control_plane(replies(an_instance("a"))) as url:
        said = cli("alerts", "--proxy-url", url)

    assert (said.code, said.out) == (Exit.OK, "")


def test_who_is_slow_is_told_from_the_last_requests(cli: Cli) -> None:
    pool = our_replies(an_instance("a"), an_instance("b"))
    traces = [
        {
            "seq": seq, "at": 1_100.0, "request_id": f"r-{seq}", "endpoint": "chat/completions",
            "instance_id": "ab"[seq % 2], "outcome": "ok", "ttft_ms": 400.0 + 500 * (seq % 2),
            "e2e_ms": 1_000.0,
        }
        for seq in range(40, 0, -1)
    ]  # fmt: skip
    pool["/debug/traces?last=500"] = {"ok": True, "total": 40, "traces": traces}
    with a_control_plane(pool) as url:
        said = cli("alerts", "--proxy-url", url, "-o", "json")
        status = cli("status", "--proxy-url", url)

    [alert] = said.document["items"]
    assert (alert["kind"], alert["instance_id"], alert["threshold"]) == ("slow", "b", 600)
    assert "slow    b TTFT p95 900 ms = 2.2× median" in status.out
    assert "cacheroute show b" in status.out
