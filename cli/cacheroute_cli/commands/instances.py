"""`cacheroute instances`: who is in the pool."""

from typing import Annotated

import typer

from cacheroute_cli.context import Context
from cacheroute_cli.diagnostics import note, stderr_is_terminal
from cacheroute_cli.options import with_context

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("instances")
@with_context
def instances(
    context: Context,
    limit: Annotated[
        int | None, typer.Argument(metavar="[N]", min=1, help="Show no more than N.")
    ] = None,
    *,
    all_: Annotated[
        bool, typer.Option("--all", "-a", help="Show those that have expired as well.")
    ] = False,
) -> None:
    """List the Instances of the pool, the least loaded first."""
    from cacheroute_cli.control import control_client
    from cacheroute_cli.fleet import COLUMNS, rows_of
    from cacheroute_cli.output import print_document, print_table

    with control_client(context) as client:
        entries = client.instances(include_dead=all_)
        loads = client.loads()
    rows = rows_of(entries, loads)
    shown = rows[:limit]
    if context.as_json:
        fields = {"proxy_url": context.proxy_url, "total": len(rows), "items": shown}
        print_document("cacheroute.instances/1", fields)
        return
    print_table(context, COLUMNS, shown)
    if stderr_is_terminal():
        which = "all" if all_ else "alive"
        note(f"{len(shown)} of {len(rows)} shown  ·  {which}  ·  {context.proxy_url}")
