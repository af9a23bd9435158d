"""The stack in force: whether all of it runs, and which ports it and its Proxy take here.

Read from the records of supervisors, or planned from the file where it is not up; nobody is
asked, and nothing is started.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from urllib.parse import urlsplit

from cacheroute_cli.config.tokens import is_loopback
from cacheroute_cli.context import Context
from cacheroute_cli.doctor.check import Check, bad, ok, warn
from cacheroute_cli.stack_choice import Choice, UnclearStack, find_stack, load_stack
from cacheroute_cli.stackfile.plan import Wishes, plan_stack
from cacheroute_cli.stackfile.ports import PortBook
from cacheroute_cli.supervisor.stack_home import ProcessStatus, StackHome, homes
from cacheroute_cli.supervisor.state import State

_PORTS = range(1, 65_536)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """The ports that matter here."""

    wanted: tuple[int, ...]
    held: Mapping[int, int]
    """Those of processes of a stack that is up, with their pids."""


def check_stacks(state: State) -> Iterator[Check]:
    """See whether all processes of each stack that is up are ready."""
    up = [home for home in homes(state.root) if home.is_supervised()]
    if not up:
        yield ok("stack", "none is up")
    for home in up:
        statuses = home.processes()
        unready = [status for status in statuses if not status.ready]
        if not unready:
            yield ok("stack", f"{home.name} is up, all {len(statuses)} processes are ready")
        yield from (_unready(home, status) for status in unready)


def _unready(home: StackHome, status: ProcessStatus) -> Check:
    who = f"{status.name} of {home.name}"
    why = f" ({status.why})" if status.why else ""
    start = f"'cacheroute start {status.name} --stack {home.name}' starts it"
    match status.state:
        case "stopped":
            return warn("stack", f"{who} is stopped", start)
        case "exited":
            return warn("stack", f"{who} has ended{why}", start)
        case "failed":
            return bad("stack", f"{who} has failed{why}", f"{start} again; its log is {status.log}")
        case state:
            sentence = f"{who} is {state} and not ready{why}"
            return warn("stack", sentence, f"its log is {status.log}")


def proxies_up() -> list[str]:
    """Return the control planes of the stacks that are up."""
    return [
        url
        for home in homes()
        if home.is_supervised()
        for status in home.processes()
        if status.kind == "proxy" and (url := status.urls.get("control"))
    ]


def ports_in_force(context: Context | None) -> Ports:
    """Return the ports of the stack that is meant, and of the context's Proxy if that is here.

    Raises a Fault where the stack file is wrong.
    """
    try:
        meant = [find_stack(Choice())]
    except UnclearStack:
        meant = [home for home in homes() if home.is_supervised()]
    wanted: list[int] = []
    held: dict[int, int] = {}
    for home in meant:
        if not home.is_supervised():
            wanted += _planned(home)
            continue
        for status in home.processes():
            wanted += status.ports.values()
            if status.pid is not None:
                held |= dict.fromkeys(status.ports.values(), status.pid)
    if context is not None and not context.proxy_url_is_default:
        wanted += _port_here(context.proxy_url)
    return Ports(wanted=tuple(sorted(set(wanted))), held=held)


def _planned(home: StackHome) -> list[int]:
    remembered = {status.name: status.ports for status in home.processes()}
    # What is chosen when the stack comes up cannot be taken now: such a port has no number yet.
    book = PortBook(remembered=remembered, find=count(_PORTS.stop).__next__)
    plans = plan_stack(load_stack(Choice()), book, Wishes())
    return [port.port for plan in plans for port in plan.ports if port.port in _PORTS]


def _port_here(url: str) -> list[int]:
    port = urlsplit(url).port
    return [port] if port is not None and is_loopback(url) else []
