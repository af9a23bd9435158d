"""`cacheroute agent`: the program that tells how loaded this host is."""

from typing import Annotated

import typer

from cacheroute_cli.context import Context
from cacheroute_cli.groups import CommandGroup
from cacheroute_cli.launch import AGENT_LISTEN, launch_agent
from cacheroute_cli.options import with_context
from cacheroute_cli.processes import (
    become,
    find_record,
    row_of,
    show_process,
    show_started,
    show_stopped,
    start_detached,
    stop,
    what_is_up,
)
from cacheroute_cli.supervisor.faults import NoSuchProcess
from cacheroute_cli.supervisor.state import State

app = typer.Typer(
    cls=CommandGroup,
    help="Run the resource agent here: it serves the load of this host to Instances.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)

NameArgument = Annotated[
    str | None, typer.Argument(help="Name of the agent (default: the only one).")
]


@app.command("start")
@with_context
def start(
    context: Context,
    *,
    foreground: Annotated[
        bool,
        typer.Option("--foreground", "-F", help="Become the agent instead of starting one."),
    ] = False,
    listen: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Where to listen, port 0 for any.")
    ] = AGENT_LISTEN,
) -> None:
    """Start the resource agent, and return when it answers."""
    launch = launch_agent(listen)
    if foreground:
        become(launch, as_json=context.as_json)
    row = start_detached(launch)
    show_started(context, row, f"cacheroute instance start --agent-url {row.urls['url']}")


@app.command("stop")
@with_context
def stop_(
    context: Context,
    name: NameArgument = None,
    *,
    grace: Annotated[
        float, typer.Option(metavar="S", min=0, help="Time to end before it is killed.")
    ] = 10.0,
) -> None:
    """Stop the resource agent that was started here."""
    show_stopped(context, "agent", stop("agent", name, grace_s=grace), name=name)


@app.command("status")
@with_context
def status(context: Context, name: NameArgument = None) -> None:
    """Show the resource agent that was started here, and whether it answers."""
    record = find_record("agent", name, state=State())
    if record is None:
        raise NoSuchProcess(
            "no resource agent that was started here is running",
            hint=what_is_up(State()) or "start one with 'cacheroute agent start'",
        )
    if url := record.urls.get("url"):
        from cacheroute_cli.control import control_client

        with control_client(context, url) as client:
            client.health()
    show_process(context, row_of(record))
