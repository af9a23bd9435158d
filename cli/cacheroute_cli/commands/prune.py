"""`cacheroute prune`: what killed supervisors have left behind, ended and forgotten."""

from typing import Annotated

import typer

from cacheroute_cli.context import Context
from cacheroute_cli.options import with_context

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("prune")
@with_context
def prune(
    context: Context,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be ended and forgotten.")
    ] = False,
) -> None:
    """End orphans, and forget what is recorded of processes that are gone."""
    from cacheroute_cli.pruning import prune as prune_all

    prune_all(context, dry_run=dry_run)
