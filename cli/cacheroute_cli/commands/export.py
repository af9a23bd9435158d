"""`cacheroute export`: a list for a spreadsheet."""

from pathlib import Path
from typing import Annotated

import typer

from cacheroute_cli.diagnostics import UsageFault
from cacheroute_cli.list_options import Listing, with_listing

app = typer.Typer(rich_markup_mode=None, add_completion=False)

KINDS = (
    "instances", "loads", "resources", "queues", "topology", "scores", "decisions", "traces",
    "scheduler", "alerts",
)  # fmt: skip
HISTORY = "history"


@app.command("export")
@with_listing(numbered=False)
def export(
    listing: Listing,
    kind: Annotated[
        str, typer.Argument(metavar="LIST", help=f"One of {', '.join((*KINDS, HISTORY))}.")
    ],
    *,
    recording: Annotated[
        Path | None,
        typer.Option("--recording", metavar="FILE", help="The recording that a history is of."),
    ] = None,
) -> None:
    """Print all rows and all columns of a list, as CSV unless --output says otherwise.

    The list `history` is every look of a recording, an Instance a line, the oldest look first.
    """
    from difflib import get_close_matches

    if kind == HISTORY:
        if recording is None:
            raise UsageFault(
                "a history is of a recording: name its file with --recording",
                hint="'cacheroute record' makes one",
            )
        from cacheroute_cli.exporting import export_history

        export_history(listing, recording)
        return
    if recording is not None:
        raise UsageFault(f"--recording is for the list {HISTORY}, not for {kind}")
    if kind not in KINDS:
        lists = (*KINDS, HISTORY)
        near = get_close_matches(kind, lists, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(lists)}"
        raise UsageFault(f"there is no list {kind!r}", hint=hint)
    from cacheroute_cli.asking import Wanted
    from cacheroute_cli.lists import show_list

    show_list(listing, kind, Wanted(all=True, last=1024), usual="csv")
