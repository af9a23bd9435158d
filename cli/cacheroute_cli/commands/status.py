"""`cacheroute status`: a Proxy and its pool in a few lines."""

import typer

from cacheroute_cli.context import Context
from cacheroute_cli.options import with_context

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("status")
@with_context
def status(context: Context) -> None:
    """Show how the Proxy and its pool are."""
    from cacheroute_cli.control import control_client
    from cacheroute_cli.output import print_document, print_lines
    from cacheroute_cli.overview import lines_of, overview_of

    with control_client(context) as client:
        overview = overview_of(
            status=client.status(),
            pool=client.pool(),
            entries=client.instances(include_dead=True),
            loads=client.loads(),
            proxy_url=context.proxy_url,
        )
    if context.as_json:
        print_document("cacheroute.status/1", {"status": overview})
        return
    print_lines(context, lines_of(overview))
