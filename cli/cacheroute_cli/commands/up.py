"""`cacheroute up`: a whole stack from one file."""

from typing import Annotated

import typer

from cacheroute_cli.context import Context
from cacheroute_cli.options import with_context
from cacheroute_cli.stack_choice import Choice, FileOption, StackOption

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("up")
@with_context
def up(
    context: Context,
    *,
    file: FileOption = None,
    stack: StackOption = None,
    timeout_s: Annotated[
        float | None,
        typer.Option(
            "--timeout",
            metavar="S",
            min=0,
            help="Longest wait until all is ready (default: what the stack allows each process).",
        ),
    ] = None,
    detach: Annotated[
        bool, typer.Option("--detach", "-d", help="Return when all is ready; it goes on running.")
    ] = False,
    wait: Annotated[
        bool,
        typer.Option("--wait", help="As -d, and wait for what was up already and is not ready."),
    ] = False,
    instances: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            max=256,
            help="Demo Instances (default: the file's); not for a file that lists them.",
        ),
    ] = None,
    port_offset: Annotated[
        int,
        typer.Option(metavar="N", min=0, max=60_000, help="Add this to every port of the file."),
    ] = 0,
    remove_orphans: Annotated[
        bool,
        typer.Option("--remove-orphans", help="End what is up and not in the file any more."),
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Read the file, say what would run, and start nothing.")
    ] = False,
) -> None:
    """Start a Proxy with its Instances and all that belongs to them, as one stack.

    In the foreground it prints their logs until ctrl-c; a second ctrl-c kills at once.
    """
    from cacheroute_cli.bringing_up import WAIT_S, UpOptions, plan_up
    from cacheroute_cli.diagnostics import note

    planned = plan_up(
        UpOptions(
            choice=Choice(file=file, name=stack),
            instances=instances,
            port_offset=port_offset,
            timeout_s=timeout_s,
            remove_vanished=remove_orphans,
            own_token=context.own_token,
            token=context.token,
        )
    )
    for line in planned.notes:
        note(f"cacheroute: note: {line}")
    if check:
        from cacheroute_cli.process_printing import print_plans

        print_plans(context, planned.home.name, planned.request.plans)
        return
    if not (detach or wait or planned.home.is_supervised()):
        from cacheroute_cli.bringing_up import up_here

        raise typer.Exit(up_here(context, planned))
    from cacheroute_cli.bringing_up import next_steps, up_detached, wait_until_ready
    from cacheroute_cli.process_printing import print_statuses

    reply = up_detached(planned)
    if wait:
        reply = wait_until_ready(planned.home, timeout_s or WAIT_S)
    print_statuses(context, planned.home.name, reply.snapshot or ())
    next_steps(reply.snapshot or ())
