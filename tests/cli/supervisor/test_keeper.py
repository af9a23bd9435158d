"""One process under one keeper, on a loop of the test's own."""

import asyncio
import errno
import os
import signal
import socket
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cacheroute_cli.supervisor.keeper import Keeper, State
from cacheroute_cli.supervisor.probes import Probes
from cacheroute_cli.supervisor.process import ProcessPlan, Readiness, RestartRule, StopRule
from cacheroute_cli.supervisor.stack_home import StackHome
from tests.cli.supervisor.children import POLITE, SLEEPER, STUBBORN, is_gone
from tests.cli.supervisor.stacks import AT_ONCE, a_plan
from tests.support.waiting import eventually

MARK = "test-keeper"


def a_keeper(folder: Path, plan: ProcessPlan, seen: "list[str] | None" = None) -> Keeper:
    seen = [] if seen is None else seen
    return Keeper(
        plan,
        home=StackHome("s", folder),
        mark=MARK,
        probes=Probes(),
        ports=lambda: "one.service=9",
        changed=lambda keeper, _: seen.append(keeper.state.value),
    )


async def stopped(keeper: Keeper, **more: Any) -> None:
    await keeper.stop(hurry=more.pop("hurry", asyncio.Event()), **more)


async def test_a_process_goes_from_start_to_stop_and_tells_each_step(tmp_path: Path) -> None:
    seen: list[str] = []
    keeper = a_keeper(tmp_path, a_plan("a", POLITE), seen)
    keeper.start()

    assert await keeper.settle(10)
    await eventually(lambda: keeper.log.exists() and "ready" in keeper.log.read_text(), within_s=10)
    pid = keeper.pid
    keeper.start()  # runs already
    assert keeper.pid == pid
    await stopped(keeper)

    assert seen == ["starting", "running", "stopping", "stopped"]
    assert keeper.last_exit == 0
    assert is_gone(pid or 0)


async def test_it_runs_in_its_folder_with_its_variables_and_the_ports(tmp_path: Path) -> None:
    code = (
        "import os\nprint(os.getcwd(), os.environ['A'], os.environ['CACHEROUTE_PORTS'],"
        " os.environ['CACHEROUTE_STACK'], flush=True)\n"
    )
    folder = tmp_path / "in here"
    folder.mkdir()
    plan = a_plan("a", code, env={"A": "1"}, cwd=str(folder), restart=RestartRule())
    keeper = a_keeper(tmp_path, plan)
    keeper.start()
    await eventually(lambda: keeper.state is State.EXITED, within_s=10)

    assert keeper.log.read_text() == f"{folder} 1 one.service=9 {MARK}\n"
    assert keeper.status().why == "ended with exit 0"


async def test_what_it_left_in_its_group_goes_before_it_is_started_again(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys, time\n"
        "sleep = [sys.executable, '-I', '-S', '-c', 'import time; time.sleep(60)']\n"
        "print(subprocess.Popen(sleep).pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    keeper = a_keeper(tmp_path, a_plan("a", code))
    keeper.start()
    await eventually(lambda: keeper.log.exists() and keeper.log.read_text(), within_s=10)
    first, left = keeper.pid or 0, int(keeper.log.read_text().split()[0])

    os.kill(first, signal.SIGKILL)
    await eventually(lambda: keeper.status().restarts == 1 and keeper.pid not in (None, first))

    # It was killed before; when it is scheduled to die is the kernel's to say.
    await eventually(lambda: is_gone(left), within_s=10)
    await stopped(keeper)


async def test_a_stop_ends_a_pause_before_a_restart(tmp_path: Path) -> None:
    plan = a_plan("a", "raise SystemExit(1)", restart=RestartRule(first_s=60, longest_s=60))
    keeper = a_keeper(tmp_path, plan)
    keeper.start()
    await eventually(lambda: keeper.state is State.BACKOFF, within_s=10)
    assert keeper.why == "ended with exit 1; next try in 60 s"

    await stopped(keeper)

    assert keeper.state is State.STOPPED


async def test_a_hurry_cuts_the_grace_short(tmp_path: Path) -> None:
    keeper = a_keeper(tmp_path, a_plan("a", STUBBORN, stop=StopRule(grace_s=60)))
    keeper.start()
    await eventually(lambda: keeper.log.exists() and "ready" in keeper.log.read_text(), within_s=10)
    hurry = asyncio.Event()

    stopping = asyncio.ensure_future(stopped(keeper, hurry=hurry))
    await eventually(lambda: keeper.state is State.STOPPING)
    hurry.set()
    await stopping

    assert keeper.last_exit == -signal.SIGKILL


async def test_its_own_signal_is_used_to_stop_it(tmp_path: Path) -> None:
    keeper = a_keeper(
        tmp_path, a_plan("a", SLEEPER, stop=StopRule(signal=signal.SIGINT, grace_s=10))
    )
    keeper.start()
    await eventually(lambda: keeper.log.exists() and "ready" in keeper.log.read_text(), within_s=10)
    await stopped(keeper)

    assert "KeyboardInterrupt" in keeper.log.read_text()


async def test_late_is_told_and_still_waited_for(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port = server.getsockname()[1]
    ready = Readiness(tcp=f"127.0.0.1:{port}", timeout_s=0.05)
    keeper = a_keeper(tmp_path, a_plan("a", ready=ready))
    keeper.start()
    await eventually(lambda: keeper.state is State.RUNNING, within_s=10)
    assert keeper.ready is False
    assert "not ready in 0.05 s" in (keeper.why or "")

    with closing(socket.create_server(("127.0.0.1", port))):
        assert await keeper.settle(20)
    await keeper.look()
    assert keeper.ready is False
    await stopped(keeper)


async def test_what_cannot_be_run_at_all_says_why(tmp_path: Path) -> None:
    (tmp_path / "stacks").write_text("in the way of its log")
    keeper = a_keeper(tmp_path, a_plan("a", restart=AT_ONCE))
    keeper.start()

    assert not await keeper.settle(10)
    assert keeper.state is State.FAILED
    assert "it cannot be run" in (keeper.why or "")


async def test_one_whose_end_nobody_would_hear_of_is_ended_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []

    def no_descriptor(pid: int) -> int:
        started.append(pid)
        raise OSError(errno.EMFILE, "too many open files")

    monkeypatch.setattr(os, "pidfd_open", no_descriptor)
    keeper = a_keeper(tmp_path, a_plan("a", restart=RestartRule(mode="never")))
    keeper.start()

    assert not await keeper.settle(10)
    assert keeper.why is not None
    assert "it cannot be run: [Errno 24] too many open files" in keeper.why
    assert keeper.pid is None
    assert [is_gone(pid) for pid in started] == [True]


async def test_a_stop_that_is_given_up_leaves_the_child_to_the_next_one(tmp_path: Path) -> None:
    keeper = a_keeper(tmp_path, a_plan("a", STUBBORN))
    keeper.start()
    await eventually(lambda: keeper.log.exists() and "ready" in keeper.log.read_text(), within_s=10)
    pid = keeper.pid or 0
    stopping = asyncio.ensure_future(stopped(keeper, grace_s=0))
    while keeper.why != "killed after 0 s":  # noqa: ASYNC110 - only this turn of the loop will do
        await asyncio.sleep(0)

    stopping.cancel()
    await asyncio.gather(stopping, return_exceptions=True)
    await stopped(keeper)

    assert keeper.state is State.STOPPED
    assert keeper.pid is None
    assert keeper.last_exit == -signal.SIGKILL
    assert is_gone(pid)
