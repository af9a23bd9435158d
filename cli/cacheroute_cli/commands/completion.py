"""`cacheroute completion`: the script that lets a shell complete our command lines."""

from typing import Annotated, Literal

import typer

from cacheroute_cli.context import Given
from cacheroute_cli.diagnostics import Fault, note
from cacheroute_cli.options import with_given

app = typer.Typer(rich_markup_mode=None, add_completion=False)


class NotInstalled(Fault):
    """The script cannot be written."""

    code = "completion.not_installed"


@app.command("completion")
@with_given
def completion(
    given: Given,
    shell: Annotated[
        Literal["bash", "zsh", "fish"], typer.Argument(metavar="SHELL", help="bash, zsh or fish.")
    ],
    *,
    install: Annotated[
        bool, typer.Option("--install", help="Write it where the shell looks for it.")
    ] = False,
) -> None:
    """Print the script that completes commands, options and live names, or install it."""
    from cacheroute_cli.completing import scripts
    from cacheroute_cli.output import print_document, print_text

    chosen = scripts.SHELLS[shell]
    if not install:
        print_text(scripts.script(chosen).rstrip("\n"))
        return
    path = scripts.place_for(chosen)
    try:
        scripts.install(chosen, path)
    except OSError as problem:
        raise NotInstalled(f"{path} cannot be written ({problem.strerror})") from None
    if given.output in ("json", "jsonl"):
        print_document("cacheroute.completion/1", {"shell": shell, "path": str(path)})
    else:
        print_text(str(path))
    note(chosen.note.format(path=path, folder=path.parent))
