"""One process, kept running: started, waited for until it is ready, started again, ended.

A keeper never gives up control of its child: as long as the child has not been reaped, its pid
is nobody else's, and what it leaves behind in its group goes before it is.
"""

import asyncio
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum

from cacheroute_cli.supervisor.log_lines import last_lines
from cacheroute_cli.supervisor.probes import Probes
from cacheroute_cli.supervisor.process import ProcessPlan
from cacheroute_cli.supervisor.restarts import Again, Done, GivenUp, Restarts, told
from cacheroute_cli.supervisor.runner import Child, Program, spawn
from cacheroute_cli.supervisor.stack_home import ProcessStatus, StackHome

OUR_VARIABLES = ("CACHEROUTE_STACK_FILE",)
"""For the command line alone; a Proxy refuses variables that it does not know."""
PORTS_VARIABLE = "CACHEROUTE_PORTS"

_PROBE_EVERY_S = 0.05
_PROBE_AT_LEAST_EVERY_S = 1.0
_CANNOT_RUN = 127
_WORDS = 20
"""Last lines of its log that are shown of a process that has failed."""


class State(StrEnum):
    """Where a process stands."""

    WAITING = "waiting"
    STARTING = "starting"
    RUNNING = "running"
    BACKOFF = "backoff"
    STOPPING = "stopping"
    STOPPED = "stopped"
    EXITED = "exited"
    FAILED = "failed"
    REUSED = "reused"


SETTLED = (State.STOPPED, State.EXITED, State.FAILED, State.WAITING)
"""States in which nothing runs and nothing is about to."""


