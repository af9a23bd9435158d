"""`cacheroute demo`: the whole thing at work, without a GPU and without leaving a trace."""

import signal
import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from cacheroute_cli.context import Context
from cacheroute_cli.diagnostics import Exit, Fault, UsageFault, note
from cacheroute_cli.options import with_context

if TYPE_CHECKING:
    from cacheroute.demo.trace import TraceRequest
    from cacheroute_cli.demo_fleet import Fleet
    from cacheroute_cli.summary import StrategyRow
    from cacheroute_cli.supervisor.stack import Stack

STRATEGIES = ("round_robin", "least_load")
COMPRESSION = 110.0
"""How much faster than in the trace requests arrive: its half an hour takes 16 s."""
SPEED = 1.0

app = typer.Typer(rich_markup_mode=None, add_completion=False)


class RequestsFailed(Fault):
    """The demo ran to its end, and some requests failed."""

    code = "demo.failures"
    exit = Exit.BAD_ANSWER


@app.command("demo")
@with_context
def demo(
    context: Context,
    *,
    requests: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Requests to each strategy (default: all 302)."),
    ] = None,
    instances: Annotated[
        int, typer.Option(metavar="N", min=1, max=32, help="Demo Instances to run.")
    ] = 3,
    speed: Annotated[
        float,
        typer.Option(metavar="X", min=0.1, max=100, help="How much faster than a real GPU."),
    ] = SPEED,
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Strategy to run, as often as needed (default: round_robin and least_load).",
        ),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave the fleet up at the end, until Ctrl-C.")
    ] = False,
) -> None:
    """Replay real conversations over a fleet of demo Instances, and compare strategies.

    Runs a Proxy, demo Instances and a resource agent on free ports, and ends all of them.
    """
    from cacheroute.demo.trace import repeated_share_ratio, shipped_trace
    from cacheroute_cli.demo_fleet import DemoFleet, demo_folder
    from cacheroute_cli.supervisor.stack import Stack
    from cacheroute_cli.supervisor.state import State

    names = _known_strategies(strategy or list(STRATEGIES))
    trace = shipped_trace()
    if requests is not None and requests > len(trace):
        raise UsageFault(f"the trace has {len(trace)} requests, which is less than {requests}")
    trace = trace[:requests]
    began = time.monotonic()
    rows: list[StrategyRow] = []
    with demo_folder(State()) as folder, Stack(tethered=True) as stack:
        fleets = DemoFleet(stack, folder, instances=instances, speed=speed)
        note(f"starting a Proxy, {instances} demo Instances and a resource agent on free ports")
        fleet: Fleet | None = None
        for name in names:
            if fleet is not None:
                fleets.down(fleet)
            fleet = fleets.up(name)
            rows.append(_replay(stack, fleet, trace, name))
        _show(context, rows, repeated_ratio=repeated_share_ratio(trace), began=began)
        failures = sum(row.failures for row in rows)
        if keep and fleet is not None:
            _stay(stack, fleet)
        if failures:
            raise RequestsFailed(
                f"{failures} of {sum(row.requests for row in rows)} requests failed",
                hint=f"logs are in {folder} until the next demo",
            )
    if not keep and sys.stderr.isatty():
        note("next     cacheroute demo --keep   leaves the fleet up to look around")


def _known_strategies(names: list[str]) -> list[str]:
    from cacheroute.core.routing.registry import find, known_names

    found = []
    for name in names:
        row = find(name)
        if row is None:
            raise UsageFault(f"there is no strategy {name!r}; known are {known_names()}")
        found.append(row.name)
    return list(dict.fromkeys(found))


def _replay(
    stack: "Stack", fleet: "Fleet", trace: "list[TraceRequest]", name: str
) -> "StrategyRow":
    from cacheroute.demo.replay import replay
    from cacheroute.demo.trace import Scale
    from cacheroute_cli.demo_fleet import MODEL
    from cacheroute_cli.progress import progress
    from cacheroute_cli.summary import row_of

    began = time.monotonic()
    with progress(name, len(trace)) as one_more:
        outcomes = stack.signals.run(
            replay(
                trace,
                base_url=fleet.service_url,
                model=MODEL,
                compression=COMPRESSION,
                scale=Scale(),
                on_done=lambda _: one_more(),
            )
        )
    return row_of(name, outcomes, took_s=time.monotonic() - began)


def _show(
    context: Context, rows: "list[StrategyRow]", *, repeated_ratio: float, began: float
) -> None:
    from cacheroute_cli.amounts import render_ratio
    from cacheroute_cli.output import print_document, print_table, print_text
    from cacheroute_cli.summary import COLUMNS, compare

    took_s = time.monotonic() - began
    requests, failures = sum(row.requests for row in rows), sum(row.failures for row in rows)
    if context.as_json:
        fields = {
            "requests": requests,
            "failures": failures,
            "took_s": took_s,
            "repeated_ratio": repeated_ratio,
            "items": rows,
        }
        print_document("cacheroute.demo/1", fields)
        return
    print_table(context, COLUMNS, rows)
    lines = [
        "",
        f"{requests} requests, {failures} failures, {took_s:.0f} s",
        "each strategy had new Instances, so none found a warm cache",
        f"{render_ratio(repeated_ratio)} of all prompt tokens repeat an earlier prompt's: "
        "no cache can save more",
        *(line for row in rows[1:] if (line := compare(rows[0], row))),
        *(f"{row.strategy} failed: {why}" for row in rows for why in row.why_failed),
    ]
    print_text("\n".join(lines))


def _stay(stack: "Stack", fleet: "Fleet") -> None:
    """Wait for a signal; on this one it is the regular end."""
    from cacheroute_cli.supervisor.signals import Stopped

    note(f"up       {fleet.service_url}/v1   until Ctrl-C")
    note(f"look     cacheroute instances --proxy-url {fleet.control_url}")
    note(f"         cacheroute status --proxy-url {fleet.control_url}")
    try:
        while all(child.exit_code() is None for child in stack.children()):
            time.sleep(0.5)
    except Stopped as stopped:
        if stopped.number != signal.SIGINT:
            raise
        return
    raise next(child.failure() for child in stack.children() if child.exit_code() is not None)
