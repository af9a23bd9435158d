"""`cacheroute context`: which Proxy is meant, by name."""

import shlex
from typing import Annotated

import typer

from cacheroute_cli.context import Given
from cacheroute_cli.diagnostics import Exit, Fault, note
from cacheroute_cli.groups import CommandGroup
from cacheroute_cli.options import with_given

app = typer.Typer(
    cls=CommandGroup,
    help="Choose which Proxy is meant, by name. None of this asks a Proxy, so it works offline.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)

_SPELLED = {"label": "--label", "color": "--label-color", "token_file": "--token-file"}
"""How a key of a context is typed, where that is an option of ours."""

NameArgument = Annotated[str, typer.Argument(metavar="CONTEXT", help="Name of the context.")]


class ContextExists(Fault):
    """There is a context of this name."""

    code = "config.context_exists"
    exit = Exit.CONFLICT


@app.command("list")
@with_given
def list_(given: Given) -> None:
    """List the contexts; the one in force has a dot."""
    from cacheroute_cli.config.load import load
    from cacheroute_cli.config.printing import show
    from cacheroute_cli.config.rows import CONTEXTS, context_rows

    loaded = load(given)
    loaded.require_readable()
    rows = context_rows(loaded.in_force)
    show(loaded, CONTEXTS, rows, content={"current": loaded.in_force.context})
    if not rows:
        note("no contexts; 'cacheroute context add NAME --proxy-url URL' makes one")


@app.command("show")
@with_given
def show_(
    given: Given,
    name: Annotated[
        str | None, typer.Argument(metavar="CONTEXT", help="Default: the one in force.")
    ] = None,
) -> None:
    """Show one context, with every value and where it stands."""
    from cacheroute_cli.config.load import load, unknown_context
    from cacheroute_cli.config.options import CONTEXT_OPTIONS
    from cacheroute_cli.config.printing import show
    from cacheroute_cli.config.rows import CONTEXT_VALUES, ValueRow
    from cacheroute_cli.diagnostics import UsageFault

    loaded = load(given)
    loaded.require_readable()
    held = loaded.in_force
    meant = name or held.context
    if meant is None:
        raise UsageFault("no context is in force", hint="'cacheroute context use NAME' chooses one")
    if meant not in held.contexts:
        raise unknown_context(meant, held, origin=None if name else held.context_origin)
    rows = [
        ValueRow(key=key, value=one.value, origin=one.origin, doc=CONTEXT_OPTIONS[key].doc)
        for key, one in held.contexts[meant].items()
    ]
    show(loaded, CONTEXT_VALUES, rows, content={"context": meant, "current": meant == held.context})


@app.command("use")
@with_given
def use(given: Given, name: NameArgument) -> None:
    """Make a context the current one."""
    from cacheroute_cli.config.load import load, unknown_context
    from cacheroute_cli.config.store import change, users_file
    from cacheroute_cli.config.toml_edit import with_current

    loaded = load(given)
    loaded.require_readable()
    if name not in loaded.in_force.contexts:
        raise unknown_context(name, loaded.in_force)
    change(users_file(loaded.places), lambda text: with_current(text, name))
    _say_what_holds(given, name)


@app.command("add")
@with_given
def add(
    given: Given,
    name: NameArgument,
    *,
    readonly: Annotated[
        bool, typer.Option("--readonly", help="Refuse every change at this Proxy.")
    ] = False,
    label: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Shown instead of the name.")
    ] = None,
    label_color: Annotated[
        str | None, typer.Option("--label-color", metavar="COLOR", help="Colour of the label.")
    ] = None,
    token_file: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="File with the token of its control plane."),
    ] = None,
    use_it: Annotated[bool, typer.Option("--use", help="Make it the current one.")] = False,
) -> None:
    """Add the context of the Proxy at --proxy-url, with its --scheduler-url if it has one."""
    from cacheroute_cli.config.load import load
    from cacheroute_cli.config.options import CONTEXT_OPTIONS, OPTIONS
    from cacheroute_cli.config.store import change, users_file
    from cacheroute_cli.config.toml_edit import with_context, with_current
    from cacheroute_cli.diagnostics import UsageFault

    if given.proxy_url is None:
        raise UsageFault("--proxy-url is missing: a context names a Proxy")
    said = {
        "proxy_url": given.proxy_url,
        "scheduler_url": given.scheduler_url,
        "readonly": readonly or None,
        "label": label,
        "color": label_color,
        "token_file": token_file,
    }
    values = {key: value for key, value in said.items() if value is not None}
    try:
        OPTIONS["current_context"].kind.read(name)
    except ValueError as problem:
        raise UsageFault(f"the name {problem}") from None
    for key, value in values.items():
        try:
            values[key] = CONTEXT_OPTIONS[key].kind.read(value)  # type: ignore[assignment]
        except ValueError as problem:
            raise UsageFault(f"{_SPELLED.get(key, key)} {problem}") from None
    loaded = load(given)
    loaded.require_readable()
    if name in loaded.in_force.contexts:
        raise ContextExists(
            f"there is a context {name!r} already",
            hint=f"'cacheroute context rm {shlex.quote(name)}' removes it, "
            "'cacheroute config edit' changes it",
        )

    def edit(text: str) -> str:
        text = with_context(text, name, values)
        return with_current(text, name) if use_it else text

    change(users_file(loaded.places), edit)
    if use_it:
        _say_what_holds(given, name)
    else:
        note(f"added; 'cacheroute context use {shlex.quote(name)}' makes it the current one")


@app.command("rm")
@with_given
def rm(given: Given, name: NameArgument) -> None:
    """Remove a context."""
    from cacheroute_cli.config.load import load, unknown_context
    from cacheroute_cli.config.sources import from_toml
    from cacheroute_cli.config.store import change, users_file
    from cacheroute_cli.config.toml_edit import without_context
    from cacheroute_cli.diagnostics import UsageFault

    loaded = load(given)
    loaded.require_readable()
    path = users_file(loaded.places)
    layer = from_toml(path)
    own = layer.contexts if layer else {}
    if name not in own:
        if name in loaded.in_force.contexts:
            origin = next(iter(loaded.in_force.contexts[name].values())).origin
            raise UsageFault(f"{origin}: context {name!r} stands there, and not in your {path}")
        raise unknown_context(name, loaded.in_force)
    was_current = layer is not None and name == getattr(
        layer.values.get("current_context"), "value", None
    )
    change(path, lambda text: without_context(text, name))
    note("removed" + ("; it was the current one, and none is now" if was_current else ""))


def _say_what_holds(given: Given, name: str) -> None:
    """Say when something outranks the choice that was just made."""
    from dataclasses import replace

    from cacheroute_cli.config.load import load

    held = load(replace(given, context=None, proxy_url=None)).in_force
    if held.context == name:
        note(f"the current context is {name}")
        return
    outranking = held.context_origin or held.values["proxy_url"].origin
    note(f"the current context is {name}, but {outranking} outranks it here")