class Keeper:
    """Keeps one process as its plan says, and tells `changed` about each change."""

    def __init__(
        self,
        plan: ProcessPlan,
        *,
        home: StackHome,
        mark: str,
        probes: Probes,
        ports: Callable[[], str],
        changed: Callable[["Keeper", str | None], None],
    ) -> None:
        self.plan = plan
        self.log = home.log_of(plan.name)
        self.state = State.WAITING
        self.ready: bool | None = None
        self.why: str | None = None
        self.last_exit: int | None = None
        self.started_at_s: float | None = None
        self.last_words: list[str] = []
        """The end of its log, once it has failed."""
        self._home = home
        self._mark = mark
        self._probes = probes
        self._ports = ports
        self._changed = changed
        self._child: Child | None = None
        self._was_ready = False
        self._last_run: list[str] = []
        """The end of what its last run has written."""
        self._trouble: str | None = None
        """Why it could not even be started."""
        self._restarts = Restarts(plan.restart, is_ours=plan.is_ours)
        self._task: asyncio.Task[None] | None = None
        self._ending = asyncio.Event()
        self._moved = asyncio.Event()

    @property
    def pid(self) -> int | None:
        """The child's, while there is one."""
        return None if self._child is None else self._child.pid

    def start(self) -> None:
        """Run it from now on; nothing happens when it runs already."""
        if self._task is not None and not self._task.done():
            return
        self._ending.clear()
        self._restarts = Restarts(self.plan.restart, is_ours=self.plan.is_ours)
        self.last_words = []
        # At once, so that nobody takes what has not run yet for what will not run.
        self._set(State.STARTING, ready=False)
        self._task = asyncio.create_task(self._keep())  # noqa: TID251 - held here, ended by stop()

    def reuse(self) -> None:
        """Leave the work to one that is there already."""
        self._set(State.REUSED, ready=True)

    async def settle(self, timeout_s: float) -> bool:
        """Wait until it is ready or will not be; whether it is ready."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while not self.ready and self.state not in SETTLED:
                    self._moved.clear()
                    await self._moved.wait()
        return bool(self.ready)

    async def stop(self, *, hurry: asyncio.Event, grace_s: float | None = None) -> None:
        """End it, and wait for that; a hurry cuts its grace short."""
        if self._task is None or self._task.done():
            self._set(State.STOPPED, ready=None)
            return
        self._ending.set()
        if self._child is not None:
            self._set(State.STOPPING, ready=False)
            await self._end(
                self._child, hurry, self.plan.stop.grace_s if grace_s is None else grace_s
            )
        # Shielded: who gives up waiting must not take along who reaps the child.
        await asyncio.shield(self._task)
        self._set(State.STOPPED, ready=None)

    async def look(self) -> None:
        """See whether it is still ready."""
        if not self._may_change():
            return
        child = self._child
        why = await self._probes.why_not(self.plan.ready)
        if self._may_change() and child is self._child:
            self._set(self.state, ready=why is None, why=why)

    def status(self) -> ProcessStatus:
        """Tell how it is; what it uses is for others to fill in."""
        child = self._child
        return ProcessStatus(
            name=self.plan.name,
            kind=self.plan.kind,
            stack=self._home.name,
            state=self.state.value,
            ready=self.ready,
            pid=None if child is None else child.pid,
            start_ticks=None if child is None else child.identity.start_ticks,
            boot_id=None if child is None else child.identity.boot_id,
            argv=self.plan.argv,
            cwd=self.plan.cwd,
            urls=self.plan.urls,
            ports={port.name: port.port for port in self.plan.ports},
            log=str(self.log),
            restarts=self._restarts.count,
            started_at_s=None if child is None else self.started_at_s,
            last_exit=self.last_exit,
            why=self.why,
            digest=self.plan.digest,
        )

    def _may_change(self) -> bool:
        """Whether it has been ready, and nothing else is going on with it."""
        return self.state is State.REUSED or (self.state is State.RUNNING and self._was_ready)

    async def _keep(self) -> None:
        while not self._ending.is_set():
            began_s = time.monotonic()
            self._was_ready = False
            self.last_exit = code = await self._live()
            if self._ending.is_set():
                return
            now_s = time.monotonic()
            match self._restarts.after(
                code, now_s=now_s, lived_s=now_s - began_s, was_ready=self._was_ready
            ):
                case Done():
                    self._set(State.EXITED, ready=False, why=told(code))
                    return
                case GivenUp(why=why):
                    self.last_words = self._last_run or last_lines(self.log, _WORDS)
                    self._set(State.FAILED, ready=False, why=self._explained(why))
                    return
                case Again(pause_s=pause_s):
                    why = f"{told(code)}; next try in {pause_s:g} s"
                    self._set(State.BACKOFF, ready=False, why=self._explained(why))
                    with suppress(TimeoutError):
                        async with asyncio.timeout(pause_s):
                            await self._ending.wait()

    def _explained(self, why: str) -> str:
        return why if self._trouble is None else f"{self._trouble} ({why})"

    async def _live(self) -> int:
        """Run it once, and return its exit code."""
        try:
            child, pidfd = self._spawn()
        except OSError as problem:
            self._trouble = f"it cannot be run: {problem}"
            return _CANNOT_RUN
        self._child, self._trouble = child, None
        self.started_at_s = time.time()
        self._set(State.STARTING, ready=False)
        loop = asyncio.get_running_loop()
        exited: asyncio.Future[None] = loop.create_future()
        loop.add_reader(pidfd, _mark_done, exited)
        readying = asyncio.create_task(self._become_ready())  # noqa: TID251 - ended below
        try:
            await exited
        finally:
            loop.remove_reader(pidfd)
            os.close(pidfd)
            readying.cancel()
            with suppress(asyncio.CancelledError):
                await readying
        code = child.kill()  # it has ended; what it has left in its group goes with it
        self._child = None
        self._last_run = _words_of(child)
        return _CANNOT_RUN if code is None else code

    def _spawn(self) -> tuple[Child, int]:
        """Start it; returns it with the descriptor that tells of its end. Raises OSError."""
        plan = self.plan
        program = Program(
            name=plan.name,
            argv=plan.argv,
            log=self.log,
            env={PORTS_VARIABLE: self._ports(), **plan.env},
            without=OUR_VARIABLES,
            cwd=plan.cwd,
        )
        child = spawn(program, stack=self._mark, tethered=True)
        try:
            return child, os.pidfd_open(child.pid)
        except OSError:
            child.kill()
            raise

    async def _become_ready(self) -> None:
        ready = self.plan.ready
        began_s = time.monotonic()
        while (why := await self._probes.why_not(ready)) is not None:
            waited_s = time.monotonic() - began_s
            if waited_s >= ready.timeout_s and self.state is State.STARTING:
                # It goes on being asked: late is better than never.
                self._set(
                    State.RUNNING, ready=False, why=f"not ready in {ready.timeout_s:g} s: {why}"
                )
            elif self.state is State.STARTING:
                self.why = why
            # What is slow, a model that loads, need not be asked so often.
            await asyncio.sleep(min(_PROBE_AT_LEAST_EVERY_S, _PROBE_EVERY_S + waited_s / 20))
        if self.state in (State.STARTING, State.RUNNING):
            self._was_ready = True
            self._set(State.RUNNING, ready=True)

    async def _end(self, child: Child, hurry: asyncio.Event, grace_s: float) -> None:
        """Ask the child's group to end, and kill it when it has had its time."""
        self._signal(child, self.plan.stop.signal)
        hurrying = asyncio.create_task(hurry.wait())  # noqa: TID251 - ended below
        assert self._task is not None  # noqa: S101 - who has a child has a task
        try:
            await asyncio.wait(
                {self._task, hurrying}, timeout=grace_s, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            hurrying.cancel()
        if not self._task.done():
            self._set(State.STOPPING, ready=False, why=f"killed after {grace_s:g} s")
            self._signal(child, signal.SIGKILL)

    def _signal(self, child: Child, number: int) -> None:
        # Only _live reaps, and it drops the child in the same turn: the pid is still its own.
        if self._child is child:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, number)

    def _set(self, state: State, *, ready: bool | None, why: str | None = None) -> None:
        if (state, ready, why) == (self.state, self.ready, self.why):
            return
        self.state, self.ready, self.why = state, ready, why
        self._moved.set()
        self._changed(self, why)


def _words_of(child: Child) -> list[str]:
    try:
        lines = child.last_words().splitlines()
    except OSError:
        return []
    return [line for line in lines if line.strip()][-_WORDS:]


def _mark_done(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
