"""`cacheroute logs`: which logs, from when on, and what of them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from cacheroute.console.patterns import Expression
from cacheroute_cli.context import Context
from cacheroute_cli.diagnostics import UsageFault
from cacheroute_cli.log_printing import LogPrinter
from cacheroute_cli.stack_choice import Choice, find_stack
from cacheroute_cli.supervisor.faults import NoSuchProcess
from cacheroute_cli.supervisor.log_lines import merged
from cacheroute_cli.supervisor.stack_home import StackHome

FOLLOWED_LAST = 20
"""Lines of each log that a follow begins with."""
_SPAN = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_CLOCK = re.compile(r"([0-2]?[0-9]):([0-5][0-9])(?::([0-5][0-9]))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """What was asked of the logs."""

    names: tuple[str, ...] = ()
    follow: bool = False
    last: int | None = None
    since: str | None = None
    grep: str | None = None
    prefix: bool = True


def show_logs(context: Context, choice: Choice, options: LogOptions) -> None:
    """Print logs, and with `follow` go on until interrupted."""
    grep = _read_grep(options.grep)
    now = datetime.now().astimezone()
    since_s = None if options.since is None else read_since(options.since, now).timestamp()
    home = find_stack(choice)
    logs = logs_of(home, options.names)
    if not logs:
        raise NoSuchProcess(
            f"stack {home.name} has no logs here", hint="bring it up with 'cacheroute up -d'"
        )

    def wanted() -> Mapping[str, Path]:
        # What is added while we follow is followed as well, unless names were given.
        return logs if options.names else logs_of(home, ())

    printer = LogPrinter(context, wanted, prefix=options.prefix, grep=grep)
    last = options.last
    if last is None and options.follow and since_s is None:
        last = FOLLOWED_LAST
    printer.print(merged(logs, since_s=since_s, last=last))
    if options.follow:
        printer.follow()


def logs_of(home: StackHome, names: tuple[str, ...]) -> dict[str, Path]:
    """Return the logs there are, by process; names may be processes or kinds."""
    found = {path.stem: path for path in sorted(home.logs.glob("*.log"), key=_natural)}
    if not names:
        return found
    kinds = {status.name: status.kind for status in home.processes()}
    chosen: dict[str, Path] = {}
    for name in names:
        kind = name.removesuffix("s")
        meant = [p for p in found if p == name or kinds.get(p) == kind]
        if not meant:
            known = ", ".join(found) or "none"
            raise NoSuchProcess(f"stack {home.name} has no log of {name!r}; there are {known}")
        chosen |= {process: found[process] for process in meant}
    return chosen


def read_since(text: str, now: datetime) -> datetime:
    """Read `10m`, `14:30`, or a date and time; raises UsageFault."""
    if span := _SPAN.fullmatch(text):
        try:
            return now - timedelta(seconds=float(span[1]) * _SECONDS[span[2]])
        except OverflowError:
            raise UsageFault(f"--since {text!r} is longer ago than any time there is") from None
    if (clock := _CLOCK.fullmatch(text)) and int(clock[1]) < 24:
        at = now.replace(
            hour=int(clock[1]), minute=int(clock[2]), second=int(clock[3] or 0), microsecond=0
        )
        return at if at <= now else at - timedelta(days=1)
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise UsageFault(
            f"--since {text!r} is no time; write 10m, 2h, 14:30 or 2030-01-31T14:30"
        ) from None
    return at if at.tzinfo is not None else at.replace(tzinfo=now.tzinfo)


def _read_grep(text: str | None) -> Expression | None:
    if text is None:
        return None
    try:
        return Expression(text, any_case=False)
    except ValueError as problem:
        raise UsageFault(f"--grep {text!r} cannot be searched for: {problem}") from None


def _natural(path: Path) -> tuple[str, int, str]:
    stem = path.stem.rstrip("0123456789")
    return stem, int(path.stem[len(stem) :] or 0), path.stem
