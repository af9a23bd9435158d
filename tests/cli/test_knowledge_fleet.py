"""The programs of the knowledge demo, really started, and what they know of each other."""

import json
import socket
from pathlib import Path

import httpx
import pytest

from cacheroute.core.predict.coefficients import PUBLISHED
from cacheroute.demo.knowledge.ways import ALWAYS_TEXT, BY_FORECAST
from cacheroute_cli.knowledge_fleet import KnowledgeFleets
from cacheroute_cli.knowledge_launch import NoRedis, find_redis
from cacheroute_cli.supervisor.faults import ChildFailed
from cacheroute_cli.supervisor.ports import free_port
from cacheroute_cli.supervisor.stack import Stack

SPEED = 20.0


def the_redis() -> str:
    try:
        return find_redis()
    except NoRedis as missing:
        pytest.skip(missing.message)


def got(url: str) -> dict[str, object]:
    answer = httpx.get(url, trust_env=False)
    told: dict[str, object] = answer.json()
    return told


def test_everybody_knows_everybody_and_nothing_is_left(tmp_path: Path) -> None:
    coefficients = tmp_path / "coefficients.json"
    coefficients.write_text(json.dumps(PUBLISHED.as_mapping()), encoding="utf-8")
    with Stack(tethered=True) as stack:
        fleets = KnowledgeFleets(stack, tmp_path, redis_program=the_redis(), speed=SPEED)
        fleets.open_scheduler()
        first = fleets.up(ALWAYS_TEXT, gbps=1.0, request_log=tmp_path / "requests.jsonl")
        assert got(f"{first.control_url}/debug/scheduler")["state"] == "registered"
        fleets.down(first)
        second = fleets.up(BY_FORECAST, gbps=1.0, coefficients=coefficients)
        links = got(f"{second.control_url}/v1/topology/kdn_links")["kdn_links"]
        children = stack.children()

    assert isinstance(links, dict)
    assert {link["bandwidth_mbps"] for link in links.values()} == {1000 * SPEED}
    assert [child.exit_code() for child in first.children] == [0, 0]
    assert [child.exit_code() for child in children] == [0] * 5
    assert f"proxy.request_log={tmp_path / 'requests.jsonl'}" in first.children[1].program.argv
    assert f"predict.coefficients={coefficients}" in second.children[1].program.argv


def test_a_builder_is_there_for_the_block(tmp_path: Path) -> None:
    with Stack(tethered=True) as stack:
        fleets = KnowledgeFleets(stack, tmp_path, redis_program=the_redis(), speed=SPEED)
        with fleets.builder() as url:
            assert httpx.get(f"{url}/health", trust_env=False).status_code == 200
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{url}/health", trust_env=False)


def test_a_port_that_somebody_else_was_faster_to_take_is_not_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as taken, Stack(tethered=True) as stack:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        free = free_port()
        ports = iter([taken.getsockname()[1], free])
        monkeypatch.setattr("cacheroute_cli.knowledge_fleet.free_port", lambda: next(ports))

        fleets = KnowledgeFleets(stack, tmp_path, redis_program=the_redis(), speed=SPEED)

        assert fleets.redis.port == free


def test_a_redis_that_does_not_start_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(ChildFailed, match="redis"), Stack(tethered=True) as stack:
        KnowledgeFleets(stack, tmp_path, redis_program="/bin/false", speed=SPEED)


def test_a_link_is_sped_up_as_everything_is(tmp_path: Path) -> None:
    with Stack(tethered=True) as stack:
        fleets = KnowledgeFleets(stack, tmp_path, redis_program=the_redis(), speed=SPEED)

        assert fleets.real_mbps(0.2) == pytest.approx(4000.0)
