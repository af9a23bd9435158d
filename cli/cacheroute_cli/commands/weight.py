"""`cacheroute weight`: another share than the one an Instance gave itself."""

from typing import Annotated

import typer

from cacheroute_cli.change_options import ForceOption, with_changing
from cacheroute_cli.context import Context
from cacheroute_cli.diagnostics import UsageFault

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("weight")
@with_changing
def weight(
    context: Context,
    instance_id: Annotated[str, typer.Argument(metavar="ID", help="Name of the Instance.")],
    number: Annotated[
        float | None,
        typer.Argument(
            metavar="N", min=0, max=1e6, help="Its share against others; 0 takes nothing new."
        ),
    ] = None,
    *,
    reset: Annotated[bool, typer.Option("--reset", help="Leave it to the Instance again.")] = False,
    force: ForceOption = False,
) -> None:
    """Give an Instance another weight than its own, whatever it registers with."""
    from cacheroute.wire.admin import WeightBody
    from cacheroute_cli.operating import change_instances

    if reset == (number is not None):
        raise UsageFault("say either a weight or --reset", hint="try 'cacheroute weight ID 2'")
    if number is not None and not (number == 0 or number >= 1e-6):
        raise UsageFault(f"a weight is 0, or from 1e-06 to 1e+06, not {number:g}")
    change_instances(
        context,
        lambda client, dry_run: client.weigh(
            WeightBody(instance_ids=[instance_id], weight=number, force=force, dry_run=dry_run)
        ),
    )
