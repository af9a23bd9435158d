"""`cacheroute status`, and every way it goes without an answer."""

import json
import socket
from typing import Any

import pytest

from cacheroute_cli.diagnostics import Exit
from tests.cacheroute.client.canned import a_peer, a_peer_saying, answer
from tests.cli.commands.conftest import Cli
from tests.cli.commands.control_plane import a_control_plane, an_instance, replies


def a_dead_url() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}"


def test_a_proxy_and_its_pool_are_told_in_a_few_lines(cli: Cli) -> None:
    pool = replies(an_instance("a"), an_instance("b", is_alive=False, last_seen_at=0))
    with a_control_plane(pool) as url:
        said = cli("status", "--proxy-url", url)

    assert said.code == Exit.OK
    assert said.out.splitlines()[0] == f"proxy     proxy-a  {url[7:]}  ttl 30 s"
    assert said.out.splitlines()[1].startswith("pool      1 alive · 0 stale · 1 dead")


def test_the_document_has_the_same_facts(cli: Cli) -> None:
    with a_control_plane(replies(an_instance("a"))) as url:
        document = cli("status", "--proxy-url", url, "-o", "json").document

    assert document["schema"] == "cacheroute.status/1"
    assert document["status"]["alive"] == 1
    assert document["status"]["inflight"] == 3
    assert document["status"]["strategy"] is None
    assert document["status"]["knowledge"] is None
    assert document["status"]["scheduler"] is None


def with_a_scheduler() -> dict[str, Any]:
    pool = replies(an_instance("a"))
    pool["/debug/status"] |= {
        "proxy_id": "hp_127.0.0.1:8001", "uptime_s": 7_000.0, "strategy": "round_robin",
        "scheduler_state": "unreachable",
        "knowledge": {"kv_inject": 812, "text_inject": 431, "fallback": 12},
        "prediction_error": {"count": 9_000, "window": 512, "p50_ratio": 0.1234},
    }  # fmt: skip
    pool["/debug/scheduler"] = {
        "ok": True, "url": "http://127.0.0.1:7002", "state": "unreachable", "state_age_s": 41.0,
        "heard_age_s": 46.0, "failures": 9,
        "last_error": "No connection to http://127.0.0.1:7002: the peer refused it.",
    }  # fmt: skip
    return pool


