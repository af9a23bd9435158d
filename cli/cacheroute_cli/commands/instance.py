"""`cacheroute instance`: demo Instances to try things on, and real servers for the pool."""

from typing import Annotated

import typer

from cacheroute_cli.context import Context
from cacheroute_cli.groups import CommandGroup
from cacheroute_cli.launch import INSTANCE_PORT, launch_instance
from cacheroute_cli.member_options import Member, with_member
from cacheroute_cli.options import with_context
from cacheroute_cli.processes import (
    STOP_GRACE_S,
    ProcessRow,
    become,
    show_started,
    show_stopped,
    start_detached,
    stop,
    stopping,
)

MAX_WAIT_S = 86_400.0
"""The longest that an attachment waits for its server."""

app = typer.Typer(
    cls=CommandGroup,
    help="Run demo Instances here, and put real model servers into the pool.",
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
        typer.Option("--foreground", "-F", help="Become the Instance instead of starting one."),
    ] = False,
    host: Annotated[
        str | None, typer.Option(help="Address to listen on (default: 127.0.0.1).")
    ] = None,
    port: Annotated[int, typer.Option(help="Port to listen on, 0 for any.")] = INSTANCE_PORT,
    instance_id: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Name in the pool (default: hp_HOST:PORT)."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Model it says it serves.")
    ] = None,
    speed: Annotated[
        float | None,
        typer.Option(metavar="X", help="How much faster than the real one (default: 1)."),
    ] = None,
    agent_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Resource agent whose snapshots it passes on."),
    ] = None,
) -> None:
    """Start a demo Instance, which joins the pool of the Proxy at --proxy-url."""
    launch = launch_instance(
        host=host,
        port=port,
        instance_id=instance_id,
        proxy_url=context.proxy_url,
        model=model,
        speed=speed,
        agent_url=agent_url,
        token=context.token,
    )
    if foreground:
        become(launch, as_json=context.as_json)
    row = start_detached(launch)
    _show_started(context, row)


DetachOption = Annotated[
    bool, typer.Option("--detach", "-d", help="Go on in the background once it is in the pool.")
]


@app.command("attach")
@with_member
def attach(
    member: Member,
    *,
    endpoint: Annotated[
        str,
        typer.Option(
            metavar="URL", help="The server, as the Proxy reaches it: http://HOST:PORT[/BASE]."
        ),
    ],
    interval: Annotated[
        float | None,
        typer.Option(metavar="S", help="Time between two looks at the server (default: 2)."),
    ] = None,
    wait: Annotated[
        float | None,
        typer.Option(metavar="S", help="Time that server and Proxy may take to answer at first."),
    ] = None,
    detach: DetachOption = False,
) -> None:
    """Put a running model server into the pool of the Proxy at --proxy-url, and keep it there.

    It leaves the pool when this ends, and the server goes on.
    """
    from cacheroute_cli.attaching import attach_detached, launch_attach

    attaching = member.attaching(endpoint, interval_s=interval, wait_s=wait)
    if not detach:
        become(launch_attach(attaching), as_json=member.context.as_json)
    row = attach_detached(attaching)
    _show_started(member.context, row)


@app.command("run", context_settings={"allow_interspersed_args": False})
@with_member
def run(
    member: Member,
    *,
    command: Annotated[
        list[str],
        typer.Argument(metavar="-- COMMAND...", help="What starts the server: vllm serve MODEL."),
    ],
    port: Annotated[
        int | None,
        typer.Option(
            min=1, max=65535, help="Port it listens on (default: the --port in its command)."
        ),
    ] = None,
    advertise_host: Annotated[
        str | None,
        typer.Option(metavar="HOST", help="Host that the Proxy reaches it at (default: its own)."),
    ] = None,
    start_timeout: Annotated[
        float,
        typer.Option(
            metavar="S", min=1, max=MAX_WAIT_S, help="Time the server may take until it answers."
        ),
    ] = 3600.0,
    grace: Annotated[
        float, typer.Option(metavar="S", min=0, help="Time to end before it is killed.")
    ] = 30.0,
    detach: DetachOption = False,
) -> None:
    """Start a model server, put it into the pool when it answers, and end both together."""
    from cacheroute_cli.server_command import read_server_command
    from cacheroute_cli.serving import Serving, serve, serve_detached

    server = read_server_command(command, port=port, advertise_host=advertise_host)
    attaching = member.attaching(
        server.url, wait_s=min(start_timeout + 60, MAX_WAIT_S), on_this_host=True
    )
    serving = Serving(
        command=server, attaching=attaching, start_timeout_s=start_timeout, grace_s=grace
    )
    if not detach:
        serve(member.context, serving)
        return
    row = serve_detached(serving)
    _show_started(member.context, row)


@app.command("stop")
@with_context
def stop_(
    context: Context,
    name: Annotated[
        str | None, typer.Argument(help="Name of the Instance (default: the only one).")
    ] = None,
    *,
    grace: Annotated[
        float, typer.Option(metavar="S", min=0, help="Time to end before it is killed.")
    ] = STOP_GRACE_S,
) -> None:
    """Stop an Instance that was started here, or end its attachment; it leaves the pool first."""
    show_stopped(context, "instance", stop("instance", name, grace_s=grace), name=name)


def _show_started(context: Context, row: ProcessRow) -> None:
    show_started(context, row, "cacheroute instances", stopping("instance", row.name))
