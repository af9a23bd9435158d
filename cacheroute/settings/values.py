"""One value on its way in: from text to a shape, from `env:NAME` to what it stands for.

Types are pydantic's work; this is what pydantic cannot know: units by name, lists in one line
of text, references to the environment, and which texts are secrets that nobody may repeat.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from cacheroute.formats.units import parse_bytes, parse_duration
from cacheroute.settings.instances import SEPARATOR
from cacheroute.settings.options import Kind, Option

InnerPath = tuple[str | int, ...]
"""Where something stands inside a value: keys, and indices of lists."""

_REFERENCE = re.compile(r"(?P<before>(?:.*,\s*api_key=)?)env:(?P<name>.*)", re.DOTALL)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_NONE = frozenset(("", "none", "null", "~"))
SECRET_KEYS = frozenset(("api_key", "token"))
"""Last parts of the keys whose values nobody may repeat."""


def read_text(option: Option, text: str) -> object:
    """Give a text from the environment or the command line the shape its setting takes."""
    stripped = text.strip()
    if option.kind is Kind.SECTIONS:
        return _read_json(stripped, example='[{"name": "a", "url": "http://10.0.0.7:8000"}]')
    if option.kind is Kind.MAPPING:
        return _read_json(stripped, "object", example='{"a:9101": {"bandwidth_mbps": 1000}}')
    if option.kind is Kind.LIST:
        if stripped.startswith("["):
            return _read_json(stripped, example='["a", "b"]')
        return split_list(stripped)
    if option.nullable and stripped.lower() in _NONE:
        return None
    return stripped


def split_list(text: str) -> list[str]:
    """Split a line at its commas; a key stays with the URL before it."""
    return [part.strip() for part in SEPARATOR.split(text) if part.strip()]


@dataclass(slots=True)
class References:
    """Reads `env:NAME`, and remembers what each stood for."""

    environ: Mapping[str, str]
    hidden: dict[str, str]
    """What references stood for, with the reference to show in its place."""
    found: dict[InnerPath, str] = field(default_factory=dict)
    """Where inside the value each reference stood."""
    missing: list[tuple[InnerPath, str]] = field(default_factory=list)
    """Where inside the value a reference led nowhere, and why."""

    def resolve(self, value: object, inner: InnerPath = ()) -> object:
        """Replace every reference inside a value; one that leads nowhere becomes None."""
        match value:
            case dict():
                return {key: self.resolve(one, (*inner, str(key))) for key, one in value.items()}
            case list():
                return [self.resolve(one, (*inner, at)) for at, one in enumerate(value)]
            case str() if found := _REFERENCE.fullmatch(value.strip()):
                return self._look_up(found["before"], found["name"].strip(), inner)
            case _:
                return value

    def _look_up(self, before: str, name: str, inner: InnerPath) -> str | None:
        meant = self.environ.get(name, "").strip()
        if not _VARIABLE.fullmatch(name):
            self.missing.append((inner, "env: takes the name of a variable, as in env:KEY"))
        elif not meant:
            state = "empty" if name in self.environ else "not set"
            self.missing.append((inner, f"the environment variable {name} is {state}"))
        else:
            self.hidden[meant] = self.found[inner] = f"env:{name}"
            return before + meant
        return None


def convert(option: Option, value: object) -> object:
    """Read durations and sizes, and refuse what pydantic would let pass: true as a number."""
    if value is None:
        if not option.nullable:
            raise ValueError("needs a value")
    elif isinstance(value, bool) and option.kind not in (Kind.FLAG, Kind.TEXT):
        raise ValueError(f"must be a {option.kind.value}, not {str(value).lower()}")
    elif isinstance(value, str) and option.kind is Kind.DURATION:
        return parse_duration(value)
    elif isinstance(value, str) and option.kind is Kind.SIZE:
        return parse_bytes(value)
    return value


def is_reference(value: object) -> bool:
    """Whether a value is nothing but a reference to the environment."""
    return isinstance(value, str) and value.strip().startswith("env:")


def literal_secrets(key: str, value: object) -> Iterator[str]:
    """Yield every secret that is written out in a value."""
    match value:
        case dict():
            for inner_key, inner in value.items():
                yield from literal_secrets(str(inner_key), inner)
        case list():
            for inner in value:
                yield from literal_secrets(key, inner)
        case str():
            secret = value if key in SECRET_KEYS else value.partition("api_key=")[2]
            if secret.strip() and not is_reference(secret):
                yield secret.strip()
        case _:
            pass


def _read_json(text: str, shape: str = "list", *, example: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"must be a JSON {shape} such as {example}") from None
