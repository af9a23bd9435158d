"""`cacheroute proxy`: run the Proxy here, in the background or in our place."""

import os
from pathlib import Path
from typing import Annotated

import typer

from cacheroute_cli.context import Context
from cacheroute_cli.launch import ProxyOptions, launch_proxy
from cacheroute_cli.options import with_context
from cacheroute_cli.processes import (
    STOP_GRACE_S,
    become,
    find_record,
    row_of,
    show_process,
    show_started,
    show_stopped,
    start_detached,
    stop,
)
from cacheroute_cli.supervisor.faults import NoSuchProcess
from cacheroute_cli.supervisor.state import State

app = typer.Typer(
    help="Run the Proxy here: start it, stop it, see how it is.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)


@app.command("start")
@with_context
def start(
    context: Context,
    *,
    foreground: Annotated[
        bool,
        typer.Option("--foreground", "-F", help="Become the Proxy instead of starting one."),
    ] = False,
    host: Annotated[
        str | None,
        typer.Option(help="Address of the service plane (default: 127.0.0.1)."),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(help="Port of the service plane, 0 for any (default: 8001)."),
    ] = None,
    cp_host: Annotated[
        str | None,
        typer.Option(help="Address of the control plane (default: 127.0.0.1)."),
    ] = None,
    cp_port: Annotated[
        int | None,
        typer.Option(help="Port of the control plane, 0 for any (default: 8002)."),
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How an Instance is chosen: round_robin or least_load (default: round_robin).",
        ),
    ] = None,
    instance: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URL",
            help="A server that runs already, as often as needed. Behind a comma, the name "
            "of the variable that holds its key: URL,api_key=env:NAME.",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Settings file.", exists=True, dir_okay=False),
    ] = None,
    proxy_id: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Name of the Proxy (default: hp_HOST:PORT)."),
    ] = None,
    max_capacity: Annotated[
        int | None,
        typer.Option(metavar="N", help="Requests at once that count as full (default: 8)."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Any other setting, as often as needed."),
    ] = None,
) -> None:
    """Start the Proxy, and return when it takes requests."""
    launch = launch_proxy(
        ProxyOptions(
            host=host,
            port=port,
            cp_host=cp_host,
            cp_port=cp_port,
            strategy=strategy,
            proxy_id=proxy_id,
            max_capacity=max_capacity,
            config=config,
            instances=instance or (),
            settings=set_ or (),
        ),
        os.environ,
    )
    if foreground:
        become(launch)
    row = start_detached(launch)
    show_started(
        context,
        row,
        next_steps=f"cacheroute status --proxy-url {row.urls['control']} · cacheroute proxy stop",
    )


@app.command("stop")
@with_context
def stop_(
    context: Context,
    name: Annotated[
        str | None, typer.Argument(help="Name of the Proxy (default: the only one).")
    ] = None,
    *,
    grace: Annotated[
        float, typer.Option(metavar="S", min=0, help="Time to end before it is killed.")
    ] = STOP_GRACE_S,
) -> None:
    """Stop the Proxy; running answers get the time to end."""
    show_stopped(context, "proxy", stop("proxy", name, grace_s=grace))


@app.command("status")
@with_context
def status(
    context: Context,
    name: Annotated[
        str | None, typer.Argument(help="Name of the Proxy (default: the only one).")
    ] = None,
) -> None:
    """Show the Proxy that was started here, and whether it answers."""
    record = find_record("proxy", name, state=State())
    if record is None:
        raise NoSuchProcess(
            "no Proxy that was started here is running",
            hint="start one with 'cacheroute proxy start'; for others, 'cacheroute status'",
        )
    if control := record.urls.get("control"):
        from cacheroute_cli.control import control_client

        with control_client(context, control) as client:
            client.health()
    show_process(context, row_of(record))
