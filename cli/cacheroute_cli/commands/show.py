"""`cacheroute show`: everything about one Instance."""

from typing import Annotated

import typer

from cacheroute_cli.list_options import Watching, with_watching

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("show")
@with_watching
def show(
    watching: Watching,
    instance_id: Annotated[str, typer.Argument(metavar="ID", help="Name of the Instance.")],
    *,
    raw: Annotated[
        bool, typer.Option("--raw", help="Print what the Proxy says of it, as it says it.")
    ] = False,
) -> None:
    """Show one Instance: what it is, does, has and costs, its links and its last requests."""
    from cacheroute_cli.detail import show_instance

    show_instance(watching, instance_id, raw=raw)
