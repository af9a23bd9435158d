"""`cacheroute drain`: no new requests for some Instances."""

from typing import Annotated

import typer

from cacheroute_cli.change_options import (
    ForceOption,
    IdsArgument,
    YesOption,
    with_changing,
)
from cacheroute_cli.context import Context

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("drain")
@with_changing
def drain(
    context: Context,
    ids: IdsArgument,
    *,
    wait: Annotated[
        bool, typer.Option("--wait", help="Return when no request runs there any more.")
    ] = False,
    timeout_s: Annotated[
        float | None,
        typer.Option(
            "--timeout",
            metavar="S",
            min=0,
            help="Longest time for --wait (default: as long as it takes).",
        ),
    ] = None,
    reason: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Why; shown to whoever looks at the Instance."),
    ] = None,
    force: ForceOption = False,
    yes: YesOption = False,
) -> None:
    """Let Instances take no new requests; those that run there end, those that wait move on.

    It holds until 'undrain', also when the Instance or the Proxy is restarted.
    """
    from cacheroute.wire.admin import DrainBody
    from cacheroute_cli.operating import change_instances

    change_instances(
        context,
        lambda client, dry_run: client.drain(
            DrainBody(instance_ids=ids, reason=reason, force=force, dry_run=dry_run)
        ),
        yes=yes,
        wait=wait,
        timeout_s=timeout_s,
    )
