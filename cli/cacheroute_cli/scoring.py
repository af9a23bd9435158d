"""The command `scores`: a list, one score written out, or a what-if."""

from collections.abc import Sequence
from dataclasses import replace

from cacheroute.client.control import ControlClient
from cacheroute.console.rows.scores import SCORES, ScoreRow, explained
from cacheroute_cli.asking import Found, Wanted, scores
from cacheroute_cli.diagnostics import UsageFault
from cacheroute_cli.faults import no_such_instance
from cacheroute_cli.list_options import Listing
from cacheroute_cli.lists import Shown, show_list
from cacheroute_cli.looking import look
from cacheroute_cli.views import LinesView, ListView


def show_scores(
    listing: Listing, instance_id: str | None, *, explain: bool, what_if: Sequence[str]
) -> None:
    """Run the command."""
    wanted = Wanted(all=True, weights=dict(map(read_weight, what_if)))
    if instance_id is None and not explain:
        show_list(listing, SCORES.name, wanted)
        return
    shown = Shown(listing, SCORES)

    def fetch(client: ControlClient) -> LinesView | ListView[ScoreRow]:
        found = scores(client, wanted)
        view = shown.view(replace(found, rows=_only(found.rows, instance_id)))
        return _explained(view, found) if explain else view

    look(listing.watching, fetch)


def read_weight(text: str) -> tuple[str, float]:
    """Read `inflight=0.5`; raises UsageFault."""
    signal, is_there, value = text.partition("=")
    try:
        weight = float(value)
    except ValueError:
        is_there, weight = "", 0.0
    if not (is_there and signal.strip() and 0 <= weight < float("inf")):
        raise UsageFault(f"--what-if is a signal and a weight of 0 or more, as inflight=0.5, "
                         f"not {text!r}")  # fmt: skip
    return signal.strip(), weight


def _only(rows: Sequence[ScoreRow], instance_id: str | None) -> Sequence[ScoreRow]:
    if instance_id is None:
        return rows
    found = [row for row in rows if row.id == instance_id]
    if not found:
        raise no_such_instance(instance_id, [row.id for row in rows])
    return found


def _explained(view: ListView[ScoreRow], found: Found[ScoreRow]) -> LinesView:
    lines = [line for row in view.rows for line in explained(row, found.rows)]
    schema, content = view.document()
    return LinesView(lines=lines, schema=schema, content=content, notes=view.notes)
