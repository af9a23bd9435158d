"""The options of commands that change something at a Proxy."""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any

import typer

from cacheroute_cli.context import Context, Given, resolve
from cacheroute_cli.options import attach

WriteOption = Annotated[
    bool, typer.Option("--write", help="Change something although the context is read-only.")
]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Do it even if nobody is left to take requests.")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; the answer is yes.")]
IdsArgument = Annotated[
    list[str], typer.Argument(metavar="ID...", help="Names of Instances: all of them, or none.")
]


def with_changing(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the common options and `--write`, which lets it change something once."""

    def build(given: Given, more: dict[str, Any]) -> Context:
        context = resolve(given)
        return replace(context, readonly=False) if more["write"] else context

    return attach(command, Context, {"write": WriteOption}, build)
