"""A raw HTTP answer, judged: a typed reply, or the fault it stands for.

Pure, and the same for the sync and the async client.
"""

from __future__ import annotations

import errno
import json
import os
import re
from typing import TYPE_CHECKING, TypeVar

from cacheroute.client.ask import Ask
from cacheroute.client.faults import NotUnderstood, Refused

if TYPE_CHECKING:
    from pydantic import ValidationError

T = TypeVar("T")

_SHOWN_CHARS = 500
_SHOWN_BYTES = 4_000
_GZIP = b"\x1f\x8b"
_TITLE = re.compile(r"<title[^<>]{0,100}>([^<]{1,100})", re.IGNORECASE)


def read_answer(
    ask: Ask[T], *, url: str, status: int, body: bytes, moved_to: str | None = None
) -> T:
    """Return the typed reply; raises Refused or NotUnderstood."""
    if status != 200:
        said = _words_of(body) if moved_to is None else f"it is at {moved_to[:_SHOWN_CHARS]}"
        raise Refused(url=url, status=status, body=said, code=_code_of(body))
    read = _read_struct if hasattr(ask.reply, "__struct_fields__") else _read_model
    return read(ask.reply, body, url)


def _read_struct(kind: type[T], body: bytes, url: str) -> T:
    import msgspec

    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError) as problem:
        raise NotUnderstood(url=url, why=why_not(body, str(problem))) from problem


def _read_model(kind: type[T], body: bytes, url: str) -> T:
    # The models of this reply have loaded it; whoever reads only structs goes without.
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(kind).validate_json(body)
    except ValidationError as problem:
        raise NotUnderstood(url=url, why=why_not(body, _first_problem(problem))) from problem


def what_came(body: bytes) -> str | None:
    """Say what came in the place of JSON, in a few words; None where it may be JSON."""
    if not body.strip():
        return "empty"
    if body.startswith(_GZIP):
        return "compressed, which nobody has asked for"
    start = body[:_SHOWN_BYTES].decode("utf-8", "replace").strip()
    if start.startswith("<"):
        title = _TITLE.search(start)
        return f"a page of HTML ({_in_a_line(title[1])})" if title else "a page of HTML"
    # A letter that is cut at the end is none.
    if not all(sign.isprintable() or sign.isspace() for sign in start) or "\ufffd" in start[:-1]:
        return f"{len(body)} bytes that are no text"
    return None


def why_not(body: bytes, problem: str) -> str:
    """Say what is wrong with an answer: what it is, or else what is wrong within it."""
    what = what_came(body)
    return problem if what is None else f"it is {what}"


def cause_of(problem: BaseException) -> str:
    """Return the system's own words below a library's exception: `connection refused`."""
    seen: BaseException | None = problem
    while seen is not None:
        if isinstance(seen, OSError) and seen.errno is not None and seen.errno in errno.errorcode:
            return os.strerror(seen.errno).lower()
        if isinstance(seen, OSError) and seen.strerror and (seen.errno or 0) < 0:
            # A name that cannot be looked up: its number is of another table.
            return seen.strerror.lower()
        seen = seen.__cause__ or seen.__context__
    return str(problem) or type(problem).__name__


def _words_of(body: bytes) -> str:
    """Find the sentence in an error body, whichever of the known shapes it has."""
    if body.strip() and (what := what_came(body)) is not None:
        return what
    text = body.decode("utf-8", "replace").strip()
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return text[:_SHOWN_CHARS]
    if isinstance(parsed, dict):
        error, detail = parsed.get("error"), parsed.get("detail")
        if isinstance(error, dict) and isinstance(error.get("message"), str):
            return str(error["message"])[:_SHOWN_CHARS]
        if isinstance(detail, list):
            return "; ".join(_field_problem(one) for one in detail)[:_SHOWN_CHARS]
        words = [part for part in (error, detail) if isinstance(part, str)]
        if words:
            return ": ".join(words)[:_SHOWN_CHARS]
    return _in_a_line(text[:_SHOWN_CHARS])


def _in_a_line(text: str) -> str:
    return " ".join(text.split())


def _code_of(body: bytes) -> str | None:
    """Find the code in an error body of the flat form."""
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return None
    code = parsed.get("error") if isinstance(parsed, dict) else None
    return code[:_SHOWN_CHARS] if isinstance(code, str) else None


def _first_problem(problem: ValidationError) -> str:
    first = problem.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else first["msg"]


def _field_problem(problem: object) -> str:
    if not isinstance(problem, dict):
        return str(problem)
    place = ".".join(str(part) for part in problem.get("loc") or ())
    return f"{place}: {problem.get('msg')}"
