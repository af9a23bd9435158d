"""What was typed wrongly, in one sentence: which option or argument, and what it must be.

The toolkit's own sentences name neither the value nor, for arguments, what help calls them.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_MUST: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "int_parsing": lambda _: "a whole number",
    "int_parsing_size": lambda _: "a smaller number",
    "float_parsing": lambda _: "a number",
    "greater_than_equal": lambda bounds: f"at least {_plain_number(bounds['ge'])}",
    "less_than_equal": lambda bounds: f"at most {_plain_number(bounds['le'])}",
}
"""What a value must be, by what the converter says is wrong with it."""
_UNKNOWN_COMMAND = re.compile(
    r"^No such command '(?P<name>.*?)'\.(?: Did you mean (?P<near>.*)\?)?$"
)
_TOO_MANY = re.compile(r"^Got unexpected extra argument(?:s|\(s\))? \((?P<extra>.*)\)$")


def sentence(problem: Any) -> str:
    """Say what is wrong; `problem` is any exception of the toolkit."""
    say = _SAYERS.get(type(problem).__name__)
    return (say(problem) if say else None) or _as_it_says(problem)


def unknown_command(name: str, near: Sequence[str]) -> str:
    """Say that there is no such command, with those that may have been meant."""
    return f"there is no command {name!r}{did_you_mean(near)}"


def did_you_mean(near: Sequence[str]) -> str:
    """Return the end of a sentence about a name that is nearly another one."""
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""


def _bad_value(problem: Any) -> str | None:
    if problem.param is None:
        return None
    name, cause = _name(problem.param), problem.__cause__
    wrong = cause.errors()[0] if hasattr(cause, "errors") else {}
    if must := _MUST.get(wrong.get("type", "")):
        return f"{name} must be {must(wrong.get('ctx') or {})}, not {_typed(wrong['input'])}"
    choices = _choices(problem.param)
    if choices and isinstance(wrong.get("input"), str):
        return f"{name} must be one of {', '.join(choices)}, not {wrong['input']!r}"
    return f"{name}: {_plain(problem.message)}"


def _missing(problem: Any) -> str | None:
    if problem.param is None:
        return None
    choices = _choices(problem.param)
    of_them = f"; it is one of {', '.join(choices)}" if choices else ""
    return f"{_name(problem.param)} is missing{of_them}"


def _no_option(problem: Any) -> str:
    near = did_you_mean(sorted(problem.possibilities or ()))
    return f"there is no option {problem.option_name}{near}"


def _no_value(problem: Any) -> str | None:
    wants_one = problem.message.endswith("requires an argument.")
    return f"{problem.option_name} needs a value" if wants_one else None


def _other(problem: Any) -> str | None:
    if found := _UNKNOWN_COMMAND.match(problem.message):
        return unknown_command(found["name"], re.findall(r"'(.+?)'", found["near"] or ""))
    if found := _TOO_MANY.match(problem.message):
        return f"more was typed than is taken here: {found['extra']}"
    return None


def _as_it_says(problem: Any) -> str:
    return _plain(problem.format_message())


def _plain(message: str) -> str:
    message = message.removeprefix("Value error, ").rstrip(".")
    return message[:1].lower() + message[1:].replace("Value error, ", "")


def _plain_number(bound: float) -> str:
    return str(int(bound)) if float(bound).is_integer() else f"{bound:g}"


def _typed(value: object) -> str:
    """Write a number as it was typed, and anything else so that blanks can be seen."""
    try:
        float(str(value))
    except ValueError:
        return repr(value)
    return str(value)


def _name(param: Any) -> str:
    long = [spelling for spelling in param.opts if spelling.startswith("--")]
    if long or param.param_type_name == "option":
        return str((long or param.opts)[0])
    return str(param.metavar or param.name.upper()).removeprefix("-- ").removesuffix("...")


def _choices(param: Any) -> Sequence[str]:
    return tuple(map(str, param.type_descriptor.choices or ()))


_SAYERS: Mapping[str, Callable[[Any], str | None]] = {
    "BadParameter": _bad_value,
    "MissingParameter": _missing,
    "NoSuchOption": _no_option,
    "BadOptionUsage": _no_value,
    "UsageError": _other,
}
"""Who says what, by the name of the toolkit's exception."""
