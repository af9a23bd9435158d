"""One process by hand: the parts that need no program of ours to be shown."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cacheroute_cli.context import Context
from cacheroute_cli.launch import Launch
from cacheroute_cli.processes import (
    ProcessRow,
    find_record,
    show_process,
    start_detached,
    stop,
    what_is_up,
)
from cacheroute_cli.supervisor.faults import (
    AlreadyRunning,
    ChildFailed,
    NoSuchProcess,
    StateLocked,
)
from cacheroute_cli.supervisor.identity import marked_with
from cacheroute_cli.supervisor.runner import python
from cacheroute_cli.supervisor.stack_home import StackHome
from cacheroute_cli.supervisor.state import State
from tests.cli.supervisor.children import an_environment, eventually, is_gone

READY = re.compile(r"^listening on (?P<url>\S+)$", re.M)


def a_launch(code: str, name: str = "a") -> Launch:
    return Launch(
        kind="agent",
        name=name,
        argv=python("-I", "-S", "-c", code),
        wanted=(),
        says_ready=READY,
    )


SERVER = "import time\nprint('listening on http://h:1', flush=True)\ntime.sleep(60)\n"
STUBBORN = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + SERVER


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(tmp_path / "state")


def test_what_is_started_is_recorded_with_where_it_listens(state: State) -> None:
    row = start_detached(a_launch(SERVER), state=state)
    try:
        record = state.read("agent", "a")
        assert record is not None
        assert record.is_running()
        assert record.urls == row.urls == {"url": "http://h:1"}
        assert record.log == str(state.log_path("agent", "a"))
        with pytest.raises(AlreadyRunning):
            start_detached(a_launch(SERVER), state=state)
    finally:
        assert stop("agent", "a", grace_s=5, state=state) is not None

    assert stop("agent", "a", state=state) is None
    assert stop("agent", None, state=state) is None


def test_what_fails_to_start_leaves_neither_a_process_nor_a_record(state: State) -> None:
    with pytest.raises(ChildFailed, match="sorry"):
        start_detached(a_launch("print('sorry'); raise SystemExit(1)"), state=state)

    assert state.records("agent") == []


def test_what_ignores_a_term_is_killed_and_that_is_told(
    state: State, capsys: pytest.CaptureFixture[str]
) -> None:
    row = start_detached(a_launch(STUBBORN), state=state)

    stop("agent", "a", grace_s=0.1, state=state)

    assert row.pid is not None
    assert eventually(lambda: is_gone(row.pid or 0))
    assert "a did not end within 0.1 s and was killed" in capsys.readouterr().err


def test_what_a_process_left_behind_goes_with_it(state: State) -> None:
    leaves_one = (
        "import subprocess, sys\n"
        "sleep = [sys.executable, '-I', '-S', '-c', 'import time; time.sleep(60)']\n"
        "subprocess.Popen(sleep, start_new_session=True)\n" + SERVER
    )
    start_detached(a_launch(leaves_one), state=state)
    record = state.read("agent", "a")
    assert record is not None
    assert record.stack is not None
    assert len(marked_with(record.stack)) == 2

    stop("agent", "a", grace_s=5, state=state)

    assert eventually(lambda: marked_with(record.stack or "") == [])


def test_a_name_that_was_never_started_is_told_with_those_that_run(state: State) -> None:
    start_detached(a_launch(SERVER), state=state)
    try:
        with pytest.raises(NoSuchProcess, match=r"no agent called 'b' .*\(running: a\)"):
            find_record("agent", "b", state=state)
    finally:
        stop("agent", None, grace_s=5, state=state)


def test_two_starts_at_once_are_one_start_and_one_conflict(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cacheroute_cli.supervisor.state._LOCK_WAIT_S", 0.0)

    with state.locked(), pytest.raises(StateLocked):
        start_detached(a_launch(SERVER), state=state)


STARTER = """
import sys
from pathlib import Path
from cacheroute_cli.processes import start_detached
from cacheroute_cli.supervisor.state import State
from tests.cli.test_processes import SERVER, a_launch
start_detached(a_launch(SERVER), state=State(Path(sys.argv[1])))
"""
SLOW_STARTER = STARTER.replace("SERVER, a_launch", "a_launch").replace(
    "a_launch(SERVER)", "a_launch('import time; time.sleep(60)')"
)


def test_what_was_started_lives_on_after_the_command_has_ended(state: State) -> None:
    subprocess.run(
        [sys.executable, "-c", STARTER, str(state.root)], check=True, env=an_environment()
    )

    try:
        assert len(state.running("agent")) == 1
    finally:
        assert stop("agent", None, grace_s=5, state=state) is not None


def test_others_may_start_and_stop_things_while_one_starts(state: State) -> None:
    with a_slow_start(state) as starter:
        assert eventually(lambda: state.running("agent") != [])

        with pytest.raises(AlreadyRunning, match="agent a runs already"):
            start_detached(a_launch(SERVER), state=state)
        assert start_detached(a_launch(SERVER, name="b"), state=state).pid is not None
        assert stop("agent", "b", grace_s=5, state=state) is not None
        assert stop("agent", "a", grace_s=5, state=state) is not None
        assert starter.wait(timeout=60) == 1

    assert state.records("agent") == []


@contextmanager
def a_slow_start(state: State) -> "Iterator[subprocess.Popen[bytes]]":
    """Start a process that says nothing; its command waits for it."""
    with subprocess.Popen(
        [sys.executable, "-c", SLOW_STARTER, str(state.root)],
        env=an_environment(CR_TEST_MARK="start"), stderr=subprocess.DEVNULL,
    ) as starter:  # fmt: skip
        try:
            yield starter
        finally:
            starter.terminate()


def test_an_interrupt_while_it_starts_leaves_nothing(state: State) -> None:
    with a_slow_start(state) as starter:
        log = state.log_path("agent", "a")
        assert eventually(log.exists)
        starter.send_signal(signal.SIGINT)
        starter.wait(timeout=30)

    def left() -> list[int]:
        return [p for p in _pids() if b"CR_TEST_MARK=start" in _environ(p)]

    assert eventually(lambda: left() == [])
    assert state.records("agent") == []


def _pids() -> list[int]:
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]


def _environ(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def test_a_process_is_shown_with_all_that_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    row = ProcessRow(
        name="p",
        kind="proxy",
        state="running",
        pid=7,
        urls={"service": "http://h:1", "control": "http://h:2"},
        log="/var/log/p.log",
        uptime_s=8_040.0,
    )

    show_process(Context(), row)

    assert capsys.readouterr().out.splitlines() == [
        "proxy     p  running  pid 7  up 2h14m",
        "service   http://h:1",
        "control   http://h:2",
        "log       /var/log/p.log",
    ]


def test_a_record_of_the_foreground_process_is_kept_across_the_exec(state: State) -> None:
    program = (
        "import re, sys\n"
        "from pathlib import Path\n"
        "from cacheroute_cli.processes import become\n"
        "from cacheroute_cli.supervisor.state import State\n"
        "from tests.cli.test_processes import SERVER, a_launch\n"
        "become(a_launch(SERVER), state=State(Path(sys.argv[1])))\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(state.root)],
        stdout=subprocess.PIPE, text=True, env=an_environment(),
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline().startswith("listening")
        [record] = state.running("agent")
        assert record.pid == process.pid
        assert record.started_at_s <= time.time()

        stop("agent", None, grace_s=5, state=state)

        assert process.wait(timeout=10) == -signal.SIGTERM


def test_whoever_looks_for_what_a_stack_runs_is_led_there(state: State) -> None:
    assert what_is_up(state) is None

    lab, zoo = (StackHome(name, state.root) for name in ("lab", "zoo"))
    lab.prepare()
    zoo.prepare()
    with lab.supervising():
        assert what_is_up(state) == "stack lab is up: 'cacheroute ps --all' shows its processes"
        with zoo.supervising():
            assert what_is_up(state) == (
                "stacks lab, zoo are up: 'cacheroute ps --all' shows their processes"
            )
