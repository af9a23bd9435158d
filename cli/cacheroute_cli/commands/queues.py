"""`cacheroute queues`: what stands in line."""

import typer

from cacheroute_cli.list_options import AllOption, Listing, with_listing

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("queues")
@with_listing()
def queues(listing: Listing, *, all_: AllOption = False) -> None:
    """List what stands in line for each Instance, the longest wait first."""
    from cacheroute_cli.asking import Wanted
    from cacheroute_cli.lists import show_list

    show_list(listing, "queues", Wanted(all=all_))
