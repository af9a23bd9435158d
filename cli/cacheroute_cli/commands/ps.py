"""`cacheroute ps`: what runs here."""

from typing import Annotated

import typer

from cacheroute_cli.list_options import Listing, with_listing
from cacheroute_cli.stack_choice import Choice, LongFileOption, StackOption

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("ps")
@with_listing()
def ps(
    listing: Listing,
    *,
    file: LongFileOption = None,
    stack: StackOption = None,
    all_: Annotated[
        bool,
        typer.Option(
            "--all", "-a",
            help="Also what was stopped, other stacks, and what was started by hand.",
        ),
    ] = False,
) -> None:  # fmt: skip
    """List the processes of a stack, in the order in which they start."""
    from cacheroute_cli.process_printing import show_processes

    show_processes(listing, Choice(file=file, name=stack), all_=all_)
