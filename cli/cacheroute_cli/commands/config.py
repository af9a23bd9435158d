"""`cacheroute config`: what holds for the console, who said so, and where to change it."""

from pathlib import Path
from typing import Annotated

import typer

from cacheroute_cli.context import Given
from cacheroute_cli.diagnostics import Exit, Fault, note
from cacheroute_cli.groups import CommandGroup
from cacheroute_cli.options import with_given

app = typer.Typer(
    cls=CommandGroup,
    help="See, check and edit the configuration of the console; 'server' shows the Proxy's.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)

_SAYS_NOTHING = "is empty: it changes nothing"

OriginOption = Annotated[
    bool, typer.Option("--origin", help="Show who gave each value.", show_default=False)
]


class ConfigExists(Fault):
    """There is a configuration already."""

    code = "config.exists"
    exit = Exit.CONFLICT


@app.command("show")
@with_given
def show_(given: Given, *, origin: OriginOption = False) -> None:
    """Show every key with the value that holds."""
    from cacheroute_cli.config.load import load
    from cacheroute_cli.config.printing import show
    from cacheroute_cli.config.rows import VALUES, value_rows

    loaded = load(given)
    loaded.require_readable()
    for file in loaded.empty:
        note(f"cacheroute: note: {file} {_SAYS_NOTHING}")
    columns = None if origin else VALUES.chosen("key,value")
    files = [str(path) for path in loaded.read]
    show(
        loaded, VALUES, list(value_rows(loaded.in_force)), columns=columns, content={"files": files}
    )


@app.command("path")
@with_given
def path(given: Given) -> None:
    """Show the files that are looked at, the one that outranks the others first."""
    from cacheroute_cli.config.load import load
    from cacheroute_cli.config.printing import show
    from cacheroute_cli.config.rows import FILES, file_rows

    loaded = load(given)
    show(loaded, FILES, file_rows(loaded))


@app.command("validate")
@with_given
def validate(given: Given) -> None:
    """Check all files and variables; exit 2 and a line for each thing to mend."""
    from cacheroute_cli.config.load import load
    from cacheroute_cli.config.printing import context_for
    from cacheroute_cli.output import print_document, print_text

    loaded = load(given)
    loaded.require_good()
    files = [str(path) for path in loaded.read]
    if context_for(loaded).as_json:
        empty = [str(file) for file in loaded.empty]
        print_document("cacheroute.config_check/1", {"ok": True, "files": files, "empty": empty})
    else:
        lines = [
            f"{file} {_SAYS_NOTHING}" if file in loaded.empty else file for file in loaded.read
        ]
        print_text("\n".join([*map(str, lines), "the configuration is good"]))


@app.command("init")
@with_given
def init(given: Given) -> None:
    """Write a configuration in which every key stands as a comment with its default."""
    from cacheroute_cli.config.load import load
    from cacheroute_cli.config.store import change, users_file
    from cacheroute_cli.config.texts import template
    from cacheroute_cli.output import print_text

    file = users_file(load(given).places)
    if file.exists():
        raise ConfigExists(
            f"{file} is there already", hint="'cacheroute config edit' opens it", path=str(file)
        )
    change(file, lambda _: template())
    print_text(str(file))


@app.command("schema")
@with_given
def schema_(given: Given) -> None:
    """Print what a configuration may hold, as JSON Schema."""
    from cacheroute_cli.config.texts import schema
    from cacheroute_cli.output import json_text, print_text

    del given
    print_text(json_text(schema(), indent=2))


@app.command("edit")
@with_given
def edit(given: Given) -> None:
    """Open your configuration in VISUAL or EDITOR, and take it back only when it is good."""
    from cacheroute_cli.config.editing import edit_by_hand
    from cacheroute_cli.config.load import load
    from cacheroute_cli.config.store import users_file
    from cacheroute_cli.diagnostics import UsageFault

    file = users_file(load(given).places)
    if given.no_input:
        raise UsageFault("an editor needs somebody to type", hint=f"the file is {file}")
    edit_by_hand(file)


@app.command("server")
@with_given
def server(
    given: Given,
    *,
    settings_file: Annotated[
        Path | None,
        typer.Option("--settings", metavar="FILE", help="Settings file of the Proxy."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="A setting, as often as needed."),
    ] = None,
    origin: OriginOption = False,
) -> None:
    """Show the settings that a Proxy would have if it were started here."""
    from cacheroute_cli.config.load import load
    from cacheroute_cli.config.printing import show
    from cacheroute_cli.config.server import SETTINGS, ask_for_settings

    rows = ask_for_settings(settings_file, set_ or ())
    columns = None if origin else SETTINGS.chosen("key,value")
    show(load(given), SETTINGS, rows, columns=columns)
    if not origin:
        note("add --origin to see who gave each value")
