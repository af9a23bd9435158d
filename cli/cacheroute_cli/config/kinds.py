"""What values of the configuration may be: how each is read, and how a schema says it.

A value that cannot be is a ValueError whose text goes on behind the name of its key.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

_YES = {"1": True, "true": True, "yes": True, "on": True}
_NO = {"0": False, "false": False, "no": False, "off": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One sort of value."""

    read: Callable[[object], object]
    """Takes what a file says; raises ValueError."""
    schema: Mapping[str, Any]
    """The same, as JSON Schema says it."""
    from_text: Callable[[str], object] = str
    """Makes of a variable's text what a file would say."""


def text(most: int = 200) -> Kind:
    """Build the kind of short texts."""

    def read(value: object) -> str:
        if not isinstance(value, str) or not value:
            raise ValueError(f"must be a text, not {shown(value)}")
        if len(value) > most or not value.isprintable():
            raise ValueError(f"must be a line of at most {most} characters")
        return value

    return Kind(read=read, schema={"type": "string", "minLength": 1, "maxLength": most})


def url() -> Kind:
    """Build the kind of addresses of a control plane."""

    def read(value: object) -> str:
        from cacheroute_cli import context
        from cacheroute_cli.diagnostics import UsageFault

        if not isinstance(value, str):
            raise ValueError(f"must be a URL, not {shown(value)}")
        try:
            return context.base_url(value)
        except UsageFault as fault:
            raise ValueError(f"must be a URL such as http://host:port, not {value!r}") from fault

    return Kind(read=read, schema={"type": "string", "format": "uri"})


def flag() -> Kind:
    """Build the kind of yes and no."""

    def read(value: object) -> bool:
        if not isinstance(value, bool):
            raise ValueError(f"must be true or false, not {shown(value)}")
        return value

    def from_text(said: str) -> object:
        return {**_YES, **_NO}.get(said.lower(), said)

    return Kind(read=read, schema={"type": "boolean"}, from_text=from_text)


def number(least: float, most: float = 1e9) -> Kind:
    """Build the kind of numbers between two bounds."""

    def read(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
            raise ValueError(f"must be a number, not {shown(value)}")
        if not least <= value <= most:
            raise ValueError(f"must be between {least:g} and {most:g}, not {value:g}")
        return value

    return Kind(
        read=read,
        schema={"type": "number", "minimum": least, "maximum": most},
        from_text=_number_or_text,
    )


def choice(*names: str) -> Kind:
    """Build the kind of one name out of several."""

    def read(value: object) -> str:
        if value not in names:
            raise ValueError(f"must be one of {', '.join(names)}, not {shown(value)}")
        return str(value)

    return Kind(read=read, schema={"enum": list(names)})


def texts(most: int = 64) -> Kind:
    """Build the kind of lists of names."""

    def read(value: object) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise ValueError(f"must be a list of texts, not {shown(value)}")
        if len(value) > most:
            raise ValueError(f"must have at most {most} entries, not {len(value)}")
        return tuple(value)

    schema = {"type": "array", "items": {"type": "string"}, "maxItems": most}
    return Kind(read=read, schema=schema, from_text=lambda said: said.split(","))


def band(least: float, most: float) -> Kind:
    """Build the kind of two thresholds, the lower one first."""
    one = number(least, most)

    def read(value: object) -> tuple[float, float]:
        if not isinstance(value, list | tuple) or len(value) != 2:
            raise ValueError(f"must be two numbers, to warn at and to be bad, not {shown(value)}")
        warn, bad = (one.read(part) for part in value)
        if warn > bad:  # type: ignore[operator]  # both are numbers
            raise ValueError(f"must have the lower number first, not {shown(value)}")
        return warn, bad  # type: ignore[return-value]

    items = dict(one.schema)
    return Kind(read=read, schema={"type": "array", "items": items, "minItems": 2, "maxItems": 2})


def shown(value: object) -> str:
    """Write a value into a sentence, cut where it is long."""
    said = repr(value) if not isinstance(value, bool) else str(value).lower()
    return said if len(said) <= 60 else said[:59] + "…"


def _number_or_text(said: str) -> object:
    try:
        return float(said)
    except ValueError:
        return said
