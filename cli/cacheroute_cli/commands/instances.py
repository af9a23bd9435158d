"""`cacheroute instances`: who is in the pool."""

import typer

from cacheroute_cli.list_options import AllOption, Listing, with_listing

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("instances")
@with_listing()
def instances(listing: Listing, *, all_: AllOption = False) -> None:
    """List the Instances of the pool, the least loaded first."""
    from cacheroute_cli.asking import Wanted
    from cacheroute_cli.lists import show_list

    show_list(listing, "instances", Wanted(all=all_))
