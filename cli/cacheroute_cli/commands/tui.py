"""`cacheroute tui`: the console on the whole terminal."""

import os
from typing import Annotated, Literal

import typer

from cacheroute_cli.context import TOKEN_VARIABLE, Given
from cacheroute_cli.diagnostics import UsageFault
from cacheroute_cli.options import with_given
from cacheroute_cli.supervisor.runner import python

app = typer.Typer(rich_markup_mode=None, add_completion=False)

ScreenName = Literal[
    "overview", "instances", "resources", "queues", "scores", "topology", "traces", "processes",
    "raw",
]  # fmt: skip
ThemeName = Literal["auto", "dark", "light", "ansi", "cb", "mono", "high-contrast"]


@app.command("tui")
@with_given
def tui(
    given: Given,
    *,
    screen: Annotated[ScreenName | None, typer.Option(help="Screen to begin with.")] = None,
    interval_s: Annotated[
        float | None,
        typer.Option("--interval", "-i", metavar="S", help="Time between two looks (0.5 to 10)."),
    ] = None,
    theme: Annotated[ThemeName | None, typer.Option(help="Colours of the screen.")] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Allow changes; without it the console only looks.")
    ] = False,
    no_mouse: Annotated[
        bool, typer.Option("--no-mouse", help="Leave the mouse to the terminal.")
    ] = False,
    demo: Annotated[
        bool, typer.Option("--demo", help="Look at a simulated fleet; nothing needs to run.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Seed of the simulated fleet.")
    ] = None,
    replay: Annotated[str | None, typer.Option(metavar="FILE", help="Show a recording.")] = None,
    once: Annotated[
        bool, typer.Option("--once", help="Print the screen once and end; needs no terminal.")
    ] = False,
    size: Annotated[
        str | None, typer.Option(metavar="80x24", help="Size of what --once prints.")
    ] = None,
    svg: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write what --once shows as SVG.")
    ] = None,
) -> None:
    """Open the console: the pool, its resources, queues, scores and decisions, live."""
    from cacheroute_cli.config.doubts import require_screen_interval
    from cacheroute_cli.context import resolve

    # What is wrong with the configuration is said before the terminal is taken over.
    resolve(given)
    interval_s = given.interval_s if interval_s is None else interval_s
    if interval_s is not None:
        require_screen_interval(interval_s)
    for name, value in (("--size", size), ("--svg", svg)):
        if value is not None and not once:
            raise UsageFault(
                f"{name} is about what --once prints", hint=f"add --once, or leave {name} out"
            )
    said = {
        "--screen": screen,
        "--interval": interval_s,
        "--theme": theme,
        "--seed": seed,
        "--replay": replay,
        "--size": size,
        "--svg": svg,
        "--context": given.context,
        "--proxy-url": given.proxy_url,
        "--timeout": given.timeout_s,
        "--config": given.config_file,
    }
    flags = {
        "--write": write,
        "--no-mouse": no_mouse,
        "--demo": demo,
        "--once": once,
        "--ascii": given.ascii,
    }
    words = [f"{name}={value}" for name, value in said.items() if value is not None]
    words += [name for name, is_on in flags.items() if is_on]
    program = python("-P", "-m", "cacheroute_tui", *words)
    environ = dict(os.environ)
    if given.token:
        # On a command line every user of this host could read it.
        environ[TOKEN_VARIABLE] = given.token
    if given.scheduler_url:
        # Only what is typed behind ':' asks a Scheduler, and that reads it from here.
        environ["CACHEROUTE_SCHEDULER_URL"] = given.scheduler_url
    os.execve(program[0], program, environ)  # noqa: S606 - our own interpreter, no shell
