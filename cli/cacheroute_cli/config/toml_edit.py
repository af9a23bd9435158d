"""Edits of a TOML text that leave every other line, comment and order as somebody wrote it.

Each edit is proven: the new text must mean the old one with exactly the change in it, or
CannotEdit is raised and nothing is lost.
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from cacheroute_cli.config.options import CONTEXTS
from cacheroute_cli.config.toml_lines import Statement, statements

CURRENT = "current_context"


class CannotEdit(Exception):
    """The text is written in a way that this cannot change; the message says where."""


def with_current(text: str, name: str) -> str:
    """Return the text with another current context."""
    found = list(statements(text))
    line = f"{CURRENT} = {_quoted(name)}"
    there = next((one for one in found if one.path == (CURRENT,)), None)
    if there is not None and there.value is not None:
        start, end = there.value
        new = text[:start] + _quoted(name) + text[end:]
    else:
        at = _top_of(text, found)
        gap = "\n" if text[at:].strip() and not text[at:].startswith("\n") else ""
        new = text[:at] + line + "\n" + gap + text[at:]
    return _proven(text, new, lambda document: {**document, CURRENT: name})


def with_context(text: str, name: str, values: Mapping[str, Any]) -> str:
    """Return the text with one more context, written as the others are."""
    found = list(statements(text))
    contexts = [one for one in found if one.path[:1] == (CONTEXTS,)]
    inline = "{ " + ", ".join(f"{key} = {written(value)}" for key, value in values.items()) + " }"
    if any(one.path == (CONTEXTS,) and not one.is_header for one in contexts):
        raise CannotEdit(f"line {contexts[0].line}: {CONTEXTS} is one inline table")
    alike = [one for one in contexts if not one.is_header and len(one.path) == 2]
    if alike:
        last = alike[-1]
        key = _key(name) if last.above else f"{CONTEXTS}.{_key(name)}"
        line = f"{key} = {inline}\n"
        new = text[: last.end] + _broken_off(text[: last.end]) + line + text[last.end :]
    else:
        head = text.rstrip("\n")
        table = [f"[{CONTEXTS}.{_key(name)}]"]
        table += [f"{key} = {written(value)}" for key, value in values.items()]
        new = (head + "\n\n" if head else "") + "\n".join(table) + "\n"

    def wanted(document: dict[str, Any]) -> dict[str, Any]:
        return {**document, CONTEXTS: {**document.get(CONTEXTS, {}), name: dict(values)}}

    return _proven(text, new, wanted)


def without_context(text: str, name: str) -> str:
    """Return the text without a context, and without naming it the current one."""
    path = (CONTEXTS, name)
    current = tomllib.loads(text).get(CURRENT) == name
    doomed = [
        one
        for one in statements(text)
        if one.path[:2] == path or (current and one.path == (CURRENT,))
    ]
    new = text
    for one in reversed(doomed):
        before, after = new[: one.start], new[one.end :]
        if before.endswith("\n\n") and after[:1] in ("", "\n"):
            before = before[:-1]
        new = before + after
    if not text.endswith("\n\n"):
        new = new.rstrip("\n") + "\n" if new.strip() else ""
    if not text.startswith("\n"):
        new = new.lstrip("\n")

    def wanted(document: dict[str, Any]) -> dict[str, Any]:
        rest = {key: value for key, value in document[CONTEXTS].items() if key != name}
        kept = {
            k: v for k, v in document.items() if k != CONTEXTS and not (current and k == CURRENT)
        }
        return {**kept, CONTEXTS: rest} if rest else kept

    return _proven(text, new, wanted)


def _proven(text: str, new: str, change: Any) -> str:
    try:
        means = tomllib.loads(new)
    except tomllib.TOMLDecodeError as problem:
        raise CannotEdit(
            f"the file is written in a way that has no room for it ({problem})"
        ) from None
    wanted = change(tomllib.loads(text))
    if _without_empty(means) != _without_empty(wanted):
        raise CannotEdit("the file is written in a way that a single change would not keep")
    return new


def _without_empty(document: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if value != {}}


def _top_of(text: str, found: Sequence[Statement]) -> int:
    """Return where the first statement begins, or the comment that belongs to it."""
    if not found:
        return len(text)
    at = found[0].start
    while at > 0:
        before = text.rfind("\n", 0, at - 1) + 1
        if not text[before:at].lstrip().startswith("#"):
            break
        at = before
    return at


def _broken_off(text: str) -> str:
    return "" if not text or text.endswith("\n") else "\n"


def written(value: object) -> str:
    """Write a value as TOML has it."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return _quoted(value)
        case list() | tuple():
            return f"[{', '.join(map(written, value))}]"
        case _:
            return str(value)


def _quoted(text: str) -> str:
    # Printable text as JSON has it is a basic string of TOML as well.
    return json.dumps(text, ensure_ascii=False)


def _key(name: str) -> str:
    is_bare = name.isascii() and all(c.isalnum() or c in "_-" for c in name)
    return name if is_bare else _quoted(name)
