"""What a client wants: an OpenAI request, read as far as a Request for a Proxy can carry it.

A Request has room for one text, one answer and a few numbers. A value that cannot be is refused
by name, and so is more than one answer, since half of what was asked for would be missing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import msgspec

from cacheroute.core.errors import InvalidJson, InvalidPayload
from cacheroute.core.task import KVCACHE, TEXT

DEFAULT_MAX_TOKENS = 1000
MAX_KNOWLEDGE_IDS = 64
MAX_ID_CHARS = 256

Endpoint = Literal["chat/completions", "completions"]
CHAT: Final = "chat/completions"
COMPLETION: Final = "completions"
Body = Mapping[str, Any]

_WORDS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request of a client."""

    endpoint: Endpoint
    model: str
    user_prompt: str
    """The whole text that the model is to see, without knowledge."""
    question: str
    """The last thing that was said: what knowledge is looked for by."""
    stream: bool = False
    max_tokens: int = DEFAULT_MAX_TOKENS
    temperature: float = 1.0
    top_p: float = 1.0
    wants_knowledge: bool = False
    mode: str = KVCACHE
    knowledge_ids: tuple[str, ...] | None = None
    """Lower-case ids that were asked for by name; None leaves the choice to the Scheduler."""


def read_ask(data: bytes, endpoint: Endpoint) -> Ask:
    """Read a request; raises InvalidJson or InvalidPayload with a sentence for the client."""
    body = _object(data)
    if endpoint == CHAT:
        user_prompt, question = _chat_texts(body)
    else:
        user_prompt = question = _prompt(body)
    stream = _flag(body, "stream", default=False)
    if stream and endpoint != CHAT:
        raise InvalidPayload(
            "A completion cannot be streamed through a Scheduler: leave stream out, or ask for "
            "a chat."
        )
    if body.get("n") not in (None, 1):
        raise InvalidPayload(
            f"n must be 1: a Request asks for one answer, not {_shown(body['n'])}."
        )
    ids = _knowledge_ids(body)
    return Ask(
        endpoint=endpoint,
        model=_model(body),
        user_prompt=user_prompt,
        question=question,
        stream=stream,
        max_tokens=_max_tokens(body),
        temperature=_number(body, "temperature", most=2.0),
        top_p=_number(body, "top_p", most=1.0, positive=True),
        wants_knowledge=_flag(body, "RAG", default=ids is not None),
        mode=_mode(body),
        knowledge_ids=ids,
    )


def _object(data: bytes) -> Body:
    try:
        body = msgspec.json.decode(data)
    except (ValueError, RecursionError) as error:
        raise InvalidJson(f"The body is not JSON: {error}.") from None
    if not isinstance(body, dict):
        raise InvalidPayload(f"The body must be an object, not {type(body).__name__}.")
    return body


def _model(body: Body) -> str:
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise InvalidPayload(f"model must be a name; it is {_shown(model)}.")
    return model


def _chat_texts(body: Body) -> tuple[str, str]:
    """Return the prompt that a conversation makes, and the last thing its user said."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise InvalidPayload(f"messages must be a list with something in it; {_is(messages)}.")
    said: list[tuple[str, str]] = []
    for number, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else None
        if not isinstance(role, str):
            raise InvalidPayload(f"messages[{number}] must be an object with a role.")
        said.append((role, _content(message, f"messages[{number}].content")))
    by_user = [text for role, text in said if role == "user"]
    if len(said) == 1 and by_user:
        return by_user[0], by_user[0]
    # The only form that a Request has for more than one message, and the published one.
    return "\n".join(f"{role}: {text}" for role, text in said), (by_user or [said[-1][1]])[-1]


def _content(message: Body, name: str) -> str:
    content = message.get("content")
    if content is None:  # an assistant that called a tool
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise InvalidPayload(f"{name} must be a text; it is {_shown(content)}.")
    texts = []
    for part in content:
        text = part.get("text") if isinstance(part, dict) else None
        if not isinstance(text, str):
            raise InvalidPayload(f"{name} has a part that is no text; a Request carries text only.")
        texts.append(text)
    return "\n".join(texts)


def _prompt(body: Body) -> str:
    prompt = body.get("prompt")
    if isinstance(prompt, list) and len(prompt) == 1:
        prompt = prompt[0]
    if not isinstance(prompt, str):
        raise InvalidPayload(f"prompt must be one text; {_is(prompt)}.")
    return prompt


def _max_tokens(body: Body) -> int:
    for name in ("max_completion_tokens", "max_tokens"):
        value = body.get(name)
        if value is None:
            continue
        if type(value) is not int or value < 1:
            raise InvalidPayload(f"{name} must be a whole number above 0; it is {_shown(value)}.")
        return value
    return DEFAULT_MAX_TOKENS


def _number(body: Body, name: str, *, most: float, positive: bool = False) -> float:
    value = body.get(name)
    if value is None:
        return 1.0
    is_number = type(value) in (int, float)
    if not is_number or not 0 <= value <= most or (positive and value == 0):
        least = "above 0" if positive else "from 0"
        raise InvalidPayload(f"{name} must be {least} to {most:g}; it is {_shown(value)}.")
    return float(value)


def _flag(body: Body, name: str, *, default: bool) -> bool:
    """Read a flag in each way that the published Scheduler takes it."""
    value = body.get(name)
    if value is None:
        return default
    flag = _WORDS.get(str(value).strip().lower()) if isinstance(value, bool | int | str) else None
    if flag is None:
        raise InvalidPayload(f"{name} must be true or false; it is {_shown(value)}.")
    return flag


def _mode(body: Body) -> str:
    mode = body.get("Injection_type")
    if mode is None:
        return KVCACHE
    if mode not in (TEXT, KVCACHE):
        raise InvalidPayload(f"Injection_type must be text or kvcache; it is {_shown(mode)}.")
    return str(mode)


def _knowledge_ids(body: Body) -> tuple[str, ...] | None:
    ids = body.get("knowledge_ids")
    if ids is None:
        return None
    if not isinstance(ids, list) or len(ids) > MAX_KNOWLEDGE_IDS:
        raise InvalidPayload(
            f"knowledge_ids must be a list of at most {MAX_KNOWLEDGE_IDS} ids; {_is(ids)}."
        )
    wanted = [one.strip().lower() if isinstance(one, str) else "" for one in ids]
    for one, given in zip(wanted, ids, strict=True):
        if not 0 < len(one) <= MAX_ID_CHARS:
            raise InvalidPayload(f"knowledge_ids holds {_shown(given)}, which is no id.")
    return tuple(dict.fromkeys(wanted))


def _is(value: object) -> str:
    if isinstance(value, list):
        return f"it has {len(value)} items"
    return f"it is {_shown(value)}"


def _shown(value: object) -> str:
    return "missing" if value is None else f"{value!r:.60}"
