"""`cacheroute alerts`: what is out of order."""

import typer

from cacheroute_cli.list_options import Listing, with_listing

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("alerts")
@with_listing()
def alerts(listing: Listing) -> None:
    """List what is out of order, the worst first."""
    from cacheroute_cli.asking import Wanted
    from cacheroute_cli.config.rules import rules_of
    from cacheroute_cli.lists import show_list

    show_list(listing, "alerts", Wanted(rules=rules_of(listing.context.alerts)))
