"""What a field of a request body may hold, where several bodies agree on it.

Everything is bounded, every number is finite, and `true` is not 1.
"""

from typing import Annotated, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from cacheroute.wire.paths import endpoint_of
from cacheroute.wire.strict_json import flaw_of

MAX_ID_CHARS = 264
"""Room for `hp_`, the longest host name, a colon and a port."""
MAX_LIST_ITEMS = 64
MAX_WORD_CHARS = 128

_Json = TypeVar("_Json")


def _not_bool(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("a number is needed, not a boolean")
    return value


def _sound(value: _Json) -> _Json:
    flaw = flaw_of(value)
    if flaw:
        raise ValueError(flaw)
    return value


def _blank_to_none(value: object) -> object:
    return None if isinstance(value, str) and not value.strip() else value


def _endpoint(value: str) -> str:
    name = endpoint_of(value)
    if not name:
        raise ValueError("an endpoint has a name, for example chat/completions")
    return name


InstanceId = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MAX_ID_CHARS, pattern=r"^[!-~]+$"),
]
"""Printable ASCII without spaces: it goes into headers, logs and metric labels."""

OptionalInstanceId = Annotated[InstanceId | None, BeforeValidator(_blank_to_none)]
"""An id that may be left out; blank is left out."""

Port = Annotated[int, BeforeValidator(_not_bool), Field(ge=1, le=65535)]

Finite = Annotated[float, BeforeValidator(_not_bool), Field(allow_inf_nan=False)]

NotNegative = Annotated[float, BeforeValidator(_not_bool), Field(ge=0, allow_inf_nan=False)]

Count = Annotated[int, BeforeValidator(_not_bool), Field(ge=0)]

Positive = Annotated[int, BeforeValidator(_not_bool), Field(gt=0, le=2**31)]

Word = Annotated[str, StringConstraints(min_length=1, max_length=MAX_WORD_CHARS)]

Endpoint = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_WORD_CHARS),
    AfterValidator(_endpoint),
]
"""`chat/completions`; a leading slash and `v1/` are taken off."""

Text = Annotated[str, StringConstraints(max_length=512)]

JsonObject = Annotated[dict[str, object], AfterValidator(_sound)]
"""Free JSON that is kept and shown again: finite numbers, bounded depth."""
