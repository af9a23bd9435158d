"""`cacheroute proxy`: run the Proxy here, in the background or in our place."""

import os
from pathlib import Path
from typing import Annotated

import typer

from cacheroute_cli.context import Context
from cacheroute_cli.diagnostics import note
from cacheroute_cli.groups import CommandGroup
from cacheroute_cli.launch import ProxyOptions, launch_proxy
from cacheroute_cli.options import with_context
from cacheroute_cli.output import print_document
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
    stopping,
    what_is_up,
)
from cacheroute_cli.supervisor.faults import NoSuchProcess
from cacheroute_cli.supervisor.ports import require_free
from cacheroute_cli.supervisor.state import State
from cacheroute_cli.web_console import BesideProxy

app = typer.Typer(
    cls=CommandGroup,
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
    injection_strategy: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Who decides between text and KV: default keeps the Scheduler's mode, iws takes "
            "the faster one (default: default).",
        ),
    ] = None,
    ready_release_policy: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Order in which prepared requests go on: ordered, or text_bypass, which lets "
            "text pass a head that waits (default: ordered).",
        ),
    ] = None,
    kdn_links_json: Annotated[
        str | None,
        typer.Option(
            metavar="JSON",
            help="Links to knowledge nodes that no Instance measures: "
            '{"HOST:PORT": {"bandwidth_mbps": 1000, "latency_ms": 1}}.',
        ),
    ] = None,
    scheduler_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Register with this Scheduler (default: with none)."),
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
        typer.Option(metavar="N", min=1, help="Requests at once that count as full (default: 8)."),
    ] = None,
    proxy_ui: Annotated[
        bool | None,
        typer.Option(
            "--proxy-ui/--no-proxy-ui",
            help="Whether to serve the console to browsers as well (default: no).",
        ),
    ] = None,
    proxy_ui_listen: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Where to serve it (env: PROXY_UI_LISTEN) (default: 127.0.0.1:8202).",
        ),
    ] = None,
    proxy_ui_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Where browsers ask for it (env: PROXY_UI_URL)."),
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
            injection_strategy=injection_strategy,
            ready_release_policy=ready_release_policy,
            kdn_links_json=kdn_links_json,
            scheduler_url=scheduler_url,
            proxy_id=proxy_id,
            max_capacity=max_capacity,
            config=config,
            instances=instance or (),
            settings=set_ or (),
            token=context.own_token,
        ),
        os.environ,
    )
    beside = BesideProxy.of(proxy_ui, proxy_ui_listen, proxy_ui_url, os.environ)
    if foreground:
        if beside is not None:
            note("cacheroute: note: nobody serves the console beside a Proxy in the foreground; "
                 "'cacheroute web' does")  # fmt: skip
        become(launch, as_json=context.as_json)
    if beside is not None:
        require_free(beside.wanted)
    row = start_detached(launch)
    if beside is not None:
        console = start_detached(beside.launch(row.name, row.urls["control"], token=context.token))
        if context.as_json:
            print_document("cacheroute.processes/1", {"items": [row, console]})
            return
        show_process(context, console)
    show_started(
        context,
        row,
        f"cacheroute status --proxy-url {row.urls['control']}",
        stopping(row.kind, row.name),
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
    row = stop("proxy", name, grace_s=grace)
    if row is not None and State().read("web", row.name) is not None:
        stop("web", row.name)
    show_stopped(context, "proxy", row, name=name)


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
            hint=what_is_up(State())
            or "start one with 'cacheroute proxy start'; for others, 'cacheroute status'",
        )
    if control := record.urls.get("control"):
        from cacheroute_cli.control import control_client

        with control_client(context, control) as client:
            client.health()
    show_process(context, row_of(record))
