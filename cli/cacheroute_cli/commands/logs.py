"""`cacheroute logs`: what the processes of a stack write, as one log."""

from typing import Annotated

import typer

from cacheroute_cli.context import Context
from cacheroute_cli.options import with_context
from cacheroute_cli.stack_choice import Choice, LongFileOption, StackOption

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("logs")
@with_context
def logs(
    context: Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME...", help="Processes, or kinds (default: all)."),
    ] = None,
    *,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with what is written from now on.")
    ] = False,
    last: Annotated[
        int | None,
        typer.Option(
            "--last", "-n", metavar="N", min=0,
            help="Only the last N lines of each (default: all; with -f 20).",
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="T", help="Only what is newer: 10m, 2h, 14:30, or a date and time."),
    ] = None,
    grep: Annotated[
        str | None, typer.Option(metavar="RE", help="Only lines that match this expression.")
    ] = None,
    prefix: Annotated[
        bool, typer.Option("--prefix/--no-prefix", help="Whether names stand before the lines.")
    ] = True,
    file: LongFileOption = None,
    stack: StackOption = None,
) -> None:  # fmt: skip
    """Print the logs of a stack, merged by time; they stay when it is down."""
    from cacheroute_cli.log_showing import LogOptions, show_logs

    show_logs(
        context,
        Choice(file=file, name=stack),
        LogOptions(
            names=tuple(names or ()),
            follow=follow,
            last=last,
            since=since,
            grep=grep,
            prefix=prefix,
        ),
    )
