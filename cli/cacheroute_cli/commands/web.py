"""`cacheroute web`: the console in a browser."""

from typing import Annotated

import typer

from cacheroute_cli.context import Given
from cacheroute_cli.options import with_given

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("web")
@with_given
def web(
    given: Given,
    *,
    listen: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Where to serve it (default: 127.0.0.1:8202)."),
    ] = None,
    token_file: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File with the token that a browser must show (default: a new one, printed).",
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST", help="Further name it may be asked for by, as often as "
                     "needed; for a proxy in front."),
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Look at a simulated fleet; nothing needs to run.")
    ] = False,
    replay: Annotated[
        str | None, typer.Option(metavar="FILE", help="Show a recording.")
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Refused: in a browser the console only looks.")
    ] = False,
) -> None:  # fmt: skip
    """Serve the console to browsers of this host: read-only, behind a token."""
    from cacheroute_cli.web_console import WebOptions, serve_console

    serve_console(
        given,
        WebOptions(
            listen=listen, token_file=token_file, names=tuple(name or ()), demo=demo,
            replay=replay, write=write,
        ),
    )  # fmt: skip