def test_knowledge_and_the_scheduler_are_told_and_nothing_wraps_at_eighty_columns(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with a_control_plane(with_a_scheduler()) as url:
        lines = cli("status", "--proxy-url", url, "-o", "table").out.splitlines()

    assert lines[0] == (f"proxy     hp_127.0.0.1:8001  {url[7:]}  up 1h56m  round_robin  ttl 30 s")
    assert [line.rstrip() for line in lines[3:]] == [
        "knowledge kv 812  text 431  fallback 12  TTFT error p50 12.3% of 512",
        "scheduler unreachable for 41s  127.0.0.1:7002",
        "          No connection to http://127.0.0.1:7002: the peer refused it.",
    ]
    assert all(len(line) <= 80 for line in lines)


def test_the_document_tells_knowledge_and_the_scheduler_as_well(cli: Cli) -> None:
    with a_control_plane(with_a_scheduler()) as url:
        status = cli("status", "--proxy-url", url, "-o", "json").document["status"]

    assert status["knowledge"] == {
        "kv_inject": 812, "text_inject": 431, "fallback": 12,
        "prediction_error_p50_ratio": 0.1234, "predictions": 512,
    }  # fmt: skip
    assert status["scheduler"]["state"] == "unreachable"
    assert status["scheduler"]["url"] == "http://127.0.0.1:7002"
    assert status["scheduler"]["last_error"].startswith("No connection")


def test_nobody_there_is_exit_three_with_a_hint(cli: Cli) -> None:
    url = a_dead_url()

    said = cli("status", "--proxy-url", url)

    assert said.code == Exit.UNREACHABLE
    assert said.out == ""
    assert said.err.splitlines() == [
        f"cacheroute: error: cannot reach the control plane at {url} (connection refused)",
        "  hint: is it running, and is this its control plane?",
    ]


def test_nobody_there_is_one_object_for_a_program(cli: Cli) -> None:
    said = cli("status", "-o", "json", "--proxy-url", a_dead_url())

    assert said.out == ""
    assert said.error["code"] == "proxy.unreachable"
    assert said.error["cause"] == "connection refused"
    assert said.error["exit"] == said.code == 3


@pytest.mark.parametrize(
    ("raw", "code", "words"),
    [
        (
            answer(b'{"error":"unauthorized","detail":"x"}', status="401 No"),
            Exit.NOT_ALLOWED,
            "CACHEROUTE_TOKEN",
        ),
        (answer(b"oops", status="500 Oops"), Exit.FAILED, "answered 500: oops"),
        (answer(b"<html>"), Exit.NOT_UNDERSTOOD, "is not understood"),
        (b"SSH-2.0\r\n\r\n", Exit.NOT_UNDERSTOOD, "is it a CacheRoute control plane?"),
    ],
)
def test_each_kind_of_no_has_its_exit(cli: Cli, raw: bytes, code: Exit, words: str) -> None:
    with a_peer_saying(raw) as url:
        said = cli("status", "--proxy-url", url)

    assert said.code == code
    assert words in said.err


def test_silence_is_exit_three_too(cli: Cli) -> None:
    def wait_for_the_client_to_leave(_: bytes, connection: socket.socket) -> None:
        connection.recv(1)

    with a_peer(wait_for_the_client_to_leave) as url:
        said = cli("status", "--proxy-url", url, "--timeout", "0.05")

    assert said.code == Exit.UNREACHABLE
    assert "did not answer within 0.05 s" in said.err


def test_a_url_that_is_none_is_a_wrong_usage(cli: Cli) -> None:
    said = cli("status", "--proxy-url", "ftp://x")

    assert said.code == Exit.USAGE
    assert "'ftp://x' is not the URL of a control plane" in said.err


@pytest.mark.parametrize(
    ("check", "pool", "words"),
    [
        ("healthy", replies(), "not healthy: no Instance is alive"),
        ("accepting", replies(an_instance("a")), "not accepting: the pool is unknown"),
    ],
)
def test_a_check_that_fails_is_exit_six_after_the_answer(
    cli: Cli, check: str, pool: dict[str, Any], words: str
) -> None:
    with a_control_plane(pool) as url:
        said = cli("status", "--check", check, "--proxy-url", url, "-o", "json")

    assert said.code == Exit.BAD_ANSWER
    assert said.document["schema"] == "cacheroute.status/1"
    assert said.error["code"] == "status.check"
    assert words in said.error["message"]


def test_a_check_that_holds_is_exit_zero(cli: Cli) -> None:
    pool = replies(an_instance("a"))
    pool["/debug/pool_resource"]["pool_resource"]["pool_admission_state"] = "accepting"
    with a_control_plane(pool) as url:
        assert cli("status", "--check", "healthy", "--proxy-url", url).code == Exit.OK
        assert cli("status", "--check", "accepting", "--proxy-url", url).code == Exit.OK


def test_a_watch_of_it_is_a_document_a_line(cli: Cli) -> None:
    with a_control_plane(replies(an_instance("a"))) as url:
        said = cli("status", "-w", "-i", "0.2", "--count", "2", "--proxy-url", url)

    documents = [json.loads(line) for line in said.out.splitlines()]
    assert [document["tick"] for document in documents] == [1, 2]
    assert {document["schema"] for document in documents} == {"cacheroute.status/1"}


def test_it_is_no_list(cli: Cli) -> None:
    with a_control_plane(replies()) as url:
        said = cli("status", "-o", "csv", "--proxy-url", url)

    assert said.code == Exit.USAGE
    assert "there is no csv of this; there are json, jsonl, plain, table, wide" in said.err


def test_a_page_that_another_make_lacks_costs_its_figures_only(cli: Cli) -> None:
    pool = replies(an_instance("a"))
    del pool["/debug/pool_resource"], pool["/debug/instance_loads"]
    with a_control_plane(pool) as url:
        said = cli("status", "--proxy-url", url, "-o", "json")

    assert said.code == Exit.OK
    assert said.document["status"]["alive"] == 1
    assert said.document["status"]["inflight"] is None
