"""`cacheroute loads`: what each Instance has to do."""

import typer

from cacheroute_cli.list_options import AllOption, Listing, with_listing

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("loads")
@with_listing()
def loads(listing: Listing, *, all_: AllOption = False) -> None:
    """List what each Instance has to do, signal by signal."""
    from cacheroute_cli.asking import Wanted
    from cacheroute_cli.lists import show_list

    show_list(listing, "loads", Wanted(all=all_))
