"""`cacheroute unregister`: Instances out of the pool."""

import typer

from cacheroute_cli.change_options import (
    ForceOption,
    IdsArgument,
    YesOption,
    with_changing,
)
from cacheroute_cli.context import Context

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("unregister")
@with_changing
def unregister(
    context: Context,
    ids: IdsArgument,
    *,
    force: ForceOption = False,
    yes: YesOption = False,
) -> None:
    """Take Instances out of the pool; one that lives comes back with its next heartbeat."""
    from cacheroute.wire.admin import ChangeBody
    from cacheroute_cli.operating import change_instances

    change_instances(
        context,
        lambda client, dry_run: client.drop(
            ChangeBody(instance_ids=ids, force=force, dry_run=dry_run)
        ),
        yes=yes,
    )
