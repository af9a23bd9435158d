"""What pydantic found wrong, as sentences that follow a key: "must be a whole number, not 'x'"."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from cacheroute.settings.values import SECRET_KEYS, InnerPath

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_MIN_HIDDEN_CHARS = 4
_MAX_SHOWN_CHARS = 60

_SENTENCES: Mapping[str, str] = {
    "bool_parsing": "must be true or false, not {shown}",
    "bool_type": "must be true or false, not {shown}",
    "dataclass_type": "must hold keys and values, not {shown}",
    "dict_type": "must hold keys and values, not {shown}",
    "finite_number": "must be a finite number, not {shown}",
    "float_parsing": "must be a number, not {shown}",
    "float_type": "must be a number, not {shown}",
    "greater_than": "must be more than {gt}, not {shown}",
    "greater_than_equal": "must be {ge} or more, not {shown}",
    "int_from_float": "must be a whole number, not {shown}",
    "int_parsing": "must be a whole number, not {shown}",
    "int_parsing_size": "must be a smaller number",
    "int_type": "must be a whole number, not {shown}",
    "less_than_equal": "must be {le} or less, not {shown}",
    "list_type": "must be a list, not {shown}",
    "literal_error": "must be {expected}, not {shown}",
    "missing": "is required",
    "model_type": "must hold keys and values, not {shown}",
    "path_type": "must be a path, not {shown}",
    "string_type": "must be text, not {shown}; write it in quotes",
    "tuple_type": "must be a list, not {shown}",
}


def sentence(error: "ErrorDetails") -> str:
    """Say what is wrong with a value; what may be a secret is never repeated."""
    context: dict[str, Any] = error.get("ctx", {})
    cause = context.get("error")
    if isinstance(cause, ValueError):
        return str(cause)
    template = _SENTENCES.get(error["type"])
    if error["input"] is None and error["type"] != "missing":
        return "needs a value"
    if template is None:
        return error["msg"][:1].lower() + error["msg"][1:]
    if SECRET_KEYS.intersection(error["loc"]):
        template = template.replace(", not {shown}", "")
    bounds = {name: f"{bound:g}" for name, bound in context.items() if isinstance(bound, float)}
    return template.format(**context | bounds | {"shown": _show(error["input"])})


def located(
    error: "ErrorDetails", fields_of: Callable[[InnerPath], tuple[str, ...]]
) -> tuple[InnerPath, str]:
    """Return where an error belongs and its sentence.

    A rule of a whole section begins its sentence with the field it is about, which makes it
    an error of that field.
    """
    text = sentence(error)
    first, _, rest = text.partition(" ")
    if error["type"] == "value_error" and first in fields_of(error["loc"]):
        return (*error["loc"], first), rest
    return error["loc"], text


def scrub(text: str, hidden: Mapping[str, str]) -> str:
    """Replace every hidden text by what may be shown instead, longest first."""
    for secret in sorted(hidden, key=len, reverse=True):
        if len(secret) >= _MIN_HIDDEN_CHARS:
            text = text.replace(secret, hidden[secret])
    return text


def _show(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case dict():
            return "keys and values"
        case list() | tuple():
            return "a list"
        case _:
            text = repr(value)
            return text if len(text) <= _MAX_SHOWN_CHARS else f"{text[:_MAX_SHOWN_CHARS]}…"
