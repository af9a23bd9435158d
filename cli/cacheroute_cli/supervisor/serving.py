"""A supervisor as a process, in the background or in a terminal: lock, guard, socket, signals.

The first SIGINT or SIGTERM ends the stack in order, a second one at once.
"""

import asyncio
import os
import signal
import socket
import time
import uuid
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from cacheroute_cli.supervisor.desk import Desk, listen_at
from cacheroute_cli.supervisor.ending import end_all, end_marked
from cacheroute_cli.supervisor.faults import AlreadyRunning, StateUnwritable
from cacheroute_cli.supervisor.identity import identify, marked_with
from cacheroute_cli.supervisor.log_files import LogFile
from cacheroute_cli.supervisor.runner import Child, Program, python, spawn
from cacheroute_cli.supervisor.stack_home import StackHome, SupervisorRecord
from cacheroute_cli.supervisor.supervising import LOOK_EVERY_S, Supervisor

Tell = Callable[[str], None]
Work = Callable[[Supervisor], Coroutine[Any, Any, None]]

IDLE_S = 15.0
"""How long a supervisor that nobody has given anything to do waits for it."""
_GUARD_WAIT_S = 3.0
_ORPHAN_GRACE_S = 10.0


def supervise(home: StackHome, *, say: Tell, work: Work | None = None) -> int:
    """Be the supervisor of a stack until it is down; return the exit code.

    `work` is done while commands are taken, in a terminal; what it raises is raised here, once
    the stack is down. Raises AlreadyRunning when somebody else supervises, or StateUnwritable.
    """
    home.prepare()
    with home.supervising() as is_mine:
        if not is_mine:
            raise AlreadyRunning(
                f"another 'cacheroute up' supervises stack {home.name}",
                hint="look at it with 'cacheroute ps', end it with 'cacheroute down'",
            )
        _end_what_was_left(home, say)
        record = _record(home)
        try:
            home.write_supervisor(record)
            listener = listen_at(home.socket())
        except OSError as problem:
            raise StateUnwritable(
                f"stack {home.name} cannot be supervised ({problem})",
                hint="name another state folder in CACHEROUTE_STATE_DIR",
            ) from problem
        guard = Guard(home, record.mark)
        try:
            supervisor = Supervisor(home, record, say=say)
            supervisor.spared.add(guard.pid)
            with asyncio.Runner() as runner:
                return runner.run(_Serving(supervisor, guard, say=say).run(listener, work))
        finally:
            guard.close()
            with suppress(OSError):
                home.forget_all()


class Guard:
    """The process that ends the stack when this one is killed."""

    def __init__(self, home: StackHome, mark: str) -> None:
        self._home = home
        self._mark = mark
        self._grace_s = 0.0
        self._child, self._writing = self._start()

    @property
    def pid(self) -> int:
        """Its pid."""
        return self._child.pid

    def allow(self, grace_s: float) -> None:
        """Say how long processes may take to end when we are gone."""
        if grace_s != self._grace_s:
            self._grace_s = grace_s
            with suppress(OSError):
                os.write(self._writing, f"{grace_s:g}\n".encode())

    def ensure(self) -> bool:
        """Start another one if it has ended; whether there is a new one."""
        if self._child.exit_code() is None:
            return False
        old = self._writing
        try:
            self._child, self._writing = self._start()
        except OSError:
            return False  # nothing can be started now: the next look tries again
        os.close(old)
        grace_s, self._grace_s = self._grace_s, 0.0
        self.allow(grace_s)
        return True

    def close(self) -> None:
        """Let it go, and wait for that."""
        os.close(self._writing)
        deadline_s = time.monotonic() + _GUARD_WAIT_S
        while self._child.exit_code() is None:
            if time.monotonic() > deadline_s:
                os.kill(self.pid, signal.SIGKILL)
                deadline_s += _GUARD_WAIT_S
            time.sleep(0.01)

    def _start(self) -> tuple[Child, int]:
        reading, writing = os.pipe()
        program = Program(
            name="guard",
            argv=python("-P", "-m", "cacheroute_cli.supervisor.guard"),
            log=self._home.supervisor_log,
        )
        try:
            return spawn(program, stack=self._mark, tethered=False, stdin=reading), writing
        except OSError:
            os.close(writing)
            raise
        finally:
            os.close(reading)


class _Serving:
    def __init__(self, supervisor: Supervisor, guard: Guard, *, say: Tell) -> None:
        self._supervisor = supervisor
        self._guard = guard
        self._say = say
        self._tasks: set[asyncio.Task[object]] = set()

    async def run(self, listener: socket.socket, work: Work | None) -> int:
        supervisor = self._supervisor
        loop = asyncio.get_running_loop()
        # Only a stack in a terminal goes when its terminal goes.
        on_hangup = self._on_signal if work is not None else _nothing
        for number, handler in (
            (signal.SIGINT, self._on_signal),
            (signal.SIGTERM, self._on_signal),
            (signal.SIGHUP, on_hangup),
        ):
            # Who was started with a signal ignored (nohup) keeps ignoring it.
            if signal.getsignal(number) is not signal.SIG_IGN:
                loop.add_signal_handler(number, handler)
        desk = Desk(supervisor, say=self._say)
        await desk.open(listener)
        try:
            self._hold(supervisor.watch_over())
            self._hold(self._look_after_ourselves())
            working = None if work is None else self._hold(work(supervisor))
            await supervisor.finished.wait()
            if working is not None:
                await asyncio.wait({working})
                if not working.cancelled():
                    working.result()
            return supervisor.exit_code
        finally:
            await desk.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            supervisor.close()

    def _hold(self, work: Coroutine[Any, Any, object]) -> asyncio.Task[object]:
        task = asyncio.create_task(work)  # noqa: TID251 - held here, ended by run()
        self._tasks.add(task)
        return task

    def _on_signal(self) -> None:
        if self._supervisor.is_ending:
            self._supervisor.hurry.set()
        else:
            self._say("ending the stack; once more to kill it")
            self._hold(self._supervisor.down(tell=self._say))

    async def _look_after_ourselves(self) -> None:
        supervisor, log = self._supervisor, LogFile(self._supervisor.home.supervisor_log)
        idle_s = 0.0
        while idle_s < IDLE_S:
            log.look(time.time())
            self._guard.allow(supervisor.longest_grace_s)
            if self._guard.ensure():
                self._say("the guard had ended; there is a new one")
                supervisor.spared.add(self._guard.pid)
            idle_s = idle_s + LOOK_EVERY_S if supervisor.is_empty else 0.0
            await asyncio.sleep(LOOK_EVERY_S)
        self._say(f"nothing to do for {IDLE_S:g} s")
        supervisor.finished.set()


def _end_what_was_left(home: StackHome, say: Tell) -> None:
    """End what an earlier supervisor of this stack has left behind."""
    earlier = home.supervisor()
    if earlier is None or not (left := marked_with(earlier.mark)):
        return
    say(f"ending {len(left)} processes that an earlier supervisor has left")
    end_all(left, grace_s=_ORPHAN_GRACE_S)
    end_marked(earlier.mark)


def _nothing() -> None:
    """Take a signal and do nothing about it."""


def _record(home: StackHome) -> SupervisorRecord:
    me = identify(os.getpid())
    assert me is not None, "this process runs"  # noqa: S101
    return SupervisorRecord(
        stack=home.name,
        pid=me.pid,
        start_ticks=me.start_ticks,
        boot_id=me.boot_id,
        mark=uuid.uuid4().hex,
        socket=str(home.socket()),
        started_at_s=time.time(),
    )
