"""The tables of the README that are made from code, between marker comments.

`python -m tests.architecture.readme` says whether they are current; `--write` makes them so.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import typer

from cacheroute.core.injection.registry import STRATEGIES as INJECTION
from cacheroute.core.routing.registry import STRATEGIES
from cacheroute.planes.metrics import catalogue_table
from cacheroute.settings.render import settings_table
from cacheroute_cli.main import PROGRAM, app
from cacheroute_cli.options import COMMON
from tests.architecture.sources import ROOT

README = ROOT / "README.md"


def commands_table() -> str:
    """Return every command with its own options; help belongs to all of them."""
    rows = [
        (
            f"`{' '.join([*path, *map(_argument, _of_kind(command, 'argument'))])}`",
            command.get_short_help_str(limit=200),
            ", ".join(
                f"`{_option(option)}`"
                for option in _of_kind(command, "option")
                if _common_help().get(option.name) != option.help
            ),
        )
        for path, command in _commands()
    ]
    return _table(("Command", "What it does", "Its options"), rows)


def _common_help() -> dict[str, str]:
    """Return what the options of every command say of themselves; a namesake says other things."""
    root = typer.main.get_command(app)
    return {o.name: o.help for o in _of_kind(root, "option") if o.name in COMMON}


def options_table() -> str:
    """Return the options that every command takes, before its name or after it."""
    root = typer.main.get_command(app)
    rows = [
        (f"`{_option(option)}`", option.help)
        for option in _of_kind(root, "option")
        if option.name in COMMON
    ]
    return _table(("Option", "Meaning"), rows)


def strategies_table() -> str:
    """Return every strategy with its aliases."""
    rows = [
        (f"`{row.name}`", ", ".join(f"`{alias}`" for alias in row.aliases), row.summary)
        for row in STRATEGIES
    ]
    return _table(("Strategy", "Also called", "Chooses"), rows)


def injection_table() -> str:
    """Return every injection strategy."""
    rows = [(f"`{row.name}`", row.summary) for row in INJECTION]
    return _table(("Strategy", "Knowledge goes"), rows)


TABLES: Mapping[str, Callable[[], str]] = {
    "commands": commands_table,
    "options": options_table,
    "settings": settings_table,
    "strategies": strategies_table,
    "injection": injection_table,
    "metrics": catalogue_table,
}
"""What may stand in `<!-- table: NAME -->`, and who makes it."""

_PLACE = re.compile(r"(<!-- table: (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def rendered(text: str) -> str:
    """Return a text with every table in it made anew; KeyError for one that nobody makes."""
    return _PLACE.sub(lambda found: found[1] + TABLES[found[2]]().strip() + "\n" + found[4], text)


def tables_in(text: str) -> list[str]:
    """Name the tables that a text has a place for."""
    return [found[2] for found in _PLACE.finditer(text)]


def _commands() -> Iterator[tuple[list[str], Any]]:
    """Walk the tree of commands; what a group holds comes in its place."""
    yield from _below(typer.main.get_command(app), [PROGRAM])


def _below(command: Any, path: list[str]) -> Iterator[tuple[list[str], Any]]:
    if not hasattr(command, "list_commands"):
        yield path, command
        return
    context = typer.Context(command)
    for name in command.list_commands(context):
        yield from _below(command.get_command(context, name), [*path, name])


def _of_kind(command: Any, kind: str) -> list[Any]:
    return [p for p in command.params if p.param_type_name == kind and p.name != "help"]


def _argument(argument: Any) -> str:
    shown = (argument.metavar or argument.name.upper()).strip("[]")
    return shown if argument.required else f"[{shown}]"


def _option(option: Any) -> str:
    """Write an option as it is typed; the long way."""
    long: str = max(option.opts, key=len)
    if option.is_flag:
        return long
    choices: str = option.display_type(typer.Context(typer.main.get_command(app)))
    value = option.metavar or (
        choices.strip("<>") if "|" in choices else long.rpartition("-")[2].upper()
    )
    return f"{long} {value}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    cells = ([cell.replace("|", "\\|") for cell in line] for line in lines)
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


def main(arguments: Sequence[str]) -> int:
    """Check the README or write it; 1 when it was not current."""
    text = README.read_text(encoding="utf-8")
    wanted = rendered(text)
    if wanted == text:
        return 0
    if "--write" in arguments:
        README.write_text(wanted, encoding="utf-8")
        return 0
    sys.stderr.write("README.md is not current; python -m tests.architecture.readme --write\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
