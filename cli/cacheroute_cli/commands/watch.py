"""`cacheroute watch`: status and Instances, again and again."""

from dataclasses import replace

import typer

from cacheroute_cli.list_options import AllOption, Listing, with_listing

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("watch")
@with_listing()
def watch(listing: Listing, *, all_: AllOption = False) -> None:
    """Watch the Proxy and its Instances: in place on a terminal, a JSON line a look in a pipe."""
    from cacheroute.client.control import ControlClient
    from cacheroute.console.rows.instances import INSTANCES
    from cacheroute_cli.asking import Found, overview
    from cacheroute_cli.checking import status_view
    from cacheroute_cli.config.rules import rules_of
    from cacheroute_cli.lists import Shown
    from cacheroute_cli.looking import look
    from cacheroute_cli.views import WatchView

    shown = Shown(listing, INSTANCES)
    is_all = all_ or "state" in shown.filtered_by
    context = listing.context
    rules = rules_of(context.alerts)

    def fetch(client: ControlClient) -> WatchView:
        found, rows, notes = overview(client, context.proxy_url, rules)
        rows = [row for row in rows if is_all or row.state == "alive"]
        return WatchView(
            summary=status_view(found, context, notes),
            below=shown.view(Found(rows=rows), of_all=is_all),
        )

    look(replace(listing.watching, watch=True), fetch)
