"""What this host has for a fleet: ports, descriptors, programs, and what earlier ones have left."""

import resource
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence

from cacheroute_cli.doctor.check import Check, bad, ok, warn
from cacheroute_cli.process_rows import BY_HAND
from cacheroute_cli.supervisor.identity import marked_with
from cacheroute_cli.supervisor.ports import Owner, is_free, owner_of
from cacheroute_cli.supervisor.preflight import render_ports
from cacheroute_cli.supervisor.stack_home import homes
from cacheroute_cli.supervisor.state import State, prove_writable

ENOUGH_FILES = 4096
LEAST_FILES = 256
_OURS = "-m cacheroute"
_PRUNE = "'cacheroute prune' ends and forgets them"
PROGRAMS = {
    "redis-server": "only 'redis' in a stack file needs it",
    "tmux": "only for keeping a console open behind a link that drops",
}


def check_ports(
    ports: Sequence[int],
    *,
    held: Mapping[int, int] | None = None,
    free: Callable[[str, int], bool] = is_free,
    owner: Callable[[int], Owner | None] = owner_of,
) -> Iterator[Check]:
    """See whether ports can be had, and who has them; `held` says which ones are a stack's."""
    if not ports:
        yield ok("ports", "all are chosen when the stack comes up")
    taken = [port for port in ports if not free("127.0.0.1", port)]
    if left := [port for port in ports if port not in taken]:
        yield ok("ports", f"{_ports(left)} free")
    if of_stack := [port for port in taken if port in (held or {})]:
        yield ok("ports", f"{_ports(of_stack)} the stack's")
    for port in taken:
        if port in of_stack:
            continue
        who = owner(port)
        if who is not None and _OURS in (who.command or ""):
            yield ok("ports", f"{port} is ours, pid {who.pid}")
            continue
        by = "another user's process" if who is None else f"pid {who.pid}: {who.command or '?'}"
        yield warn("ports", f"{port} is taken by {by}", "--port or --port-offset chooses others")


def _ports(ports: Sequence[int]) -> str:
    return f"{render_ports(ports).replace(' ', ', ')} {'are' if len(ports) > 1 else 'is'}"


def check_left(state: State) -> Iterator[Check]:
    """Find processes that nobody supervises any more, and records of those that have ended."""
    orphans, stale = [], []
    for home in homes(state.root):
        if home.is_supervised():
            continue
        if (record := home.supervisor()) is not None:
            orphans += [f"pid {one.pid} of {home.name}" for one in marked_with(record.mark)]
        stale += [f"{status.name} of {home.name}" for status in home.processes()]
    for kind in BY_HAND:
        stale += [record.name for record in state.records(kind) if not record.is_running()]
    if orphans:
        yield bad("orphans", f"left by a supervisor that is gone: {_some(orphans)}", _PRUNE)
    else:
        yield ok("orphans", "none")
    if stale:
        yield warn("stale", f"recorded, but not running: {_some(stale)}", _PRUNE)
    else:
        yield ok("stale", "no records of processes that have ended")


def check_state(state: State) -> Check:
    """See whether the state folder can be written to."""
    try:
        state.root.mkdir(parents=True, exist_ok=True)
        prove_writable(state.root)
    except OSError as problem:
        why = (problem.strerror or "unknown").lower()
        return bad("state", f"{state.root} cannot be written to ({why})",
                   "make room there, or name another folder in CACHEROUTE_STATE_DIR")  # fmt: skip
    return ok("state", str(state.root))


def check_files(soft: int | None = None) -> Check:
    """See whether enough files and connections may be open at once."""
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0] if soft is None else soft
    if soft == resource.RLIM_INFINITY or soft >= ENOUGH_FILES:
        return ok(
            "files", f"{'any number' if soft == resource.RLIM_INFINITY else soft} may be open"
        )
    sentence = f"{soft} may be open at once, and each request of a Proxy takes two"
    return (bad if soft < LEAST_FILES else warn)("files", sentence, f"ulimit -n {ENOUGH_FILES}")


def check_programs(find: Callable[[str], str | None] = shutil.which) -> Iterator[Check]:
    """See which programs of others are here; none of them must be."""
    for name, purpose in PROGRAMS.items():
        path = find(name)
        yield ok("programs", f"{name}: {path}" if path else f"{name} is not here; {purpose}")


def _some(names: Sequence[str], most: int = 5) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
