"""All checks in their order: first what is here, then what is there."""

import os
import shutil
import sys
from collections.abc import Iterator

from cacheroute_cli.config.load import load
from cacheroute_cli.context import Given, resolve
from cacheroute_cli.diagnostics import Fault
from cacheroute_cli.doctor.check import Check, bad
from cacheroute_cli.doctor.of_config import check_config
from cacheroute_cli.doctor.of_host import (
    check_files,
    check_left,
    check_ports,
    check_programs,
    check_state,
)
from cacheroute_cli.doctor.of_stack import check_stacks, ports_in_force, proxies_up
from cacheroute_cli.doctor.of_terminal import Terminal, ask_tmux, check_terminal
from cacheroute_cli.supervisor.state import State


def examine(given: Given) -> Iterator[Check]:
    """Look at everything; changes nothing, and fails at nothing."""
    loaded = load(given)
    yield from check_config(loaded)
    context = None
    try:
        context = resolve(given)
    except Fault as fault:
        if not any(fault.message.startswith(problem) for problem in loaded.in_force.problems):
            yield bad("proxy", f"nobody can be asked: {fault.message}", fault.hint)
    else:
        from cacheroute_cli.doctor.of_proxy import check_proxy

        yield from check_proxy(context, proxies_up())
    yield from check_terminal(_terminal())
    state = State()
    yield check_state(state)
    yield from check_left(state)
    yield from check_stacks(state)
    try:
        ports = ports_in_force(context)
    except Fault as fault:
        yield bad("stack", fault.message, fault.hint)
    else:
        yield from check_ports(ports.wanted, held=ports.held)
    yield check_files()
    yield from check_programs()


def _terminal() -> Terminal:
    columns, rows = shutil.get_terminal_size()
    return Terminal(
        is_terminal=sys.stdout.isatty(),
        columns=columns,
        rows=rows,
        encoding=sys.stdout.encoding or "",
        environ=os.environ,
        tmux_clipboard=ask_tmux(os.environ),
    )
