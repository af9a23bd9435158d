"""`cacheroute demo`: the whole thing at work, without a GPU and without leaving a trace."""

import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cacheroute_cli.context import Context
from cacheroute_cli.diagnostics import UsageFault, note
from cacheroute_cli.options import with_table_context

if TYPE_CHECKING:
    from cacheroute.demo.trace import TraceRequest
    from cacheroute_cli.demo_fleet import Fleet
    from cacheroute_cli.summary import StrategyRow
    from cacheroute_cli.supervisor.stack import Stack

STRATEGIES = ("round_robin", "least_load")
COMPRESSION = 110.0
"""How much faster than in the trace requests arrive: its half an hour takes 16 s."""
SPEED = 1.0
INSTANCES = 3
_WAYS = ("text", "kv", "kvcache", "iws")
"""What somebody may take for strategies."""

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("demo")
@with_table_context
def demo(
    context: Context,
    *,
    requests: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Requests to each strategy (default: all 302), or to each way (default: 32).",
        ),
    ] = None,
    instances: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=32, help="Demo Instances to run (default: 3)."),
    ] = None,
    speed: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            min=0.1,
            max=100,
            help="How much faster than a real GPU (default: 1, with --knowledge 12).",
        ),
    ] = None,
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Strategy to run, as often as needed (default: round_robin and least_load).",
        ),
    ] = None,
    knowledge: Annotated[
        bool,
        typer.Option(
            "--knowledge", help="Compare ways to bring in knowledge: as text, as KV, or by iws."
        ),
    ] = False,
    bandwidth: Annotated[
        list[float] | None,
        typer.Option(
            metavar="GBPS",
            min=0.01,
            max=100,
            help="Link to the knowledge, as often as needed (default: 0.2, 1 and 10 Gb/s).",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="Ask other questions, with --knowledge."),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave the fleet up at the end, until Ctrl-C.")
    ] = False,
    tui: Annotated[
        bool, typer.Option("--tui", help="Compare nothing: ask without end, and open the console.")
    ] = False,
) -> None:
    """Replay real conversations over a fleet of demo Instances, and compare strategies.

    Runs a Proxy, demo Instances and a resource agent on free ports, and ends all of them. With
    --knowledge it asks about texts that a knowledge node holds, through a Scheduler, and
    compares how they reach the Instance; that needs redis-server.
    """
    if tui:
        _refuse_what_needs_an_end(strategy or (), bandwidth or (), keep=keep)
    if knowledge:
        if strategy or instances is not None:
            option = "--strategy" if strategy else "--instances"
            raise UsageFault(f"{option} goes without --knowledge, which runs one Instance")
        given = {"requests": requests, "speed": speed, "seed": seed}
        _compare_ways(context, given, bandwidth=bandwidth, keep=keep, tui=tui)
        return
    if bandwidth or seed is not None:
        raise UsageFault(f"{'--bandwidth' if bandwidth else '--seed'} goes with --knowledge")
    instances = INSTANCES if instances is None else instances
    speed = SPEED if speed is None else speed
    trace = _shipped(requests)
    if tui:
        from cacheroute_cli.demo_console import watch_trace

        [name] = _known_strategies(strategy or ["least_load"])
        raise typer.Exit(
            watch_trace(
                trace, strategy=name, instances=instances, speed=speed, compression=COMPRESSION
            )
        )
    _compare_strategies(
        context, strategy or STRATEGIES, trace, instances=instances, speed=speed, keep=keep
    )


def _refuse_what_needs_an_end(
    strategies: Sequence[str], bandwidths: Sequence[float], *, keep: bool
) -> None:
    from cacheroute_cli.demo_console import require_terminal

    if keep:
        raise UsageFault("--keep goes without --tui, which stays up until the console is left")
    for option, given in (("--strategy", strategies), ("--bandwidth", bandwidths)):
        if len(given) > 1:
            raise UsageFault(f"--tui compares nothing, so {option} is given once at most")
    require_terminal()


def _shipped(requests: int | None) -> "list[TraceRequest]":
    from cacheroute.demo.trace import shipped_trace

    trace = shipped_trace()
    if requests is not None and requests > len(trace):
        raise UsageFault(f"the trace has {len(trace)} requests, which is less than {requests}")
    return trace[:requests]


def _compare_strategies(
    context: Context,
    strategies: Sequence[str],
    trace: "list[TraceRequest]",
    *,
    instances: int,
    speed: float,
    keep: bool,
) -> None:
    from cacheroute.demo.trace import repeated_share_ratio
    from cacheroute_cli.demo_end import RequestsFailed, stay
    from cacheroute_cli.demo_fleet import DemoFleet, demo_folder
    from cacheroute_cli.supervisor.stack import Stack
    from cacheroute_cli.supervisor.state import State

    names = _known_strategies(strategies)
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
            stay(
                stack,
                (
                    f"up       {fleet.service_url}/v1   until Ctrl-C",
                    f"look     cacheroute instances --proxy-url {fleet.control_url}",
                    f"         cacheroute status --proxy-url {fleet.control_url}",
                ),
            )
        if failures:
            raise RequestsFailed(
                f"{failures} of {sum(row.requests for row in rows)} requests failed",
                hint=f"logs are in {folder} until the next demo",
            )
    if not keep and sys.stderr.isatty():
        note("next     cacheroute demo --keep   leaves the fleet up to look around")


def _compare_ways(
    context: Context,
    given: Mapping[str, Any],
    *,
    bandwidth: Sequence[float] | None,
    keep: bool,
    tui: bool,
) -> None:
    from cacheroute_cli.knowledge_demo import KnowledgeOptions, run_knowledge_demo, watch_knowledge

    wanted = {name: value for name, value in given.items() if value is not None}
    if bandwidth:
        wanted["bandwidths_gbps"] = tuple(dict.fromkeys(bandwidth))
    options = KnowledgeOptions(keep=keep, **wanted)
    if tui:
        raise typer.Exit(watch_knowledge(options))
    run_knowledge_demo(context, options)


def _known_strategies(names: Sequence[str]) -> list[str]:
    from cacheroute.core.routing.registry import find, known_names

    found = []
    for name in names:
        row = find(name)
        if row is None:
            raise UsageFault(
                f"there is no strategy {name!r}; known are {known_names()}",
                hint="ways to bring in knowledge (text, kvcache, iws) are compared with --knowledge"
                if name in _WAYS
                else None,
            )
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
    from cacheroute.console.amounts import render_ratio
    from cacheroute_cli.figures import print_figures
    from cacheroute_cli.summary import COLUMNS, compare

    took_s = time.monotonic() - began
    requests, failures = sum(row.requests for row in rows), sum(row.failures for row in rows)
    sentences = [
        f"{requests} requests, {failures} failures, {took_s:.0f} s",
        "each strategy had new Instances, so none found a warm cache",
        f"{render_ratio(repeated_ratio)} of all prompt tokens repeat an earlier prompt's: "
        "no cache can save more",
        *(line for row in rows[1:] if (line := compare(rows[0], row))),
        *(f"{row.strategy} failed: {why}" for row in rows for why in row.why_failed),
    ]
    print_figures(
        context,
        COLUMNS,
        rows,
        sentences=sentences,
        schema="cacheroute.demo/1",
        content={
            "requests": requests,
            "failures": failures,
            "took_s": took_s,
            "repeated_ratio": repeated_ratio,
            "items": rows,
        },
    )
