"""`cacheroute decisions`: which Instance got which request, and why."""

from typing import Annotated

import typer

from cacheroute_cli.list_options import Listing, with_listing

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("decisions")
@with_listing(numbered=False)
def decisions(
    listing: Listing,
    *,
    last: Annotated[
        int, typer.Option("--last", metavar="N", min=1, max=1024, help="How many to ask for.")
    ] = 20,
) -> None:
    """List which Instance got which request and why, the newest first.

    With --watch in a pipe only what is new is printed, the oldest first.
    """
    from cacheroute_cli.asking import Wanted
    from cacheroute_cli.lists import show_list

    show_list(listing, "decisions", Wanted(last=last))
