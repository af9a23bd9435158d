"""`cacheroute help`: the help of a command, by its words."""

from typing import Annotated

import typer

from cacheroute_cli.context import Given
from cacheroute_cli.options import with_given

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("help")
@with_given
def help_(
    given: Given,
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND...", help="Such as: context add."),
    ] = None,
) -> None:
    """Show the help of a command, or of all."""
    from cacheroute_cli.main import run

    words = [word.removeprefix(":") for word in command or ()]
    code = run([*words, "--help"], given)
    if code:
        raise typer.Exit(code)
