"""What the console cannot use of a configuration that is well-formed: names that nothing has.

A command does not care, and the console goes on without them; who asks whether the configuration
is good is told. Each doubt is a sentence that begins with its place.
"""

from collections.abc import Iterator, Mapping, Sequence

from cacheroute_cli.config.layers import Value
from cacheroute_cli.config.options import KEYS, MAX_SCREEN_INTERVAL_S, MIN_SCREEN_INTERVAL_S
from cacheroute_cli.diagnostics import UsageFault

_BINDING = f"{KEYS}."
_COLUMNS = "tui.columns"
_INTERVAL = "tui.interval"


def doubts(values: Mapping[str, Value]) -> list[str]:
    """Return them all; `values` are by the path of the key, of one source or of all."""
    return [*_about_interval(values), *_about_columns(values), *_about_keys(values)]


def _about_interval(values: Mapping[str, Value]) -> Iterator[str]:
    said = values.get(_INTERVAL)
    if said is None or MIN_SCREEN_INTERVAL_S <= said.value <= MAX_SCREEN_INTERVAL_S:
        return
    # A watch takes it, so that what was typed for one must not be an error.
    if not said.origin.startswith("-"):
        yield (
            f"{said.origin}: {_INTERVAL} is {said.value:g}, and the console looks every "
            f"{MIN_SCREEN_INTERVAL_S:g} to {MAX_SCREEN_INTERVAL_S:g} s"
        )


def _about_columns(values: Mapping[str, Value]) -> Iterator[str]:
    said = values.get(_COLUMNS)
    if said is None or not said.value:
        return
    from cacheroute.console.rows.screen_columns import sorted_out

    for problem in sorted_out(said.value).problems:
        yield f"{said.origin}: {_COLUMNS}: {problem}"


def _about_keys(values: Mapping[str, Value]) -> Iterator[str]:
    said = bindings_in(values)
    if not said:
        return
    from cacheroute.console.keys import remapped

    for problem in remapped(said).problems:
        name = f"{_BINDING}{problem.id}"
        yield f"{values[name].origin}: {name} {problem.why}"


def require_screen_interval(interval_s: float) -> None:
    """Raise UsageFault for a typed time between two looks that the console cannot keep."""
    if not MIN_SCREEN_INTERVAL_S <= interval_s <= MAX_SCREEN_INTERVAL_S:
        raise UsageFault(
            f"--interval must be between {MIN_SCREEN_INTERVAL_S:g} and "
            f"{MAX_SCREEN_INTERVAL_S:g} s, not {interval_s:g}"
        )


def bindings_in(values: Mapping[str, Value]) -> dict[str, str]:
    """Return the keys that actions are given, by the id as it was written."""
    return {
        key.removeprefix(_BINDING): str(one.value)
        for key, one in values.items()
        if key.startswith(_BINDING)
    }


def first_few(found: Sequence[str], most: int = 3) -> str:
    """Write doubts, a line each, so that they fit into a corner of a screen."""
    more = len(found) - most
    rest = [f"… and {more} more: 'cacheroute config validate' names all"] if more > 0 else []
    return "\n".join([*found[:most], *rest])
