"""`cacheroute raw`: what a page of the control plane says, as it says it."""

import json
from typing import Annotated

import typer

from cacheroute_cli.context import Context
from cacheroute_cli.diagnostics import UsageFault
from cacheroute_cli.options import with_context

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("raw")
@with_context
def raw(
    context: Context,
    path: Annotated[str, typer.Argument(metavar="PATH", help="For example /debug/status.")],
) -> None:
    """Print any page of the control plane: JSON indented for people, else as it came."""
    from cacheroute_cli.control import control_client
    from cacheroute_cli.output import json_text, print_text, stdout_is_terminal

    if not path.startswith("/"):
        raise UsageFault(f"a path begins with /, unlike {path!r}")
    with control_client(context) as client:
        body = client.raw(path).decode("utf-8", "replace")
    try:
        value = json.loads(body)
    except ValueError:
        print_text(body.rstrip("\n"))
        return
    for_people = context.output in ("table", "wide") or (
        context.output is None and stdout_is_terminal()
    )
    print_text(json_text(value, indent=2 if for_people else None))
