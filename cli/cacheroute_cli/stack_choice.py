"""Which stack a command means: by name, by file, by the folder we are in, or the only one up.

A file that was brought up is found by its path, so that a stack can be ended even when its
file has been spoilt since.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cacheroute_cli.diagnostics import Exit, Fault
from cacheroute_cli.supervisor.stack_home import StackHome, homes

if TYPE_CHECKING:
    from cacheroute_cli.stackfile.tree import StackFile

FILE_NAME = "stack.yaml"
FILE_VARIABLE = "CACHEROUTE_STACK_FILE"
DEFAULT_STACK = "default"

FileOption = Annotated[
    Path | None,
    typer.Option(
        "--file", "-f", metavar="FILE",
        help=f"Stack file (env: {FILE_VARIABLE}) (default: ./{FILE_NAME}, or a Proxy with two "
        "demo Instances).",
    ),
]  # fmt: skip
LongFileOption = Annotated[
    Path | None,
    typer.Option("--file", metavar="FILE", help=f"Stack file (default: ./{FILE_NAME})."),
]
StackOption = Annotated[
    str | None,
    typer.Option("--stack", metavar="NAME", help="Stack (default: the file's, or the only one)."),
]
ReadyTimeoutOption = Annotated[
    float | None,
    typer.Option(
        "--timeout", metavar="S", min=0,
        help="Longest wait until they are ready (default: what each is allowed).",
    ),
]  # fmt: skip
NamesArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="NAME...", help="Processes by name, or all of a kind, such as instances."
    ),
]


class UnclearStack(Fault):
    """Several stacks could be meant."""

    code = "stack.unclear"
    exit = Exit.USAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What was typed to choose a stack."""

    file: Path | None = None
    name: str | None = None

    def file_meant(self, environ: Mapping[str, str] | None = None) -> Path | None:
        """Return the stack file that is meant; None when there is none."""
        environ = os.environ if environ is None else environ
        if self.file is not None:
            return self.file.absolute()
        if named := environ.get(FILE_VARIABLE):
            return Path(named).absolute()
        here = Path(FILE_NAME)
        return here.absolute() if here.exists() else None


def load_stack(choice: Choice) -> "StackFile":
    """Read the stack that is meant, or take the default one; raises BadStackFile."""
    from cacheroute_cli.stackfile.tree import StackFile

    path = choice.file_meant()
    if path is None:
        return StackFile(name=choice.name or DEFAULT_STACK)
    from cacheroute_cli.stackfile.read import read_stack_file

    stack = read_stack_file(path)
    return stack if choice.name is None else replace(stack, name=choice.name)


def find_stack(choice: Choice) -> StackHome:
    """Return the stack that is meant, whether or not it is up; raises UnclearStack."""
    if choice.name is not None:
        return StackHome(choice.name)
    path = choice.file_meant()
    if path is not None:
        of_file = [
            home
            for home in homes()
            if (record := home.supervisor()) is not None and record.file == str(path)
        ]
        if not of_file:
            return StackHome(load_stack(choice).name)
        up = [home for home in of_file if home.is_supervised()] or of_file[:1]
    else:
        up = [home for home in homes() if home.is_supervised()]
    if len(up) > 1:
        raise UnclearStack(
            f"more than one stack is up: {', '.join(home.name for home in up)}",
            hint="say which one with --stack",
        )
    return up[0] if up else StackHome(DEFAULT_STACK)
