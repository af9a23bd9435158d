"""What is known to be wrong is told before anything runs, all of it at once."""

import os
import socket
from contextlib import closing
from pathlib import Path

import pytest

from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.supervisor.faults import PortTaken
from cacheroute_cli.supervisor.preflight import (
    CannotStart,
    ConfigRefused,
    preflight,
    render_ports,
)
from cacheroute_cli.supervisor.process import PlannedPort, ProcessPlan
from cacheroute_cli.supervisor.runner import python, spawn
from tests.cli.supervisor.children import a_program, eventually
from tests.cli.supervisor.stacks import a_plan

LISTENER = (
    "import socket, time\n"
    "server = socket.create_server(('127.0.0.1', 0))\n"
    "print(server.getsockname()[1], flush=True)\n"
    "time.sleep(60)\n"
)


def port(number: int, name: str = "instance") -> PlannedPort:
    return PlannedPort(name=name, host="127.0.0.1", port=number)


def test_a_stack_that_can_start_gives_its_ports() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        free = server.getsockname()[1]

    assert preflight([a_plan("a", ports=(port(free),)), a_plan("b")]) == [free]


def test_every_program_that_is_missing_is_named_at_once(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("no program")
    plans = [
        ProcessPlan(name="a", kind="instance", argv=("vllm", "serve")),
        ProcessPlan(name="b", kind="instance", argv=(str(plain),)),
        ProcessPlan(name="c", kind="instance", argv=(str(tmp_path),)),
        a_plan("d", cwd=str(tmp_path / "none")),
    ]

    with pytest.raises(CannotStart) as caught:
        preflight(plans)

    assert caught.value.exit == Exit.USAGE
    assert caught.value.message.splitlines() == [
        "a needs the program 'vllm', which is not on the PATH",
        f"b needs the program '{plain}', which is none or cannot be run",
        f"c needs the program '{tmp_path}', which is none or cannot be run",
        f"d should run in '{tmp_path / 'none'}', which is no folder",
    ]


def test_a_port_that_is_taken_names_its_owner_unless_it_is_our_own() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        number = server.getsockname()[1]
        plan = a_plan("p", ports=(port(number, "service"), port(0, "control")))

        with pytest.raises(PortTaken) as caught:
            preflight([plan])
        assert preflight([plan], own_ports={number}) == [0, number]

    fault = caught.value
    assert (
        f"port {number} for the service plane of p is taken by pid {os.getpid()}" in fault.message
    )
    assert "python" in str(fault.details["command"])
    assert "--port-offset" in (fault.hint or "")


def test_an_orphan_of_ours_on_a_port_is_told_as_what_it_is(tmp_path: Path) -> None:
    orphan = spawn(a_program(LISTENER, tmp_path), stack="mark-of-old", tethered=True)
    try:
        assert eventually(lambda: orphan.first_words().strip().isdigit())
        number = int(orphan.first_words())

        with pytest.raises(PortTaken) as caught:
            preflight([a_plan("a", ports=(port(number),))], marks={"mark-of-old": "old"})
    finally:
        os.killpg(orphan.pid, 9)
        assert eventually(lambda: orphan.exit_code() is not None)

    assert caught.value.details["pid"] == orphan.pid
    assert "it belongs to stack old" in (caught.value.hint or "")
    assert "cacheroute prune" in (caught.value.hint or "")


def test_a_configuration_that_is_refused_is_told_in_the_programs_words() -> None:
    code = (
        "import os, sys\n"
        "print('cacheroute: error: no strategy', os.environ['WHICH'], file=sys.stderr)\n"
        "sys.exit(2)\n"
    )
    bad = a_plan("p", check=python("-I", "-S", "-c", code), env={"WHICH": "x"})

    with pytest.raises(ConfigRefused) as caught:
        preflight([bad])

    assert caught.value.exit == Exit.USAGE
    assert caught.value.message == "p refuses its configuration:\nno strategy x"
    assert preflight([a_plan("p", check=python("-c", ""))]) == []


@pytest.mark.parametrize(
    ("ports", "words"),
    [
        ([], ""),
        ([9001], "9001"),
        ([8002, 8001], "8001 8002"),
        ([9003, 9001, 9002, 9004, 8001, 8001], "8001 9001-9004"),
    ],
)
def test_ports_are_written_in_few_words(ports: list[int], words: str) -> None:
    assert render_ports(ports) == words
