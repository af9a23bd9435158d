"""The options every command has, attached in one place.

So `cacheroute -o json instances` and `cacheroute instances -o json` are the same.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Annotated, Any

import typer

from cacheroute_cli.context import Color, Context, Format, Given, resolve
from cacheroute_cli.diagnostics import UsageFault, speak

OutputOption = Annotated[
    Format | None,
    typer.Option(
        "--output",
        "-o",
        help="What to print on stdout (default: table for people, plain in a pipe).",
    ),
]
ProxyUrlOption = Annotated[
    str | None,
    typer.Option(
        "--proxy-url",
        metavar="URL",
        help="Control plane of the Proxy (env: CACHEROUTE_PROXY_URL, PROXY_CP_URL) (default: http://127.0.0.1:8002).",
    ),
]
TimeoutOption = Annotated[
    float | None,
    typer.Option("--timeout", metavar="S", help="Longest wait for an answer (default: 5)."),
]
TokenOption = Annotated[
    str | None,
    typer.Option(
        "--token",
        metavar="TOKEN",
        help="Token of the control plane; better in CACHEROUTE_TOKEN, where no list shows it.",
    ),
]
ColorOption = Annotated[
    Color | None,
    typer.Option("--color", help="When to colour (default: auto)."),
]

AsciiOption = Annotated[
    bool | None,
    typer.Option("--ascii/--no-ascii", help="Write signs as letters.", show_default=False),
]

ContextOption = Annotated[
    str | None,
    typer.Option(
        "--context", "-c", metavar="NAME",
        help="Context of the configuration: which Proxy, and what may be done there "
        "(env: CACHEROUTE_CONTEXT).",
    ),
]  # fmt: skip
SchedulerUrlOption = Annotated[
    str | None,
    typer.Option(
        "--scheduler-url", metavar="URL",
        help="Control plane of a Scheduler to ask (env: CACHEROUTE_SCHEDULER_URL).",
    ),
]  # fmt: skip
ConfigOption = Annotated[
    str | None,
    typer.Option(
        "--config", metavar="FILE",
        help="Configuration of the console to read in the place of your own.",
    ),
]  # fmt: skip
NoInputOption = Annotated[
    bool | None, typer.Option("--no-input", help="Ask nothing.", show_default=False)
]
QuietOption = Annotated[
    bool | None,
    typer.Option("--quiet", "-q", help="Say nothing but data and errors.", show_default=False),
]
VerboseOption = Annotated[
    bool | None,
    typer.Option("--verbose", "-v", help="Say what is asked of whom.", show_default=False),
]
DebugOption = Annotated[
    bool | None,
    typer.Option("--debug", help="Print the traceback of a bug.", show_default=False),
]

COMMON: dict[str, Any] = {
    "output": OutputOption,
    "context": ContextOption,
    "proxy_url": ProxyUrlOption,
    "scheduler_url": SchedulerUrlOption,
    "timeout_s": TimeoutOption,
    "token": TokenOption,
    "color": ColorOption,
    "ascii": AsciiOption,
    "config_file": ConfigOption,
    "no_input": NoInputOption,
    "quiet": QuietOption,
    "verbose": VerboseOption,
    "debug": DebugOption,
}
"""Parameter name to annotation, in the order of the help text."""

_SPELLINGS = {"interval_s": "--interval", "headers": "--headers"}


def with_context(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the common options; they reach it as its first argument, a Context."""

    return attach(command, Context, {}, lambda given, _: context_of(given))


def with_table_context(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that prints a table, and is no list, the common options: it has CSV too."""
    return attach(command, Context, {}, lambda given, _: context_of(given, lacks=("name",)))


def context_of(given: Given, *, lacks: Sequence[Format] = ("csv", "name")) -> Context:
    """Return the context of a command that is no list; raises UsageFault for a list's options."""
    refuse(given.for_lists)
    if given.output in lacks:
        raise UsageFault(f"there is no {given.output} of this; that is for lists")
    return resolve(given)


def refuse(typed: Iterable[str]) -> None:
    """Raise UsageFault for the first of the options that a command can do nothing with."""
    for name in typed:
        spelling = _SPELLINGS.get(name, f"--{name}")
        raise UsageFault(f"{spelling} means nothing to this command")


def attach(
    command: Callable[..., None],
    first: type,
    options: Mapping[str, Any],
    build: Callable[[Given, dict[str, Any]], Any],
) -> Callable[..., None]:
    """Give a command the common options and more; `build` makes its first argument of them."""

    @wraps(command)
    def run(ctx: typer.Context, **values: Any) -> None:
        given = Given(**{name: values.pop(name) for name in common})
        more = {name: values.pop(name) for name in options}
        given = replace(given, **{name: more[name] for name in more if hasattr(given, name)})
        given = given.over(ctx.obj if isinstance(ctx.obj, Given) else Given())
        speak(quiet=bool(given.quiet), verbose=bool(given.verbose))
        try:
            command(build(given, more), **values)
        finally:
            # What one command of a prompt keeps to itself, the next may say.
            speak()

    own = list(inspect.signature(command, eval_str=True).parameters.values())
    if not own or own[0].annotation is not first:
        raise TypeError(f"the first parameter of {command.__name__} must be a {first.__name__}")
    taken = {spelling for parameter in own[1:] for spelling in _spellings(parameter)}
    common = {
        name: annotation
        for name, annotation in COMMON.items()
        if not taken.intersection(_declared(annotation))
    }
    parameters = [
        inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context),
        *(p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own[1:]),
        *(
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
            )
            for name, annotation in {**options, **common}.items()
        ),
    ]
    vars(run)["__signature__"] = inspect.Signature(parameters)
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def with_given(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the common options as typed: it works where the configuration does not."""
    return attach(command, Given, {}, lambda given, _: given)


def _spellings(parameter: inspect.Parameter) -> tuple[str, ...]:
    """Return how an option of a command's own is typed; what it takes is not common any more."""
    return _declared(parameter.annotation) or (f"--{parameter.name.strip('_').replace('_', '-')}",)


def _declared(annotation: Any) -> tuple[str, ...]:
    """Return the spellings that an annotation gives; the toolkit keeps the first as a default."""
    return tuple(
        part
        for info in getattr(annotation, "__metadata__", ())
        for declared in (
            getattr(info, "default", None),
            *(getattr(info, "param_decls", None) or ()),
        )
        if isinstance(declared, str) and declared.startswith("-")
        for part in declared.split("/")
    )
