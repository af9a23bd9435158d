"""Bringing a stack up: in this terminal, behind our back, or by a word to who keeps it already."""

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass

from cacheroute_cli.context import DEFAULT_PROXY_URL, Context
from cacheroute_cli.diagnostics import Exit, Fault, note, report_fault, stderr_is_terminal
from cacheroute_cli.log_printing import LogPrinter
from cacheroute_cli.stack_choice import Choice, load_stack
from cacheroute_cli.stackfile.plan import Wishes, plan_stack
from cacheroute_cli.stackfile.ports import PortBook
from cacheroute_cli.supervisor.asking import NoSupervisor, ask
from cacheroute_cli.supervisor.faults import AlreadyRunning, NotReady
from cacheroute_cli.supervisor.messages import Reply, Request
from cacheroute_cli.supervisor.process import ProcessPlan
from cacheroute_cli.supervisor.runner import Child, Program, python, spawn
from cacheroute_cli.supervisor.serving import supervise
from cacheroute_cli.supervisor.stack_home import ProcessStatus, StackHome
from cacheroute_cli.supervisor.supervising import Supervisor

_START_TIMEOUT_S = 20.0
_POLL_S = 0.02
WAIT_S = 60.0
"""How long `--wait` waits for a stack that was up already."""


class OtherFile(Fault):
    """A stack of this name is up, from another file."""

    code = "stack.other_file"
    exit = Exit.CONFLICT


@dataclass(frozen=True, slots=True, kw_only=True)
class UpOptions:
    """What `up` was asked for."""

    choice: Choice
    instances: int | None = None
    port_offset: int = 0
    timeout_s: float | None = None
    remove_vanished: bool = False
    own_token: str | None = None
    """What the Proxy is to ask for; `token` is what its Instances show without it."""
    token: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A stack that could be brought up."""

    home: StackHome
    request: Request
    notes: tuple[str, ...]


def plan_up(options: UpOptions) -> Planned:
    """Read the file and settle every port; raises BadStackFile or BadPorts."""
    stack = load_stack(options.choice)
    home = StackHome(stack.name)
    remembered = {status.name: status.ports for status in home.processes()}
    plans = plan_stack(
        stack,
        PortBook(offset=options.port_offset, remembered=remembered),
        Wishes(instances=options.instances, own_token=options.own_token, token=options.token),
    )
    return Planned(
        home=home,
        notes=stack.notes,
        request=Request(
            do="apply",
            plans=plans,
            timeout_s=options.timeout_s,
            remove_vanished=options.remove_vanished,
            file=None if stack.file is None else str(stack.file),
            instances=options.instances,
            port_offset=options.port_offset,
        ),
    )


def tell(text: str) -> None:
    """Tell whoever watches how far things are."""
    if stderr_is_terminal():
        note(f"✔ {text}")


def up_detached(planned: Planned) -> Reply:
    """Bring a stack up, or change one that is up, and return once that is done."""
    home = planned.home
    if home.is_supervised():
        _require_same_file(planned)
        return ask(home, planned.request, tell)
    home.prepare()
    with_child = _start_supervisor(home)
    return _ask_new(planned, with_child)


def up_here(context: Context, planned: Planned) -> int:
    """Be the supervisor ourselves, and print what the processes write; returns the exit code."""
    home = planned.home
    home.prepare()
    printer = LogPrinter(context, lambda: {p.name: home.log_of(p.name) for p in _plans(planned)})
    printing = threading.Event()

    async def work(supervisor: Supervisor) -> None:
        try:
            await supervisor.apply(planned.request, tell)
        except Fault as fault:
            if supervisor.finished.is_set():
                raise
            report_fault(fault, as_json=False)
        tell("up; ctrl-c ends it")

    # A terminal that is held up by its reader must not hold up who keeps the processes.
    thread = threading.Thread(target=printer.follow, args=(printing,), daemon=True)
    thread.start()
    try:
        return supervise(home, say=note, work=work)
    finally:
        printing.set()
        thread.join(timeout=1.0)


def wait_until_ready(home: StackHome, timeout_s: float) -> Reply:
    """Wait until everything that is meant to run is ready; raises NotReady."""
    deadline_s = time.monotonic() + timeout_s
    while True:
        reply = ask(home, Request(do="ps"), tell)
        unready = [
            status
            for status in reply.snapshot or ()
            if not status.ready and status.state not in ("stopped", "exited")
        ]
        if not unready:
            return reply
        failed = [status for status in unready if status.state == "failed"]
        if failed or time.monotonic() >= deadline_s:
            first = (failed or unready)[0]
            why = f" ({first.why})" if first.why else ""
            raise NotReady(
                f"{first.name} is {first.state} and not ready{why}", hint=f"see {first.log}"
            )
        time.sleep(0.1)


def _plans(planned: Planned) -> tuple[ProcessPlan, ...]:
    return planned.request.plans


def _require_same_file(planned: Planned) -> None:
    record = planned.home.supervisor()
    if record is None or record.digest is None or record.file == planned.request.file:
        return
    raise OtherFile(
        f"stack {planned.home.name} is up from {record.file or 'no file'}, "
        f"and this is {planned.request.file or 'none'}",
        hint="end it with 'cacheroute down', or give this one another name with --stack",
    )


def _start_supervisor(home: StackHome) -> Child:
    program = Program(
        name="supervisor",
        argv=python("-P", "-m", "cacheroute_cli.supervisor", home.name, str(home.root.absolute())),
        log=home.supervisor_log,
    )
    return spawn(program, stack=f"supervisor of {home.name}", tethered=False)


def _ask_new(planned: Planned, child: Child) -> Reply:
    home = planned.home
    deadline_s = time.monotonic() + _START_TIMEOUT_S
    while True:
        try:
            return ask(home, planned.request, tell)
        except NoSupervisor:
            code = child.exit_code()
        if code == Exit.CONFLICT:
            raise AlreadyRunning(
                f"another 'cacheroute up' is bringing stack {home.name} up",
                hint="look at it with 'cacheroute ps'",
            )
        if code is not None:
            raise child.failure()
        if time.monotonic() > deadline_s:
            raise NotReady(
                f"the supervisor did not answer within {_START_TIMEOUT_S:g} s",
                hint=f"see {home.supervisor_log}",
            )
        time.sleep(_POLL_S)


def next_steps(statuses: Iterable[ProcessStatus]) -> None:
    """Say on a terminal what can be done now."""
    if not stderr_is_terminal():
        return
    urls = [status.urls.get("control", "") for status in statuses if status.kind == "proxy"]
    elsewhere = [url for url in urls if url not in ("", DEFAULT_PROXY_URL)]
    status = f"cacheroute status{' --proxy-url ' + elsewhere[0] if elsewhere else ''}"
    note(f"  {status}   ·   cacheroute logs --follow   ·   cacheroute down")
