"""`cacheroute undrain`: new requests again."""

import typer

from cacheroute_cli.change_options import IdsArgument, with_changing
from cacheroute_cli.context import Context

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("undrain")
@with_changing
def undrain(context: Context, ids: IdsArgument) -> None:
    """Let drained Instances take requests again."""
    from cacheroute.wire.admin import ChangeBody
    from cacheroute_cli.operating import change_instances

    change_instances(
        context,
        lambda client, dry_run: client.undrain(ChangeBody(instance_ids=ids, dry_run=dry_run)),
    )
