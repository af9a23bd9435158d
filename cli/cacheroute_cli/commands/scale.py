"""`cacheroute scale`: more demo Instances, or fewer."""

from typing import Annotated

import typer

from cacheroute_cli.context import Context
from cacheroute_cli.options import with_context
from cacheroute_cli.stack_choice import Choice, FileOption, StackOption

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("scale")
@with_context
def scale(
    context: Context,
    wish: Annotated[str, typer.Argument(metavar="instance=N", help="How many there are to be.")],
    *,
    file: FileOption = None,
    stack: StackOption = None,
    timeout_s: Annotated[
        float | None,
        typer.Option(
            "--timeout",
            metavar="S",
            min=0,
            help="Longest wait until new ones are ready (default: what each is allowed).",
        ),
    ] = None,
) -> None:
    """Start or end demo Instances until there are so many; the others are left alone."""
    from cacheroute_cli.changing import scale as scale_to

    scale_to(context, Choice(file=file, name=stack), wish, timeout_s=timeout_s)
