"""What the demo Instance answers, known in full before the first token is due.

An answer follows from the prompt alone (and from which choice it is), so a repeated request
gets the same bytes from every Instance. With `max_tokens` it has exactly so many tokens and
ends for `length`; without, it is a few sentences long and ends for `stop`.
"""

import json
from dataclasses import dataclass
from typing import Any

import xxhash

from cacheroute.demo import prose, tokens
from cacheroute.demo.params import Params
from cacheroute.demo.refusal import answer_too_long, prompt_too_long
from cacheroute.demo.schema_example import example_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What an answer has to be, other than prose."""

    tool: str | None = None
    """Name of the tool that must be called; None for an answer in words."""
    schema: Any = None
    """JSON schema of the tool's arguments, or of a structured answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer, token by token."""

    pieces: tuple[str, ...]
    """What each token adds to the text; ASCII, never empty as a whole."""
    finish_reason: str
    """`length`, `stop` or `tool_calls`."""
    stop_reason: str | None = None
    """The stop string that ended it."""
    tool: str | None = None
    """The tool it calls; the pieces are the arguments then."""

    @property
    def text(self) -> str:
        """The whole of it."""
        return "".join(self.pieces)


def answer_to(
    prompt: bytes,
    params: Params,
    *,
    max_model_tokens: int,
    form: Form | None = None,
    choice: int = 0,
    default_max_tokens: int | None = None,
) -> Answer:
    """Write the answer to a prompt; raises Refusal when the two do not fit the context."""
    prompt_tokens = tokens.count(prompt)
    if prompt_tokens >= max_model_tokens:
        raise prompt_too_long(max_model_tokens)
    room = max_model_tokens - prompt_tokens
    if params.max_tokens is not None and params.max_tokens > room:
        raise answer_too_long(max_model_tokens, prompt_tokens, params.max_tokens)
    limit = params.max_tokens or default_max_tokens
    seed = xxhash.xxh3_64_intdigest(prompt, choice)
    if form is not None:
        text = json.dumps(example_of(form.schema) or {}, separators=(",", ":"))
        ending = "tool_calls" if form.tool else "stop"
        return _cut(text, min(limit or room, room), params.stops, ending, form.tool)
    if limit is None:
        return _cut(prose.sentences(seed), room, params.stops, "stop", None)
    length = min(limit, room)
    text = prose.filling(seed, length * tokens.TOKEN_BYTES)
    return _cut(text, length, params.stops, "length", None)


def _cut(
    text: str, limit: int, stops: tuple[str, ...], ending: str, tool: str | None
) -> Answer:  # fmt: skip
    stop_reason: str | None = None
    found = [(at, stop) for stop in stops if (at := text.find(stop)) >= 0]
    if found and tool is None:
        at, stop_reason = min(found)
        text, ending = text[:at], "stop"
    pieces = tokens.cut(text) or [""]
    if len(pieces) > limit:
        pieces, ending, stop_reason = pieces[:limit], "length", None
    return Answer(
        pieces=tuple(pieces), finish_reason=ending, stop_reason=stop_reason, tool=tool
    )  # fmt: skip
