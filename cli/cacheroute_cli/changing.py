"""Asking a running supervisor for a change of some processes, and showing what came of it."""

from collections.abc import Sequence
from pathlib import Path

from cacheroute_cli.bringing_up import UpOptions, plan_up, tell
from cacheroute_cli.context import Context
from cacheroute_cli.diagnostics import UsageFault
from cacheroute_cli.process_printing import print_statuses
from cacheroute_cli.stack_choice import Choice, find_stack
from cacheroute_cli.supervisor.asking import NoSupervisor, ask
from cacheroute_cli.supervisor.messages import Do, Request
from cacheroute_cli.supervisor.stack_home import StackHome, SupervisorRecord

SCALED = "instance"


def change(
    context: Context,
    choice: Choice,
    do: Do,
    names: Sequence[str],
    *,
    timeout_s: float | None,
) -> None:
    """Start, stop or restart processes by name or kind."""
    home = find_stack(choice)
    request = Request(do=do, names=tuple(names), timeout_s=timeout_s)
    reply = ask(home, request, tell)
    wanted = {name.removesuffix("s") for name in names} | set(names)
    shown = [s for s in reply.snapshot or () if s.name in wanted or s.kind in wanted]
    print_statuses(context, home.name, shown)


def scale(context: Context, choice: Choice, wish: str, *, timeout_s: float | None) -> None:
    """Have so many demo Instances; those that stay are left alone."""
    count = _read_wish(wish)
    home = find_stack(choice)
    record = home.supervisor()
    if record is None or not home.is_supervised():
        raise NoSupervisor(
            f"stack {home.name} is not up", hint="bring it up with 'cacheroute up -d'"
        )
    planned = plan_up(_options_of(context, home, record, count))
    request = Request(
        do="apply",
        plans=planned.request.plans,
        kinds=(SCALED,),
        keep_changed=True,
        remove_vanished=True,
        timeout_s=timeout_s,
        file=record.file,
        instances=count,
        port_offset=record.port_offset,
    )
    reply = ask(home, request, tell)
    shown = [status for status in reply.snapshot or () if status.kind == SCALED]
    print_statuses(context, home.name, shown)


def _read_wish(wish: str) -> int:
    kind, equals, count = wish.partition("=")
    if kind.removesuffix("s") != SCALED or not equals or not count.isascii() or not count.isdigit():
        raise UsageFault(f"only Instances are scaled, as in {SCALED}=4, not {wish!r}")
    if len(count) > 9 or int(count) > 256:
        raise UsageFault(f"{count} Instances are more than the 256 that one stack may have")
    return int(count)


def _options_of(
    context: Context, home: StackHome, record: SupervisorRecord, count: int
) -> UpOptions:
    return UpOptions(
        choice=Choice(file=None if record.file is None else Path(record.file), name=home.name),
        instances=count,
        port_offset=record.port_offset,
        own_token=context.own_token,
        token=context.token,
    )
