"""Ending stacks: by a word to the supervisor, or by hand where there is none any more."""

import shutil
import time

from cacheroute_cli.bringing_up import tell
from cacheroute_cli.context import Context
from cacheroute_cli.diagnostics import note
from cacheroute_cli.output import print_document
from cacheroute_cli.supervisor.asking import NoSupervisor, SupervisorGone, ask
from cacheroute_cli.supervisor.ending import end_all, end_marked
from cacheroute_cli.supervisor.faults import StateLocked
from cacheroute_cli.supervisor.identity import marked_with
from cacheroute_cli.supervisor.messages import Request
from cacheroute_cli.supervisor.stack_home import StackHome

SCHEMA = "cacheroute.down/1"
_LEAVE_TIMEOUT_S = 10.0
_ORPHAN_GRACE_S = 10.0
_POLL_S = 0.02


def bring_down(context: Context, home: StackHome, *, grace_s: float | None) -> None:
    """End a stack; one that is not up is no error."""
    was_up = True
    try:
        ask(home, Request(do="down", timeout_s=grace_s), tell)
    except (NoSupervisor, SupervisorGone):
        was_up = False
    _wait_until_left(home)
    left = end_orphans(home, grace_s=_ORPHAN_GRACE_S if grace_s is None else grace_s)
    home.forget_all()
    if context.as_json:
        print_document(SCHEMA, {"stack": home.name, "was_up": was_up, "orphans": left})
    elif was_up or left:
        tell(f"stack {home.name} is down")
    else:
        note(f"cacheroute: note: stack {home.name} is not up")


def end_orphans(home: StackHome, *, grace_s: float) -> int:
    """End what a supervisor that is gone has left behind; return how many there were.

    Only what carries the mark of that very stack counts: a pid alone means nobody.
    """
    record = home.supervisor()
    if record is None or home.is_supervised():
        return 0
    found = marked_with(record.mark)
    end_all(found, grace_s=grace_s)
    end_marked(record.mark)
    return len(found)


def purge(home: StackHome) -> None:
    """Delete the folder of a stack that is down, with its logs."""
    if not home.is_supervised():
        shutil.rmtree(home.folder, ignore_errors=True)


def _wait_until_left(home: StackHome) -> None:
    deadline_s = time.monotonic() + _LEAVE_TIMEOUT_S
    while home.is_supervised():
        if time.monotonic() > deadline_s:
            raise StateLocked(
                f"the supervisor of stack {home.name} is still there after {_LEAVE_TIMEOUT_S:g} s",
                hint=f"see {home.supervisor_log}",
            )
        time.sleep(_POLL_S)
