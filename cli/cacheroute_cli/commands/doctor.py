"""`cacheroute doctor`: what may be wrong here or at the Proxy, and the way out."""

import typer

from cacheroute_cli.context import Given
from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.options import with_given

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("doctor")
@with_given
def doctor(given: Given) -> None:
    """Check that everything here and at the Proxy is as it should be; exit 6 when not."""
    from cacheroute_cli.config.load import load
    from cacheroute_cli.config.printing import context_for
    from cacheroute_cli.doctor.check import SCHEMA, is_well, lines_of
    from cacheroute_cli.doctor.examine import examine
    from cacheroute_cli.looking import print_view
    from cacheroute_cli.views import LinesView

    context = context_for(load(given))
    checks = list(examine(given))
    view = LinesView(
        lines=lines_of(checks),
        schema=SCHEMA,
        content={"ok": is_well(checks), "checks": checks},
    )
    print_view(context, view)
    if not is_well(checks):
        raise typer.Exit(Exit.BAD_ANSWER)
