"""`cacheroute version`: what runs here."""

import typer

from cacheroute_cli.context import Given
from cacheroute_cli.options import with_given

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("version")
@with_given
def version(given: Given) -> None:
    """Print the version."""
    import platform

    from cacheroute import __version__
    from cacheroute_cli.output import print_document, print_text

    python = platform.python_version()
    system = f"{platform.system().lower()}-{platform.machine()}"
    if given.output in ("json", "jsonl"):
        told = {"version": __version__, "python": python, "platform": system}
        print_document("cacheroute.version/1", told)
    else:
        print_text(f"cacheroute {__version__} (python {python}, {system})")
