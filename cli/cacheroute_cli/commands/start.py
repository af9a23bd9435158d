"""`cacheroute start`: what was stopped, runs again."""

import typer

from cacheroute_cli.context import Context
from cacheroute_cli.options import with_context
from cacheroute_cli.stack_choice import (
    Choice,
    FileOption,
    NamesArgument,
    ReadyTimeoutOption,
    StackOption,
)

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("start")
@with_context
def start(
    context: Context,
    names: NamesArgument,
    *,
    file: FileOption = None,
    stack: StackOption = None,
    timeout_s: ReadyTimeoutOption = None,
) -> None:
    """Start processes of a stack that were stopped or have failed, and wait for them."""
    from cacheroute_cli.changing import change

    change(context, Choice(file=file, name=stack), "start", names, timeout_s=timeout_s)
