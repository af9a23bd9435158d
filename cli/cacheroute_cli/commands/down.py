"""`cacheroute down`: the end of a stack, in order."""

from typing import Annotated

import typer

from cacheroute_cli.context import Context
from cacheroute_cli.options import with_context
from cacheroute_cli.stack_choice import Choice, FileOption, StackOption

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("down")
@with_context
def down(
    context: Context,
    *,
    file: FileOption = None,
    stack: StackOption = None,
    timeout_s: Annotated[
        float | None,
        typer.Option(
            "--timeout",
            metavar="S",
            min=0,
            help="Time that each process gets to end before it is killed (default: its own).",
        ),
    ] = None,
    purge_logs: Annotated[bool, typer.Option("--purge-logs", help="Delete its logs too.")] = False,
) -> None:
    """End a stack: Instances first, the Proxy after them, what they stand on last."""
    from cacheroute_cli.bringing_down import bring_down, purge
    from cacheroute_cli.stack_choice import find_stack

    home = find_stack(Choice(file=file, name=stack))
    bring_down(context, home, grace_s=timeout_s)
    if purge_logs:
        purge(home)
