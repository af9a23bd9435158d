"""`cacheroute topology`: how far the knowledge is."""

import typer

from cacheroute_cli.list_options import Listing, with_listing

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("topology")
@with_listing()
def topology(listing: Listing) -> None:
    """List the links to knowledge nodes: who measured what, and which is the best."""
    from cacheroute_cli.lists import show_list

    show_list(listing, "topology")
