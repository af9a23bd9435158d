"""What is left of stacks whose supervisor is gone, and of processes that have ended.

Only processes that carry the mark of a stack recorded here are ended, whatever their pid was.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from cacheroute_cli.bringing_down import end_orphans
from cacheroute_cli.context import Context
from cacheroute_cli.output import print_document, print_text
from cacheroute_cli.process_rows import BY_HAND
from cacheroute_cli.supervisor.identity import command_line, marked_with
from cacheroute_cli.supervisor.stack_home import StackHome, homes
from cacheroute_cli.supervisor.state import State

SCHEMA = "cacheroute.prune/1"
GRACE_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing to be done away with."""

    what: str
    """`orphan` or `stale`."""
    name: str
    stack: str | None
    pid: int | None = None
    command: str | None = None
    done: bool = False


def prune(context: Context, *, dry_run: bool, state: State | None = None) -> None:
    """End orphans and forget stale records, or only list them."""
    state = state or State()
    findings = [
        *(finding for home in homes(state.root) for finding in _of_stack(home, dry_run=dry_run)),
        *_by_hand(state, dry_run=dry_run),
    ]
    if context.as_json:
        print_document(SCHEMA, {"dry_run": dry_run, "items": findings})
        return
    lines = [_line(finding) for finding in findings]
    print_text("\n".join(lines) if lines else "nothing to prune")


def _of_stack(home: StackHome, *, dry_run: bool) -> Iterator[Finding]:
    record = home.supervisor()
    if home.is_supervised() or (record is None and not home.processes()):
        return
    if record is not None:
        for identity in marked_with(record.mark):
            yield Finding(
                what="orphan",
                name=f"pid {identity.pid}",
                stack=home.name,
                pid=identity.pid,
                command=command_line(identity.pid),
                done=not dry_run,
            )
    for status in home.processes():
        yield Finding(what="stale", name=status.name, stack=home.name, done=not dry_run)
    if not dry_run:
        end_orphans(home, grace_s=GRACE_S)
        home.forget_all()


def _by_hand(state: State, *, dry_run: bool) -> Iterator[Finding]:
    for kind in BY_HAND:
        for record in state.records(kind):
            if record.is_running():
                continue
            yield Finding(what="stale", name=record.name, stack=None, done=not dry_run)
            if not dry_run:
                state.forget(record)


def _line(finding: Finding) -> str:
    what = "stack " + finding.stack if finding.stack else "started by hand"
    how = {"orphan": "ended", "stale": "forgotten"}[finding.what]
    how = how if finding.done else f"would be {how}"
    command = f"  {finding.command}" if finding.command else ""
    return f"{finding.what}  {finding.name}  ({what})  {how}{command}"
