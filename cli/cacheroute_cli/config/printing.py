"""Lists about the configuration on stdout, also where the configuration itself is broken."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from cacheroute.console.columns import Column, Kind
from cacheroute_cli.config.load import Loaded
from cacheroute_cli.context import Context, is_ascii_terminal

R = TypeVar("R")


def context_for(loaded: Loaded) -> Context:
    """Return what is known of how to print; whatever is wrong counts as not said."""
    value = {key: one.value for key, one in loaded.in_force.values.items()}
    as_ascii = is_ascii_terminal(os.environ) if value["ascii"] is None else value["ascii"]
    return Context(
        output=value["output"], color=value["color"], ascii=as_ascii, name=loaded.in_force.context
    )


def show(
    loaded: Loaded,
    kind: Kind[R],
    rows: Sequence[R],
    *,
    columns: tuple[Column[R], ...] | None = None,
    content: Mapping[str, Any] | None = None,
) -> None:
    """Print a list in the format that was asked for, or that suits stdout."""
    from cacheroute_cli.looking import print_view
    from cacheroute_cli.views import ListView

    context = context_for(loaded)
    view = ListView(
        kind=kind,
        rows=rows,
        total=len(rows),
        columns=None if context.output in ("wide", "csv") else columns,
        headers=None,
        content=content or {},
        footer="",
    )
    print_view(context, view)
