"""The OpenAI body that an Instance gets for a Task, with or without knowledge.

For KV to be hit, the knowledge must be the very bytes that its KV was built from, and stand
first: a system message that holds nothing else. As text it may be wrapped in instructions.
"""

import json

import msgspec

from cacheroute.core.task import KVCACHE, TEXT, Task

CHAT = "chat/completions"

_BEFORE = "Background:\n"
"""Short, since it is computed again for every request, and the message ends with the text."""


def render_body(task: Task, context: str, mode: str) -> bytes:
    """Render the request to make of an Instance; keys without a value are left out.

    An empty context, or a mode that is neither `text` nor `kvcache`, gives the plain body. A
    completion is never streamed, by the published contract.
    """
    knowledge = _knowledge(context, mode)
    is_chat = task.endpoint == CHAT
    body: dict[str, object] = {"model": task.model}
    if is_chat:
        messages = [{"role": "user", "content": task.user_prompt}]
        if knowledge:
            messages.insert(0, {"role": "system", "content": knowledge})
        body["messages"] = messages
    else:
        body["prompt"] = f"{knowledge}\n{task.user_prompt}" if knowledge else task.user_prompt
    body["stream"] = is_chat and task.stream
    numbers = {
        "max_tokens": task.max_tokens,
        "temperature": task.temperature,
        "top_p": task.top_p,
    }
    body |= {name: value for name, value in numbers.items() if value is not None}
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError:  # half of a surrogate pair goes on as the escape it was
        return json.dumps(body).encode()


def _knowledge(context: str, mode: str) -> str:
    if not context:
        return ""
    if mode == KVCACHE:
        return context
    return f"{_BEFORE}{context}" if mode == TEXT else ""
