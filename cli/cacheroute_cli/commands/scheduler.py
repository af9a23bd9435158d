"""`cacheroute scheduler`: how the Proxy stands with its Scheduler."""

from typing import Annotated

import typer

from cacheroute_cli.list_options import Listing, with_listing

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("scheduler")
@with_listing(numbered=False)
def scheduler(
    listing: Listing,
    *,
    all_: Annotated[
        bool,
        typer.Option("--all", "-a", help="Show every Proxy it knows, not only that of PROXY_ID."),
    ] = False,
) -> None:
    """Show how the Proxy stands with its Scheduler; with --scheduler-url, whom that one knows."""
    from cacheroute_cli.asking import Wanted
    from cacheroute_cli.lists import show_list

    context = listing.context
    wanted = Wanted(
        all=all_,
        scheduler_url=context.scheduler_url,
        scheduler_path=context.scheduler_list_path,
        proxy_id=context.proxy_id,
    )
    show_list(listing, "scheduler", wanted)
