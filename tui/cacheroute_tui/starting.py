"""From what was typed to what the console is started with: contexts, tokens, theme and keys."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from cacheroute.console.keys import remapped
from cacheroute.console.rows.screen_columns import sorted_out
from cacheroute_cli.config.doubts import bindings_in, doubts, require_screen_interval
from cacheroute_cli.config.load import Loaded, load
from cacheroute_cli.config.rules import rules_of
from cacheroute_cli.context import Context, Given, resolve
from cacheroute_cli.diagnostics import Fault
from cacheroute_tui.options import MAX_INTERVAL_S, MIN_INTERVAL_S, Target, TuiOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """What the command line of the console says beside the common options; None is not said."""

    screen: str | None = None
    interval_s: float | None = None
    theme: str | None = None
    write: bool = False
    mouse: bool | None = None
    source: str | None = None
    """`demo:SEED` or `replay:FILE` in the place of a Proxy."""


def options_of(given: Given, typed: Typed, environ: Mapping[str, str]) -> TuiOptions:
    """Put it together; raises Fault for what cannot be used. A theme of `auto` stays so."""
    context = resolve(given, environ)
    loaded = load(given, environ)
    held = loaded.in_force.values
    said: dict[str, Any] = {key: one.value for key, one in held.items()}
    if typed.interval_s is not None:
        require_screen_interval(typed.interval_s)
    interval_s = said["tui.interval"] if typed.interval_s is None else typed.interval_s
    target = target_of(context, is_named=typed.write)
    if typed.source is not None:
        target = Target(proxy_url=typed.source, name=typed.source.partition(":")[0], readonly=True)
    return TuiOptions(
        target=target,
        targets=_targets(given, loaded, target, environ),
        screen=typed.screen or "overview",
        interval_s=min(max(interval_s, MIN_INTERVAL_S), MAX_INTERVAL_S),
        theme=typed.theme or said["tui.theme"],
        write=typed.write,
        mouse=said["tui.mouse"] if typed.mouse is None else typed.mouse,
        ascii=context.ascii,
        clipboard=said["tui.clipboard"],
        keys=remapped(bindings_in(held)).keys,
        columns=sorted_out(said["tui.columns"] or ()).keys,
        doubts=doubts(held),
    )


def target_of(context: Context, *, is_named: bool = False) -> Target:
    """Return the Proxy of a context; one that `--write` was typed for takes changes."""
    return Target(
        proxy_url=context.proxy_url,
        name=context.name,
        label=context.label,
        token=context.token,
        token_origin=context.token_origin,
        token_file=context.token_file,
        readonly=context.readonly and not is_named,
        timeout_s=context.timeout_s,
        rules=rules_of(context.alerts),
    )


def _targets(
    given: Given, loaded: Loaded, first: Target, environ: Mapping[str, str]
) -> tuple[Target, ...]:
    """Return every context that can be used, the one that was asked for first."""
    found = [first]
    for name in loaded.in_force.contexts:
        if name == first.name:
            continue
        try:
            # An address that was typed is that of the first one alone.
            context = resolve(replace(given, context=name, proxy_url=None, token=None), environ)
        except Fault:
            continue
        found.append(target_of(context))
    return tuple(found)
