"""The supervisor of one stack: the only one that starts, watches and ends its processes.

One change at a time; a second one is refused while the first is at work, except `down`, which
ends it. What runs stays up when something else fails, unless the plan says otherwise.
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

from cacheroute_cli.diagnostics import Fault
from cacheroute_cli.supervisor.changes import compare
from cacheroute_cli.supervisor.ending import end_marked
from cacheroute_cli.supervisor.faults import NoSuchProcess, StateLocked
from cacheroute_cli.supervisor.keeper import SETTLED, Keeper, State
from cacheroute_cli.supervisor.log_files import LogFile
from cacheroute_cli.supervisor.messages import Reply, Request
from cacheroute_cli.supervisor.preflight import preflight, render_ports
from cacheroute_cli.supervisor.probes import Probes, why_no_answer
from cacheroute_cli.supervisor.process import BASE, RUNGS, ProcessPlan, digest_of
from cacheroute_cli.supervisor.stack_home import (
    ProcessStatus,
    StackHome,
    SupervisorRecord,
    homes,
)
from cacheroute_cli.supervisor.telling import fault_of, listed, order, together, told_ready
from cacheroute_cli.supervisor.usage import Meter, usage_by_session
from cacheroute_cli.supervisor.watchers import Watchers

Tell = Callable[[str], None]

LOOK_EVERY_S = 0.5
USAGE_EVERY = 6
"""Looks at the logs for one at usage and readiness."""
MEASURE_AT_MOST_EVERY_S = 1.0


class Supervisor:
    """Keeps the processes of one stack."""

    def __init__(self, home: StackHome, record: SupervisorRecord, *, say: Tell) -> None:
        self.home = home
        self.record = record
        self.finished = asyncio.Event()
        """Set when everything has ended, and the supervisor may as well."""
        self.hurry = asyncio.Event()
        """Once set, nothing is given any more time to end."""
        self.exit_code = 0
        self.ended_by: Fault | None = None
        """The process that took the whole stack with it."""
        self.spared: set[int] = set()
        """Pids that carry the mark and are none of the stack: the guard."""
        self.watchers = Watchers()
        """Who is told of every change."""
        self._say = say
        self._keepers: dict[str, Keeper] = {}
        self._logs: dict[str, LogFile] = {}
        self._probes = Probes()
        self._meter = Meter()
        self._measured_s = -MEASURE_AT_MOST_EVERY_S
        self._at_work: asyncio.Task[object] | None = None
        self._work = ""
        self._is_ending = False
        self._downs: set[asyncio.Task[None]] = set()
        self._is_state_broken = False

    @property
    def is_empty(self) -> bool:
        """Whether it keeps nothing, and is at nothing."""
        return not self._keepers and self._at_work is None

    @property
    def is_ending(self) -> bool:
        """Whether everything is being ended."""
        return self._is_ending

    @property
    def longest_grace_s(self) -> float:
        """How long the slowest of its processes may take to end."""
        return max((k.plan.stop.grace_s for k in self._keepers.values()), default=0.0)

    def statuses(self) -> tuple[ProcessStatus, ...]:
        """Tell how every process is, in the order of their starts."""
        keepers = sorted(self._keepers.values(), key=order)
        return tuple(self._with_usage(keeper.status()) for keeper in keepers)

    async def apply(self, request: Request, tell: Tell) -> bool:
        """Make what runs what is wanted; return whether there was anything to do.

        Raises whatever preflight does, before anything is started, and ChildFailed or NotReady
        for what did not become ready. Without the base of a new stack, nothing of it stays.
        """
        with self._working("up"):
            present = {name: keeper.plan for name, keeper in self._keepers.items()}
            idle = {name for name, keeper in self._keepers.items() if keeper.state in SETTLED}
            changes = compare(
                request.plans,
                present,
                idle=idle,
                kinds=request.kinds,
                keep_changed=request.keep_changed,
            )
            gone = changes.vanished if request.remove_vanished else ()
            if changes.vanished and not gone:
                tell(
                    f"{listed(changes.vanished)} not in the stack any more; "
                    "--remove-orphans ends what is left"
                )
            to_start = [*changes.new, *changes.changed, *(present[name] for name in changes.idle)]
            if not to_start and not gone:
                self._note_request(request)
                return False
            is_first = not self._keepers
            started: list[Keeper] = []
            try:
                reused = await self._preflight(to_start, gone, tell)
                await self._end([self._keepers[plan.name] for plan in changes.changed])
                await self._remove(gone, tell)
                started = [self._keeper_of(plan) for plan in to_start]
                self._note_request(request)
                await self._start(started, reused, request.timeout_s, tell)
            except BaseException:
                base = [keeper for keeper in started if keeper.plan.kind in BASE]
                has_base = bool(started) and all(keeper.ready for keeper in base)
                if is_first and not has_base:
                    self._is_ending = True
                    await self._end(list(self._keepers.values()))
                    self._forget(list(self._keepers))
                    self.finished.set()
                raise
            return True

    async def start(self, request: Request, tell: Tell) -> bool:
        """Start processes by name or kind, and wait until they are ready."""
        with self._working("start"):
            keepers = [k for k in self._named(request.names) if k.state in SETTLED]
            if keepers:
                reused = await self._preflight([k.plan for k in keepers], (), tell)
                await self._start(keepers, reused, request.timeout_s, tell)
            return bool(keepers)

    async def stop(self, request: Request, tell: Tell) -> bool:
        """End processes by name or kind; they stay ended until started."""
        with self._working("stop"):
            keepers = [k for k in self._named(request.names) if k.state is not State.STOPPED]
            await self._end(keepers, grace_s=request.timeout_s)
            for keeper in keepers:
                tell(f"{keeper.plan.name} stopped")
            return bool(keepers)

    async def restart(self, request: Request, tell: Tell) -> bool:
        """End processes and start them anew, and wait until they are ready."""
        with self._working("restart"):
            keepers = self._named(request.names)
            reused = await self._preflight([k.plan for k in keepers], (), tell)
            await self._end(keepers)
            await self._start(keepers, reused, request.timeout_s, tell)
            return True

    async def down(self, *, grace_s: float | None = None, tell: Tell) -> None:
        """End everything, the last rung first, and finish; a change at work is given up."""
        self._is_ending = True
        if self._at_work is not None:
            self._at_work.cancel()
            await asyncio.wait({self._at_work})
        keepers = list(self._keepers.values())
        await self._end(keepers, grace_s=grace_s, tell=tell)
        # What made a session of its own has left its group, but not its mark.
        left = await asyncio.to_thread(end_marked, self.record.mark, but=frozenset(self.spared))
        if left:
            tell(f"{left} left-over processes killed")
        self._forget(list(self._keepers))
        self.finished.set()

    def measure(self) -> None:
        """See what the processes use, unless that was seen a moment ago."""
        now_s = time.monotonic()
        if now_s - self._measured_s >= MEASURE_AT_MOST_EVERY_S:
            self._measured_s = now_s
            with suppress(OSError):
                self._meter.look(usage_by_session(), now_s)

    def close(self) -> None:
        """Drop its connections to others."""
        self._probes.close()

    async def watch_over(self) -> None:
        """Look after logs, usage and readiness until cancelled."""
        looks = 0
        while True:
            now_s = time.time()
            for name in self._keepers:
                log = self._logs.setdefault(name, LogFile(self.home.log_of(name)))
                log.look(now_s)
            if looks % USAGE_EVERY == 0:
                self.measure()
                await asyncio.gather(*(keeper.look() for keeper in self._keepers.values()))
            looks += 1
            await asyncio.sleep(LOOK_EVERY_S)

    @contextmanager
    def _working(self, work: str) -> Iterator[None]:
        if self._is_ending:
            raise StateLocked(f"stack {self.home.name} is being ended")
        if self._at_work is not None:
            raise StateLocked(
                f"another command, {self._work!r}, is at work on stack {self.home.name}",
                hint="wait for it to end, or end the stack with 'cacheroute down'",
            )
        self._at_work, self._work = asyncio.current_task(), work
        try:
            yield
        finally:
            self._at_work = None

    async def _preflight(
        self, plans: Sequence[ProcessPlan], gone: Sequence[str], tell: Tell
    ) -> set[str]:
        """Check what is to be started; return which of it somebody else does already."""
        reused = set()
        for plan in plans:
            mine = self._keepers.get(plan.name)
            if plan.reuse is None or (mine is not None and mine.pid is not None):
                continue
            if await asyncio.to_thread(why_no_answer, plan.reuse) is None:
                reused.add(plan.name)
        leaving = {plan.name for plan in plans} | set(gone)
        own_ports = {
            port.port
            for name, keeper in self._keepers.items()
            if name in leaving and keeper.pid is not None
            for port in keeper.plan.ports
        }
        starting = [plan for plan in plans if plan.name not in reused]
        marks = {
            record.mark: record.stack
            for home in homes(self.home.root)
            if (record := home.supervisor()) is not None
        }
        ports = await asyncio.to_thread(preflight, starting, own_ports=own_ports, marks=marks)
        if ports:
            tell(f"{'port' if len(ports) == 1 else 'ports'} {render_ports(ports)} free")
        return reused

    async def _start(
        self, keepers: Sequence[Keeper], reused: set[str], timeout_s: float | None, tell: Tell
    ) -> None:
        began_s = time.monotonic()
        faults: list[Fault] = []
        for kind in RUNGS:
            rung = [keeper for keeper in keepers if keeper.plan.kind == kind]
            for keeper in rung:
                if keeper.plan.name in reused:
                    keeper.reuse()
                    tell(f"{keeper.plan.name} at {keeper.plan.reuse} is healthy, and reused")
                else:
                    keeper.start()
            rung = [keeper for keeper in rung if keeper.plan.name not in reused]
            left_s = None if timeout_s is None else began_s + timeout_s - time.monotonic()
            await asyncio.gather(
                *(k.settle(k.plan.ready.timeout_s if left_s is None else left_s) for k in rung)
            )
            took_s = time.monotonic() - began_s
            if rung and all(keeper.ready for keeper in rung):
                tell(told_ready(kind, rung, took_s))
            faults += [fault_of(keeper, took_s) for keeper in rung if not keeper.ready]
            if faults and kind in BASE:
                break
        if faults:
            raise together(faults)

    async def _end(
        self,
        keepers: Sequence[Keeper],
        *,
        grace_s: float | None = None,
        tell: Tell | None = None,
    ) -> None:
        for kind in reversed(RUNGS):
            rung = [k for k in keepers if k.plan.kind == kind]
            running = [k.plan.name for k in rung if k.pid is not None]
            await asyncio.gather(*(k.stop(hurry=self.hurry, grace_s=grace_s) for k in rung))
            if running and tell is not None:
                tell(f"{listed(running)} stopped")

    async def _remove(self, names: Sequence[str], tell: Tell) -> None:
        await self._end([self._keepers[name] for name in names])
        self._forget(names)
        if names:
            tell(f"{listed(names)} removed")

    def _forget(self, names: Sequence[str]) -> None:
        for name in names:
            del self._keepers[name]
            self._logs.pop(name, None)
            self.home.forget_process(name)
            self.watchers.publish(Reply(gone=name))

    def _keeper_of(self, plan: ProcessPlan) -> Keeper:
        keeper = self._keepers.get(plan.name)
        if keeper is None or keeper.plan.digest != plan.digest:
            keeper = self._keepers[plan.name] = Keeper(
                plan,
                home=self.home,
                mark=self.record.mark,
                probes=self._probes,
                ports=self._ports,
                changed=self._on_change,
            )
        return keeper

    def _named(self, names: Sequence[str]) -> list[Keeper]:
        found: dict[str, Keeper] = {}
        for name in names:
            kind = name.removesuffix("s")
            meant = [
                k for k in self._keepers.values() if name == k.plan.name or kind == k.plan.kind
            ]
            if not meant:
                known = ", ".join(sorted(self._keepers)) or "none"
                raise NoSuchProcess(
                    f"there is no process {name!r} in stack {self.home.name}; known are {known}"
                )
            found |= {keeper.plan.name: keeper for keeper in meant}
        return sorted(found.values(), key=order)

    def _ports(self) -> str:
        return " ".join(
            f"{k.plan.name}.{port.name}={port.port}"
            for k in sorted(self._keepers.values(), key=order)
            for port in k.plan.ports
        )

    def _note_request(self, request: Request) -> None:
        self.record = replace(
            self.record,
            file=request.file,
            instances=request.instances,
            port_offset=request.port_offset,
            digest=digest_of(tuple(keeper.plan for keeper in self._keepers.values())),
        )
        try:
            self.home.write_supervisor(self.record)
        except OSError as problem:
            self._complain_of_state(problem)

    def _on_change(self, keeper: Keeper, why: str | None) -> None:
        status = keeper.status()
        try:
            self.home.write_process(status)
        except OSError as problem:
            self._complain_of_state(problem)
        self.watchers.publish(Reply(process=self._with_usage(status)))
        if keeper.state in (State.BACKOFF, State.EXITED):
            self._say(f"{keeper.plan.name} {why}")
        elif keeper.state is State.FAILED:
            words = "".join(f"\n  {line}" for line in keeper.last_words)
            self._say(f"{keeper.plan.name} has failed: {why}{words}")
            if keeper.plan.on_failure == "stop" and not self._is_ending:
                self._give_up(keeper)

    def _give_up(self, keeper: Keeper) -> None:
        code = keeper.last_exit if keeper.last_exit is not None else 1
        self.exit_code = code if 0 < code < 126 else 1
        self.ended_by = fault_of(keeper, 0.0)
        self._say(f"everything is ended, as {keeper.plan.name} asks for when it fails")
        task = asyncio.create_task(self.down(tell=self._say))  # noqa: TID251 - held until done
        self._downs.add(task)
        task.add_done_callback(self._downs.discard)

    def _complain_of_state(self, problem: OSError) -> None:
        # A full disk must not take the processes with it; it is said once.
        if not self._is_state_broken:
            self._is_state_broken = True
            self._say(f"the state folder cannot be written to ({problem}); going on without")

    def _with_usage(self, status: ProcessStatus) -> ProcessStatus:
        if status.pid is None:
            return status
        return replace(
            status,
            cpu_percent=self._meter.cpu_percent(status.pid),
            rss_bytes=self._meter.rss_bytes(status.pid),
        )
