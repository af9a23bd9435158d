"""`cacheroute traces`: how the last requests went."""

from typing import Annotated

import typer

from cacheroute_cli.list_options import Listing, with_listing

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("traces")
@with_listing(numbered=False)
def traces(
    listing: Listing,
    request_id: Annotated[
        str | None, typer.Argument(metavar="REQUEST", help="Only this one, room by room.")
    ] = None,
    *,
    slow: Annotated[
        float | None,
        typer.Option("--slow", metavar="S", min=0, help="Only those that took longer than this."),
    ] = None,
    last: Annotated[
        int, typer.Option("--last", metavar="N", min=1, max=1024, help="How many to ask for.")
    ] = 20,
) -> None:
    """List the last requests and how they went, the newest first; or one of them, room by room.

    With --watch in a pipe only what is new is printed, the oldest first.
    """
    from cacheroute_cli.tracing import show_traces

    show_traces(listing, request_id, slow_s=slow, last=last)
