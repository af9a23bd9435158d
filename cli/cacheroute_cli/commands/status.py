"""`cacheroute status`: a Proxy and its pool in a few lines."""

from typing import Annotated, Literal

import typer

from cacheroute_cli.list_options import Watching, with_watching

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("status")
@with_watching
def status(
    watching: Watching,
    *,
    check: Annotated[
        Literal["healthy", "accepting"] | None,
        typer.Option(
            "--check",
            help="End with 6 unless it is so: healthy is some Instance alive and the Proxy not "
            "draining; accepting is that and a pool that accepts.",
        ),
    ] = None,
) -> None:
    """Show how the Proxy and its pool are."""
    from cacheroute.client.control import ControlClient
    from cacheroute_cli.asking import overview
    from cacheroute_cli.checking import require, status_view
    from cacheroute_cli.config.rules import rules_of
    from cacheroute_cli.looking import look
    from cacheroute_cli.views import LinesView

    last = None
    rules = rules_of(watching.context.alerts)

    def fetch(client: ControlClient) -> LinesView:
        nonlocal last
        last, _, notes = overview(client, watching.context.proxy_url, rules)
        return status_view(last, watching.context, notes)

    look(watching, fetch)
    if check is not None and last is not None:
        require(check, last)
