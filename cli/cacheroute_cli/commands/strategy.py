"""`cacheroute strategy`: by which rule an Instance is chosen."""

from typing import Annotated

import typer

from cacheroute_cli.change_options import with_changing
from cacheroute_cli.context import Context

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("strategy")
@with_changing
def strategy(
    context: Context,
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Route by this one from the next request on."),
    ] = None,
) -> None:
    """Show how an Instance is chosen, or choose it another way until the Proxy restarts."""
    from cacheroute.console.changes import CHANGES
    from cacheroute.console.strategies import STRATEGIES, change_document, change_lines, rows_of
    from cacheroute.wire.admin import StrategyBody
    from cacheroute_cli.looking import print_view
    from cacheroute_cli.operating import operator_client
    from cacheroute_cli.views import LinesView, ListView

    if name is not None:
        with operator_client(context) as client:
            changed = client.use_strategy(StrategyBody(name=name))
        to_keep = "to keep it through a restart, put it into the settings as strategy.name"
        view = LinesView(
            lines=change_lines(changed),
            schema=CHANGES.schema,
            content=change_document(changed, proxy_url=context.proxy_url),
            notes=(to_keep,) if changed.changed else (),
        )
        print_view(context, view)
        return
    with operator_client(context) as client:
        told = client.strategies()
    rows = rows_of(told)
    print_view(
        context,
        ListView(
            kind=STRATEGIES,
            rows=rows,
            total=len(rows),
            columns=None,
            headers=None,
            content={
                "proxy_url": context.proxy_url,
                "strategy": told.strategy,
                "configured": told.configured,
            },
            footer="",
        ),
    )
