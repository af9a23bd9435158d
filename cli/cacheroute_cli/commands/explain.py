"""`cacheroute explain`: what a word on the console means."""

from dataclasses import replace
from typing import Annotated

import typer

from cacheroute_cli.diagnostics import Exit, Fault
from cacheroute_cli.list_options import Listing, with_listing

app = typer.Typer(rich_markup_mode=None, add_completion=False)


class NothingCalledSo(Fault):
    """No column, no alert and no word of the glossary has this name."""

    code = "explain.unknown"
    exit = Exit.NOT_FOUND


@app.command("explain")
@with_listing(numbered=False, watched=False)
def explain_(
    listing: Listing,
    term: Annotated[
        str | None, typer.Argument(metavar="TERM", help="A word; without it, all there are.")
    ] = None,
) -> None:
    """Explain a column, an alert or a word: meaning, source, unit, and what unknown means."""
    from cacheroute.console.explain import EXPLAIN, UnknownTerm, explain, explanations
    from cacheroute_cli.asking import Found
    from cacheroute_cli.explaining import lines_of
    from cacheroute_cli.lists import Shown
    from cacheroute_cli.looking import form_for, print_view
    from cacheroute_cli.output import print_lines

    context = listing.context
    try:
        found = explanations() if term is None else explain(term)
    except UnknownTerm as problem:
        raise NothingCalledSo(str(problem), hint="'cacheroute explain' lists all words") from None
    view = Shown(listing, EXPLAIN).view(Found(rows=found))
    # No Proxy was asked, so none is named.
    count = f"{len(view.rows)} of {len(found)} {EXPLAIN.noun}"
    view = replace(view, content={}, footer=count)
    form = form_for(context)
    if term is not None and form in ("table", "wide", "plain") and listing.columns is None:
        print_lines(context, lines_of(view.rows))
        return
    print_view(context, view, form)
