"""`cacheroute restart`: one process of a stack, anew."""

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


@app.command("restart")
@with_context
def restart(
    context: Context,
    names: NamesArgument,
    *,
    file: FileOption = None,
    stack: StackOption = None,
    timeout_s: ReadyTimeoutOption = None,
) -> None:
    """End processes of a stack and start them anew, and wait until they are ready."""
    from cacheroute_cli.changing import change

    change(context, Choice(file=file, name=stack), "restart", names, timeout_s=timeout_s)
