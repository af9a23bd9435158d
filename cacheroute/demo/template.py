"""The chat template: messages to a token stream, message by message.

Each message is tokenized on its own between two special tokens. So a conversation that
goes on begins with exactly the tokens of its last turn, answer included.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import xxhash

from cacheroute.demo import tokens

_ROLES = {
    "system": tokens.SYSTEM,
    "developer": tokens.SYSTEM,
    "user": tokens.USER,
    "assistant": tokens.ASSISTANT,
    "tool": tokens.TOOL,
    "function": tokens.TOOL,
}
_IMAGE_TOKENS = 256


def render_chat(
    messages: Iterable[Mapping[str, Any]],
    tools: Sequence[Any] | None = None,
    *,
    generation_prompt: bool = True,
) -> bytes:
    """Return the prompt of a chat; tools stand first, as in most templates."""
    parts: list[bytes] = []
    if tools:
        parts += [tokens.BEGIN_TOOLS, tokens.encode(_json(tools)), tokens.END]
    for message in messages:
        parts.append(_ROLES.get(message.get("role", ""), tokens.USER))
        parts += _content(message.get("content"))
        if message.get("tool_calls"):
            parts.append(tokens.encode(_calls(message["tool_calls"])))
        parts.append(tokens.END)
    if generation_prompt:
        parts.append(tokens.ASSISTANT)
    return b"".join(parts)


def _content(content: object, *, nested: bool = False) -> list[bytes]:
    if content is None:
        return []
    if isinstance(content, str):
        return [tokens.encode(content)]
    if not isinstance(content, list):
        return [tokens.encode(_json(content))]
    parts: list[bytes] = []
    for part in content:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str):
            parts.append(tokens.encode(text))
        elif isinstance(part, dict) and "content" in part and not nested:
            parts += _content(part["content"], nested=True)
        else:
            parts.append(_image(part))
    return parts


def _image(part: object) -> bytes:
    """A picture, a sound: always as many tokens, and the same ones for the same bytes."""
    digest: bytes = xxhash.xxh3_128_digest(_json(part).encode("utf-8", "surrogatepass"))
    return tokens.IMAGE + digest * (_IMAGE_TOKENS * tokens.TOKEN_BYTES // len(digest))


def _calls(calls: object) -> str:
    """Tool calls as the model wrote them: their arguments, so that a next turn can hit."""
    if not isinstance(calls, list):
        return _json(calls)
    functions = [call.get("function") for call in calls if isinstance(call, dict)]
    texts = [one.get("arguments") for one in functions if isinstance(one, dict)]
    return "".join(text for text in texts if isinstance(text, str))


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
