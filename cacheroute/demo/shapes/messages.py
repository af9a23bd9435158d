"""`/v1/messages`: Anthropic's form of a chat, as vLLM serves it."""

import json
from typing import Any

from cacheroute.demo.answers import Form, answer_to
from cacheroute.demo.params import Body, ServedModel, read_params
from cacheroute.demo.refusal import Refusal, missing
from cacheroute.demo.reply import Ask, Choice, Reply
from cacheroute.demo.shapes.chat import chat_prompt
from cacheroute.demo.shapes.shape import encode, event

_STOP_REASONS = {"length": "max_tokens", "stop": "end_turn", "tool_calls": "tool_use"}


def read_messages(body: Body, model: ServedModel) -> Ask:
    """Understand a message request; raises Refusal."""
    if body.get("max_tokens") is None:
        raise missing("max_tokens", body)
    stops = body.get("stop_sequences")
    params = read_params(
        {**body, "stop": stops, "n": None}, max_tokens_keys=("max_tokens",), model=model
    )
    prompt = messages_prompt(body)
    answer = answer_to(
        prompt, params, max_model_tokens=model.max_model_tokens, form=_tool_form(body)
    )
    return Ask(params=params, prompts=(prompt,), answers=(answer,), body=body)


def messages_prompt(body: Body) -> bytes:
    """Return the prompt; the system text is the first message of it."""
    system = body.get("system")
    if system is None or not isinstance(body.get("messages"), list):
        return chat_prompt(body)
    return chat_prompt(
        {**body, "messages": [{"role": "system", "content": system}, *body["messages"]]}
    )


def _tool_form(body: Body) -> Form | None:
    choice = body.get("tool_choice")
    if not isinstance(choice, dict) or choice.get("type") not in ("any", "tool"):
        return None
    for tool in body.get("tools") or []:
        if isinstance(tool, dict) and choice.get("name") in (None, tool.get("name")):
            return Form(tool=str(tool.get("name")), schema=tool.get("input_schema"))
    raise Refusal(400, "tool_choice names no tool of this request.", param="tool_choice")


class MessagesShape:
    """One message."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply

    def opening(self) -> bytes:
        """Return the start of the message and of its only block."""
        message = {**self._message(), "content": [], "stop_reason": None}
        return event("message_start", {"message": message}) + event(
            "content_block_start", {"index": 0, "content_block": self._block("", {})}
        )

    def piece(self, choice: Choice) -> bytes:
        """Return the delta of one token."""
        text = choice.answer.pieces[choice.emitted - 1]
        if choice.answer.tool is None:
            delta = {"type": "text_delta", "text": text}
        else:
            delta = {"type": "input_json_delta", "partial_json": text}
        return event("content_block_delta", {"index": 0, "delta": delta})

    def closing(self) -> bytes:
        """Return the ends of block and message."""
        delta = {"stop_reason": self._stop_reason(), "stop_sequence": self._stop_sequence()}
        return (
            event("content_block_stop", {"index": 0})
            + event("message_delta", {"delta": delta, "usage": self._usage()})
            + event("message_stop", {})
        )

    def failure(self, refusal: Refusal) -> bytes:
        """Return Anthropic's error event; nothing follows it."""
        return event("error", {"error": {"type": "api_error", "message": refusal.message}})

    def whole(self) -> bytes:
        """Return the message as one object."""
        answer = self._reply.choices[0].answer
        content = [self._block(answer.text, _object_of(answer.text) if answer.tool else {})]
        return encode({**self._message(), "content": content, "stop_reason": self._stop_reason()})

    def _message(self) -> dict[str, Any]:
        return {
            "id": self._reply.id,
            "type": "message",
            "role": "assistant",
            "content": None,
            "model": self._reply.model,
            "stop_reason": None,
            "stop_sequence": self._stop_sequence(),
            "usage": self._usage(),
        }

    def _block(self, text: str, tool_input: dict[str, Any]) -> dict[str, Any]:
        tool = self._reply.choices[0].answer.tool
        if tool is None:
            return {"type": "text", "text": text}
        return {
            "type": "tool_use", "id": f"toolu_{self._reply.id}", "name": tool, "input": tool_input
        }  # fmt: skip

    def _stop_reason(self) -> str:
        if self._stop_sequence() is not None:
            return "stop_sequence"
        return _STOP_REASONS[self._reply.choices[0].answer.finish_reason]

    def _stop_sequence(self) -> str | None:
        choice = self._reply.choices[0]
        return choice.answer.stop_reason if choice.finished else None

    def _usage(self) -> dict[str, int]:
        cached = self._reply.cached_tokens
        return {
            "input_tokens": self._reply.prompt_tokens - cached,
            "output_tokens": self._reply.completion_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": cached,
        }


def _object_of(text: str) -> dict[str, Any]:
    """Return tool arguments; an empty object when `max_tokens` has cut them short."""
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
