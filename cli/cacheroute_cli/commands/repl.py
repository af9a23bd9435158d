"""`cacheroute repl`: command lines at a prompt, one after the other."""

from typing import Annotated

import typer

from cacheroute_cli.context import Given
from cacheroute_cli.options import with_given

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("repl")
@with_given
def repl(
    given: Given,
    *,
    execute: Annotated[
        list[str] | None,
        typer.Option(
            "--execute", "-e", metavar="CMD", help="Run this and end; as often as needed."
        ),
    ] = None,
) -> None:
    """Type commands at a prompt: `:status` is `cacheroute status`, with or without the colon."""
    from cacheroute_cli.repl import run_lines, run_prompt

    code = run_lines(execute, given) if execute else run_prompt(given)
    if code:
        raise typer.Exit(code)
