"""`cacheroute stop`: one process of a stack, ended."""

from typing import Annotated

import typer

from cacheroute_cli.context import Context
from cacheroute_cli.options import with_context
from cacheroute_cli.stack_choice import Choice, FileOption, NamesArgument, StackOption

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("stop")
@with_context
def stop(
    context: Context,
    names: NamesArgument,
    *,
    file: FileOption = None,
    stack: StackOption = None,
    timeout_s: Annotated[
        float | None,
        typer.Option(
            "--timeout",
            metavar="S",
            min=0,
            help="Time to end before they are killed (default: their own).",
        ),
    ] = None,
) -> None:
    """End processes of a stack, which stay ended until they are started."""
    from cacheroute_cli.changing import change

    change(context, Choice(file=file, name=stack), "stop", names, timeout_s=timeout_s)
