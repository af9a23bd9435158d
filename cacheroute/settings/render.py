"""The settings as tables: all that exist for the README, those in force with who gave them.

Secrets are never shown, only that they are set.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import SecretStr

from cacheroute.formats.units import render_bytes, render_duration
from cacheroute.settings.instances import Backend, StaticInstance
from cacheroute.settings.load import Loaded
from cacheroute.settings.names import FLAT_NAMES, GATEWAY_KEYS
from cacheroute.settings.options import Kind, Option, options
from cacheroute.settings.tree import Settings
from cacheroute.wire.topology import LinkBody

NONE = "none"
SET = "(set)"


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginRow:
    """One setting in force."""

    key: str
    """Its path: `proxy.port`."""
    value: str
    """Its value as people write it; `(set)` for a secret."""
    origin: str
    """Who gave it: `default`, `cacheroute.yaml:12`, `PROXY_CP_PORT`, `--set`."""


def settings_table() -> str:
    """Return a Markdown table of every setting, in the order of the tree."""
    head = ("Setting", "Environment", "Default", "Meaning")
    rows = [
        (
            _code(_names(option.key, GATEWAY_KEYS.items())),
            _code(_names(option.env_name, FLAT_NAMES.items(), key=option.key)),
            _code([_default(option)]) if option.default not in (None, (), {}) else NONE,
            option.doc.replace("|", "\\|"),
        )
        for option in options().values()
    ]
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def origin_rows(loaded: Loaded) -> list[OriginRow]:
    """Return every setting in force with who gave it, in the order of the tree."""
    return [
        OriginRow(
            key=option.key,
            value=render_value(option, value_of(loaded.settings, option)),
            origin=loaded.origins[option.key],
        )
        for option in options().values()
    ]


def value_of(settings: Settings, option: Option) -> object:
    """Return the value of one setting."""
    value: object = settings
    for part in option.path:
        value = getattr(value, part)
    return value


def render_value(option: Option, value: object) -> str:
    """Return a value as people write it in a file."""
    match value:
        case None | ():
            return NONE
        case dict():
            return json.dumps(value, default=_as_reported) if value else NONE
        case bool():
            return str(value).lower()
        case int() | float() if option.kind is Kind.DURATION:
            return render_duration(value)
        case int() if option.kind is Kind.SIZE:
            return render_bytes(value)
        case float():
            return repr(value).removesuffix(".0")
        case tuple():
            return ", ".join(_render_entry(entry) for entry in value)
        case _:
            return _render_entry(value)


def _render_entry(entry: object) -> str:
    match entry:
        case SecretStr():
            return SET
        case StaticInstance(origin=origin, api_key=key):
            return f"{origin}{f',api_key={SET}' if key else ''}"
        case Backend(name=name, url=url):
            return f"{name} ({url})"
        case _:
            return str(entry)


def _as_reported(link: object) -> object:
    return link.as_reported() if isinstance(link, LinkBody) else str(link)


def _default(option: Option) -> str:
    return render_value(option, option.default)


def _names(own: str, others: Iterable[tuple[str, str]], key: str | None = None) -> list[str]:
    return [own, *(name for name, target in others if target == (key or own))]


def _code(texts: list[str]) -> str:
    return ", ".join(f"`{text}`" for text in texts)
