"""`cacheroute up` with real programs: brought up, left alone, changed, refused."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.supervisor.ports import free_port
from cacheroute_cli.supervisor.stack_home import StackHome
from cacheroute_cli.supervisor.state import State
from tests.cli.commands.conftest import Cli, Said
from tests.cli.schemas.shapes import flaws_of
from tests.cli.supervisor.children import an_environment, eventually, is_gone

STACK = """\
stack: t
proxy: {port: auto, cp_port: auto, strategy: least_load}
instances: {count: 2, port: auto, speed: 20}
agents: {port: auto}
"""


def rows(said: Said) -> dict[str, dict[str, object]]:
    return {row["name"]: row for row in said.document["items"]}


@pytest.fixture
def stack(stack_folder: Path) -> Path:
    (stack_folder / "stack.yaml").write_text(STACK)
    return stack_folder


def test_a_stack_comes_up_is_left_alone_changes_scales_and_goes(cli: Cli, stack: Path) -> None:
    up = cli("up", "-d", "-o", "json")
    assert up.code == Exit.OK, up.err
    assert flaws_of(up.document) == []
    first = rows(up)
    assert list(first) == ["proxy", "agent", "instance-1", "instance-2"]
    assert all(row["state"] == "running" and row["ready"] for row in first.values())
    control = str(first["proxy"]["urls"]["control"])  # type: ignore[index]
    listed = httpx.get(f"{control}/v1/instance/list").json()
    assert sorted(row["instance_id"] for row in listed) == ["instance-1", "instance-2"]

    again = rows(cli("up", "-d", "-o", "json"))
    assert [row["pid"] for row in again.values()] == [row["pid"] for row in first.values()]

    (stack / "stack.yaml").write_text(STACK.replace("speed: 20", "speed: 30"))
    changed = rows(cli("up", "--wait", "-o", "json"))
    assert changed["proxy"]["pid"] == first["proxy"]["pid"]
    assert changed["instance-1"]["pid"] != first["instance-1"]["pid"]
    assert changed["instance-1"]["ports"] == first["instance-1"]["ports"]

    other = cli("up", "-d", "--stack", "t", "-f", str(stack / "other.yaml"))
    assert other.code == Exit.USAGE
    (stack / "other.yaml").write_text(STACK)
    other = cli("up", "-d", "-f", str(stack / "other.yaml"))
    assert other.code == Exit.CONFLICT
    assert f"stack t is up from {stack / 'stack.yaml'}" in other.err

    scaled = rows(cli("scale", "instance=3", "-o", "json"))
    assert list(scaled) == ["instance-1", "instance-2", "instance-3"]
    assert scaled["instance-1"]["pid"] == changed["instance-1"]["pid"]
    fewer = cli("scale", "instances=1", "-o", "json")
    assert list(rows(fewer)) == ["instance-1"]
    listed = httpx.get(f"{control}/v1/instance/list").json()
    assert [row["instance_id"] for row in listed] == ["instance-1"]

    assert cli("down").code == Exit.OK
    assert all(is_gone(int(str(row["pid"]))) for row in first.values())
    assert cli("down").code == Exit.OK


def test_a_token_protects_the_stack_and_the_commands_after_it_find_it(
    cli: Cli, stack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    up = cli("up", "-d", "--instances", "1", "--token", "secret", "-o", "json")

    assert up.code == Exit.OK, up.err
    assert rows(up)["instance-1"]["ready"]
    control = str(rows(up)["proxy"]["urls"]["control"])  # type: ignore[index]
    assert httpx.get(f"{control}/v1/instance/list").status_code == 401
    asked = ("status", "--proxy-url", control, "-o", "json")
    refused = cli(*asked)
    assert (refused.code, refused.error["code"]) == (Exit.NOT_ALLOWED, "proxy.forbidden")
    assert cli(*asked, "--token", "secret").code == Exit.OK
    monkeypatch.setenv("CACHEROUTE_TOKEN", "secret")
    assert cli(*asked).code == Exit.OK
    scaled = cli("scale", "instance=2", "-o", "json")
    assert [row["ready"] for row in rows(scaled).values()] == [True, True], scaled.err
    monkeypatch.delenv("CACHEROUTE_TOKEN")
    assert all(row["ready"] for row in rows(cli("ps", "-o", "json")).values())
    assert cli("down").code == Exit.OK


def test_instances_that_are_listed_are_not_counted(cli: Cli, stack: Path) -> None:
    (stack / "stack.yaml").write_text("stack: t\ninstances:\n  - {name: a}\n")

    said = cli("up", "-d", "--instances", "4", "-o", "json")

    assert (said.code, said.error["code"]) == (Exit.USAGE, "stack.not_counted")
    assert said.error["message"].endswith("stack.yaml are a list of 1, and cannot be 4")


def test_a_taken_port_is_a_conflict_that_names_its_owner_and_starts_nothing(
    cli: Cli, stack: Path, state: State
) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port = server.getsockname()[1]
        (stack / "stack.yaml").write_text(STACK.replace("cp_port: auto", f"cp_port: {port}"))
        said = cli("up", "-d", "-o", "json")

    assert said.code == Exit.CONFLICT
    assert said.error["code"] == "port.taken"
    assert (said.error["port"], said.error["pid"]) == (port, os.getpid())
    assert "python" in said.error["command"]
    assert "--port-offset" in said.error["hint"]
    home = StackHome("t", state.root)
    assert eventually(lambda: not home.is_supervised())
    assert home.processes() == []


def test_the_ports_of_a_file_can_all_be_moved(cli: Cli, stack: Path) -> None:
    (stack / "stack.yaml").write_text(
        "proxy: {port: 8001, cp_port: 8002}\ninstances: {count: 3, port: 9001+}\n"
    )

    said = cli("up", "--check", "--port-offset", "100", "--instances", "2", "-o", "json")

    assert [list(row["ports"].values()) for row in said.document["items"]] == [
        [8101, 8102], [9301], [9101], [9102],
    ]  # fmt: skip
    assert {row["state"] for row in said.document["items"]} == {"planned"}
    assert said.document["stack"] == "fleet"


def test_a_file_with_mistakes_is_a_wrong_usage_with_every_line(cli: Cli, stack: Path) -> None:
    (stack / "stack.yaml").write_text("proxy: {prot: 1}\ninstances: {count: many}\n")

    said = cli("up", "-d")

    assert said.code == Exit.USAGE
    assert "stack.yaml:1: proxy.prot is unknown here; did you mean port?" in said.err
    assert "stack.yaml:2: instances.count must be a whole number" in said.err


def test_a_proxy_that_refuses_its_settings_is_told_before_anything_runs(
    cli: Cli, stack: Path
) -> None:
    (stack / "stack.yaml").write_text(STACK.replace("least_load", "fastest"))

    said = cli("up", "-d", "-o", "json")

    assert said.code == Exit.USAGE
    assert said.error["code"] == "stack.bad_config"
    assert "least_load" in said.error["message"]


def test_an_empty_file_is_the_default_stack_and_says_so(cli: Cli, stack: Path) -> None:
    (stack / "stack.yaml").write_text("")

    said = cli("up", "--check", "-o", "json")

    assert list(rows(said)) == ["proxy", "agent", "instance-1", "instance-2"]
    assert "is empty: the defaults are used" in said.err


def test_in_the_foreground_it_prints_the_logs_until_a_signal(stack: Path) -> None:
    with foreground(stack) as up:
        assert up.stdout is not None
        for line in up.stdout:
            if "instance.registered" in line:
                break
        assert line.startswith("proxy ")
        assert " | " in line

        up.send_signal(signal.SIGINT)
        out, err = up.communicate(timeout=30)

    assert up.returncode == 0, err
    assert "ending the stack" in err
    assert "proxy.stopping" in out


def test_a_server_of_somebody_else_is_started_and_attached(cli: Cli, stack: Path) -> None:
    port = free_port()
    server = [sys.executable, "-m", "cacheroute.demo.instance", "--port", str(port)]
    (stack / "stack.yaml").write_text(
        "stack: t\nproxy: {port: auto, cp_port: auto}\nagents: false\ninstances:\n"
        f"  - {{name: real, command: {json.dumps(server)}, endpoint: 'http://127.0.0.1:{port}'}}\n"
    )

    up = cli("up", "-d", "-o", "json")

    assert up.code == Exit.OK, up.err
    assert [(name, row["ready"]) for name, row in rows(up).items()] == [
        ("proxy", True),
        ("real", True),
        ("real.attach", True),
    ]
    control = str(rows(up)["proxy"]["urls"]["control"])  # type: ignore[index]
    assert [row["instance_id"] for row in httpx.get(f"{control}/v1/instance/list").json()] == [
        "real"
    ]
    assert cli("down").code == Exit.OK


def test_two_at_once_are_one_stack_and_one_conflict(stack: Path, state: State) -> None:
    with foreground(stack) as first, foreground(stack) as second:
        home = StackHome("t", state.root)
        assert eventually(lambda: any(p.poll() is not None for p in (first, second)), within_s=30)
        [loser] = [p for p in (first, second) if p.poll() is not None]
        [winner] = [p for p in (first, second) if p is not loser]
        _, err = loser.communicate(timeout=30)
        assert loser.returncode == Exit.CONFLICT, err
        assert "another" in err
        assert "stack t" in err
        assert home.is_supervised()

        winner.send_signal(signal.SIGTERM)
        winner.communicate(timeout=30)

    assert winner.returncode == 0


@contextmanager
def foreground(folder: Path) -> "Iterator[subprocess.Popen[str]]":
    """Run `cacheroute up`; what is left of it at the end is killed."""
    with subprocess.Popen(
        [sys.executable, "-m", "cacheroute_cli", "up"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=an_environment(CACHEROUTE_STATE_DIR=os.environ["CACHEROUTE_STATE_DIR"]),
    ) as up:  # fmt: skip
        try:
            yield up
        finally:
            up.kill()
