"""The command `traces`: the last requests as a list, or one of them room by room."""

from cacheroute.client.control import ControlClient
from cacheroute.client.faults import Refused
from cacheroute.console.rows.traces import TRACES, trace_rows
from cacheroute.console.waterfall import waterfall
from cacheroute_cli.asking import Wanted
from cacheroute_cli.diagnostics import Exit, Fault
from cacheroute_cli.list_options import Listing
from cacheroute_cli.lists import show_list
from cacheroute_cli.looking import look
from cacheroute_cli.views import LinesView

SCHEMA = "cacheroute.trace/1"


class NoSuchRequest(Fault):
    """No request of this name is among the last."""

    code = "request.unknown"
    exit = Exit.NOT_FOUND


def show_traces(
    listing: Listing, request_id: str | None, *, slow_s: float | None, last: int
) -> None:
    """Run the command."""
    if request_id is None:
        show_list(listing, TRACES.name, Wanted(last=last, slow_s=slow_s))
        return
    context = listing.context

    def fetch(client: ControlClient) -> LinesView:
        try:
            reply = client.trace(request_id)
        except Refused as fault:
            if fault.code != "unknown_request":
                raise
            raise NoSuchRequest(
                f"there is no request {request_id!r} among the last that have ended",
                hint="'cacheroute traces' lists them; one that still runs is not there yet, and "
                "older ones are in requests.jsonl, in the state folder of the Proxy",
                id=request_id,
            ) from fault
        row = trace_rows(reply)[0]
        content = {"context": context.name, "proxy_url": context.proxy_url, "trace": row}
        return LinesView(lines=waterfall(row), schema=SCHEMA, content=content)

    look(listing.watching, fetch)
