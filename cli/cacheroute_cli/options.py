"""The options every command has, attached in one place.

So `cacheroute -o json instances` and `cacheroute instances -o json` are the same.
"""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from cacheroute_cli.context import Color, Context, Format, Given, resolve

OutputOption = Annotated[
    Format | None,
    typer.Option("--output", "-o", help="What to print on stdout (default: table)."),
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

COMMON: dict[str, Any] = {
    "output": OutputOption,
    "proxy_url": ProxyUrlOption,
    "timeout_s": TimeoutOption,
    "token": TokenOption,
    "color": ColorOption,
}
"""Parameter name to annotation, in the order of the help text."""


def with_context(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the common options; they reach it as its first argument, a Context."""

    @wraps(command)
    def run(ctx: typer.Context, **values: Any) -> None:
        given = Given(**{name: values.pop(name) for name in COMMON})
        earlier = ctx.obj if isinstance(ctx.obj, Given) else Given()
        command(resolve(given.over(earlier)), **values)

    own = list(inspect.signature(command, eval_str=True).parameters.values())
    if not own or own[0].annotation is not Context:
        raise TypeError(f"the first parameter of {command.__name__} must be a Context")
    parameters = [
        inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context),
        *(p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own[1:]),
        *(
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
            )
            for name, annotation in COMMON.items()
        ),
    ]
    vars(run)["__signature__"] = inspect.Signature(parameters)
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run
