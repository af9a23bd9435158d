"""`cacheroute scores`: what least_load makes of each Instance, and why."""

from typing import Annotated

import typer

from cacheroute_cli.list_options import Listing, with_listing

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("scores")
@with_listing(numbered=False)
def scores(
    listing: Listing,
    instance_id: Annotated[
        str | None, typer.Argument(metavar="ID", help="Only this Instance.")
    ] = None,
    *,
    explain: Annotated[
        bool, typer.Option("--explain", help="Write the parts out, a line for each.")
    ] = False,
    what_if: Annotated[
        list[str] | None,
        typer.Option(
            "--what-if",
            metavar="W=V",
            help="Another weight, as often as needed: inflight=0.5. Worked out here only; "
            "nothing changes at the Proxy.",
        ),
    ] = None,
) -> None:
    """List what least_load makes of each Instance, part by part, and why some are left out."""
    from cacheroute_cli.scoring import show_scores

    show_scores(listing, instance_id, explain=explain, what_if=what_if or ())
