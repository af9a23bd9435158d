"""The command lines of the knowledge demo's programs, and the one program that is not ours."""

import os
import sys
from pathlib import Path

import pytest

from cacheroute.demo.kdn.options import parse_options as parse_node
from cacheroute.demo.options import parse_options as parse_instance
from cacheroute.demo.scheduler.options import parse_options as parse_scheduler
from cacheroute.formats.address import Address
from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.knowledge_launch import (
    BLOCK_TOKENS,
    NoRedis,
    find_redis,
    launch_builder,
    launch_node,
    launch_reader,
    launch_redis,
    launch_scheduler,
)


def options_of(argv: tuple[str, ...], module: str) -> list[str]:
    """Return what a program of ours is told."""
    assert argv[:4] == (sys.executable, "-P", "-m", module)
    return list(argv[4:])


def test_without_a_redis_the_fault_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(NoRedis) as caught:
        find_redis()

    assert caught.value.exit == Exit.FAILED
    assert "no redis-server on the PATH" in caught.value.message
    assert caught.value.hint == "apt-get install redis-server"


def test_a_redis_on_the_path_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "redis-server"
    program.touch(0o755)
    monkeypatch.setenv("PATH", f"/nowhere{os.pathsep}{tmp_path}")

    assert find_redis() == str(program)


def test_the_redis_keeps_nothing_and_listens_on_the_loopback(tmp_path: Path) -> None:
    launch = launch_redis("/bin/redis-server", port=7000, folder=tmp_path)

    told = dict(zip(launch.argv[1::2], launch.argv[2::2], strict=True))
    assert launch.argv[0] == "/bin/redis-server"
    assert (told["--port"], told["--bind"], told["--dir"]) == ("7000", "127.0.0.1", str(tmp_path))
    assert (told["--save"], told["--appendonly"], told["--daemonize"]) == ("", "no", "no")
    assert launch.says_ready.search("1:M * Ready to accept connections tcp")


def test_the_node_has_a_link_and_its_texts_in_a_file(tmp_path: Path) -> None:
    launch = launch_node(database=tmp_path / "k.db", bandwidth_mbps=12_000.0, delay_ms=0.1)

    options = parse_node(options_of(launch.argv, "cacheroute.demo.kdn"), {})
    assert (options.port, options.db) == (0, str(tmp_path / "k.db"))
    assert (options.link.bandwidth_mbps, options.link.delay_ms) == (12_000.0, 0.1)
    assert options.link.speed == 1.0


def test_the_scheduler_knows_the_node_and_says_both_its_ports() -> None:
    launch = launch_scheduler(node="127.0.0.1:9101")

    options = parse_scheduler(options_of(launch.argv, "cacheroute.demo.scheduler"), {})
    assert (options.port, options.cp_port) == (0, 0)
    assert options.kdns == (Address("127.0.0.1", 9101),)
    said = launch.says_ready.search("listening on http://a:1\ncontrol on http://a:2\n")
    assert said is not None
    assert said.groupdict() == {"service": "http://a:1", "control": "http://a:2"}


def test_the_builder_writes_what_it_computes_and_registers_nowhere() -> None:
    launch = launch_builder(model="m", redis_url="redis://127.0.0.1:7000/0")

    options = parse_instance(options_of(launch.argv, "cacheroute.demo.instance"), {})
    assert options.kv is not None
    assert (options.kv.saves, options.kv.address.port) == (True, 7000)
    assert (options.proxy_cp_url, options.report_resources) == (None, False)
    assert options.profile.block_tokens == BLOCK_TOKENS


def test_a_reader_is_in_the_pool_and_takes_kv_from_the_node_only() -> None:
    launch = launch_reader(
        instance_id="demo-1",
        proxy_url="http://127.0.0.1:8002",
        model="m",
        speed=12.0,
        redis_url="redis://127.0.0.1:7000/0",
        node="127.0.0.1:9101",
    )

    options = parse_instance(options_of(launch.argv, "cacheroute.demo.instance"), {})
    assert (options.proxy_cp_url, options.instance_id) == ("http://127.0.0.1:8002", "demo-1")
    assert options.kdn_targets == (Address("127.0.0.1", 9101),)
    assert options.kv is not None
    assert (options.kv.saves, options.speed) == (False, 12.0)
    assert options.profile.name == "llama70b"
