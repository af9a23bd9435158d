"""`cacheroute instance`: demo Instances, to try a Proxy without a GPU."""

from typing import Annotated

import typer

from cacheroute_cli.context import Context
from cacheroute_cli.launch import INSTANCE_PORT, launch_instance
from cacheroute_cli.options import with_context
from cacheroute_cli.processes import become, show_started, show_stopped, start_detached, stop

app = typer.Typer(
    help="Run demo Instances here: a model server that computes nothing, at a real one's pace.",
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
        become(launch)
    row = start_detached(launch)
    show_started(
        context,
        row,
        next_steps=f"cacheroute instances · cacheroute instance stop {row.name}",
    )


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
    ] = 10.0,
) -> None:
    """Stop a demo Instance that was started here; it leaves the pool first."""
    show_stopped(context, "instance", stop("instance", name, grace_s=grace))
