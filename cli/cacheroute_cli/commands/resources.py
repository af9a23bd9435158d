"""`cacheroute resources`: what the hosts have left."""

import typer

from cacheroute_cli.list_options import AllOption, Listing, with_listing

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("resources")
@with_listing()
def resources(listing: Listing, *, all_: AllOption = False) -> None:
    """List what each Instance's host has left, and how old that is."""
    from cacheroute_cli.asking import Wanted
    from cacheroute_cli.lists import show_list

    show_list(listing, "resources", Wanted(all=all_))
