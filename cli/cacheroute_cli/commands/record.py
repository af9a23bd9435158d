"""`cacheroute record`: keep what a Proxy says, to look at it later."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from cacheroute_cli.context import MAX_INTERVAL_S, MIN_INTERVAL_S, Context
from cacheroute_cli.options import with_context

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("record")
@with_context
def record(
    context: Context,
    *,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file", "-d", metavar="FILE",
            help="Where to; it must not be there yet (default: cacheroute-<time>.rec).",
        ),
    ] = None,
    for_: Annotated[
        str | None,
        typer.Option("--for", metavar="T", help="For how long: 90s, 10m, 2h (default: Ctrl-C)."),
    ] = None,
    interval: Annotated[
        float,
        typer.Option(
            "--interval", "-i", metavar="S", min=MIN_INTERVAL_S, max=MAX_INTERVAL_S,
            help="Time between two looks.",
        ),
    ] = 1.0,
) -> None:  # fmt: skip
    """Record what the control plane says, look by look, until the time is over or Ctrl-C.

    See it with `cacheroute tui --replay FILE`, or as CSV with `cacheroute export history`.
    """
    from cacheroute.console.quantities import read_quantity
    from cacheroute_cli.diagnostics import UsageFault
    from cacheroute_cli.recording import default_file
    from cacheroute_cli.recording import record as run

    for_s = None
    if for_ is not None:
        try:
            for_s = read_quantity(for_, "s")
        except ValueError as problem:
            raise UsageFault(f"--for: {problem}") from None
        if not for_s > 0:
            raise UsageFault(f"--for is a time above 0, not {for_!r}")
    run(context, file or default_file(datetime.now(UTC)), for_s=for_s, interval_s=interval)
