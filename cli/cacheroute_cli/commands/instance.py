"""`cacheroute instance`: demo Instances to try things on, and real servers for the pool."""

from typing import Annotated

import typer

from cacheroute_cli.context import Context
from cacheroute_cli.groups import CommandGroup
from cacheroute_cli.launch import INSTANCE_PORT, launch_instance
from cacheroute_cli.options import with_context
from cacheroute_cli.processes import (
    STOP_GRACE_S,
    become,
    show_started,
    show_stopped,
    start_detached,
    stop,
)

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
    show_started(
        context,
        row,
        next_steps=f"cacheroute instances · cacheroute instance stop {row.name}",
    )


ModelOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Model that it must serve (default: what it lists)."),
]
InstanceIdOption = Annotated[
    str | None, typer.Option(metavar="ID", help="Name in the pool (default: hp_HOST:PORT).")
]
TagsOption = Annotated[str | None, typer.Option(metavar="A,B", help="Tags to register it with.")]
WeightOption = Annotated[
    float | None, typer.Option(metavar="X", min=0, help="Its share of requests (default: 1).")
]
KeyOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Variable that holds the key the server wants. The Proxy gets no key from here: "
        "where clients bring none, use 'proxy start --instance URL,api_key=env:NAME' instead.",
    ),
]
AgentUrlOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Resource agent of the server's host (default: one of this host, for a server here).",
    ),
]
NoAgentOption = Annotated[
    bool, typer.Option("--no-agent", help="Report nothing of the server's host.")
]
KdnTargetsOption = Annotated[
    str | None,
    typer.Option(metavar="HOST:PORT,..", help="Knowledge nodes whose distance is measured."),
]
DetachOption = Annotated[
    bool, typer.Option("--detach", "-d", help="Go on in the background once it is in the pool.")
]


@app.command("attach")
@with_context
def attach(
    context: Context,
    *,
    endpoint: Annotated[
        str,
        typer.Option(
            metavar="URL", help="The server, as the Proxy reaches it: http://HOST:PORT[/BASE]."
        ),
    ],
    model: ModelOption = None,
    instance_id: InstanceIdOption = None,
    tags: TagsOption = None,
    weight: WeightOption = None,
    api_key_env: KeyOption = None,
    agent_url: AgentUrlOption = None,
    no_agent: NoAgentOption = False,
    kdn_targets: KdnTargetsOption = None,
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
    from cacheroute_cli.attaching import Attaching, attach_detached, launch_attach

    attaching = Attaching(
        endpoint=endpoint,
        proxy_url=context.proxy_url,
        token=context.token,
        model=model,
        instance_id=instance_id,
        tags=tags,
        weight=weight,
        api_key_env=api_key_env,
        agent_url=agent_url,
        no_agent=no_agent,
        kdn_targets=kdn_targets,
        interval_s=interval,
        wait_s=wait,
    )
    if not detach:
        become(launch_attach(attaching), as_json=context.as_json)
    row = attach_detached(attaching)
    show_started(
        context, row, next_steps=f"cacheroute instances · cacheroute instance stop {row.name}"
    )


@app.command("run", context_settings={"allow_interspersed_args": False})
@with_context
def run(
    context: Context,
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
    model: ModelOption = None,
    instance_id: InstanceIdOption = None,
    tags: TagsOption = None,
    weight: WeightOption = None,
    api_key_env: KeyOption = None,
    agent_url: AgentUrlOption = None,
    no_agent: NoAgentOption = False,
    kdn_targets: KdnTargetsOption = None,
    start_timeout: Annotated[
        float,
        typer.Option(metavar="S", min=1, help="Time the server may take until it answers."),
    ] = 3600.0,
    grace: Annotated[
        float, typer.Option(metavar="S", min=0, help="Time to end before it is killed.")
    ] = 30.0,
    detach: DetachOption = False,
) -> None:
    """Start a model server, put it into the pool when it answers, and end both together."""
    from cacheroute_cli.attaching import Attaching
    from cacheroute_cli.server_command import read_server_command
    from cacheroute_cli.serving import Serving, serve, serve_detached

    server = read_server_command(command, port=port, advertise_host=advertise_host)
    attaching = Attaching(
        endpoint=server.url,
        proxy_url=context.proxy_url,
        token=context.token,
        model=model,
        instance_id=instance_id,
        tags=tags,
        weight=weight,
        api_key_env=api_key_env,
        agent_url=agent_url,
        no_agent=no_agent,
        on_this_host=True,
        kdn_targets=kdn_targets,
        wait_s=start_timeout + 60,
    )
    serving = Serving(
        command=server, attaching=attaching, start_timeout_s=start_timeout, grace_s=grace
    )
    if not detach:
        serve(context, serving)
        return
    row = serve_detached(serving)
    show_started(
        context, row, next_steps=f"cacheroute instances · cacheroute instance stop {row.name}"
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
    ] = STOP_GRACE_S,
) -> None:
    """Stop an Instance that was started here, or end its attachment; it leaves the pool first."""
    show_stopped(context, "instance", stop("instance", name, grace_s=grace), name=name)
