"""`/v1/responses`: OpenAI's newer form, text in and text out; nothing is stored."""

from typing import Any

from cacheroute.demo.answers import answer_to
from cacheroute.demo.params import Body, ServedModel, read_params
from cacheroute.demo.refusal import Refusal, missing, wrong_type
from cacheroute.demo.reply import Ask, Choice, Reply
from cacheroute.demo.shapes.chat import chat_prompt
from cacheroute.demo.shapes.shape import encode, event


def read_responses(body: Body, model: ServedModel) -> Ask:
    """Understand a response request; raises Refusal."""
    params = read_params(
        {**body, "n": None, "stream_options": None},
        max_tokens_keys=("max_output_tokens",),
        model=model,
    )
    prompt = chat_prompt({"messages": _messages(body), "tools": body.get("tools")})
    answer = answer_to(prompt, params, max_model_tokens=model.max_model_tokens)
    return Ask(params=params, prompts=(prompt,), answers=(answer,), body=body)


def _messages(body: Body) -> list[Any]:
    given = body.get("input")
    if given is None:
        raise missing("input", body)
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    if not isinstance(given, list):
        raise wrong_type("input", given, "list")
    messages = [item for item in given if isinstance(item, dict) and "role" in item]
    instructions = body.get("instructions")
    if isinstance(instructions, str):
        messages.insert(0, {"role": "system", "content": instructions})
    return messages


class ResponsesShape:
    """One response with one message in it."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self._item_id = f"msg_{reply.id.removeprefix('resp_')}"
        self._number = -1

    def opening(self) -> bytes:
        """Return the events that announce response, message and text."""
        item = {**self._item("in_progress"), "content": []}
        return (
            self._event("response.created", {"response": self._response("in_progress", [])})
            + self._event("response.in_progress", {"response": self._response("in_progress", [])})
            + self._event("response.output_item.added", {"output_index": 0, "item": item})
            + self._event("response.content_part.added", {**self._place(), "part": _text("")})
        )

    def piece(self, choice: Choice) -> bytes:
        """Return the delta of one token."""
        delta = choice.answer.pieces[choice.emitted - 1]
        return self._event(
            "response.output_text.delta", {**self._place(), "delta": delta, "logprobs": []}
        )

    def closing(self) -> bytes:
        """Return the ends of text, message and response."""
        text = self._reply.choices[0].answer.text
        item = self._item("completed")
        response = self._response(self._status(), [item])
        ending = "response.completed" if self._status() == "completed" else "response.incomplete"
        return (
            self._event(
                "response.output_text.done", {**self._place(), "text": text, "logprobs": []}
            )
            + self._event("response.content_part.done", {**self._place(), "part": _text(text)})
            + self._event("response.output_item.done", {"output_index": 0, "item": item})
            + self._event(ending, {"response": response})
        )

    def failure(self, refusal: Refusal) -> bytes:
        """Return the error event; nothing follows it."""
        return self._event(
            "error", {"code": str(refusal.status), "message": refusal.message, "param": None}
        )

    def whole(self) -> bytes:
        """Return the response as one object."""
        return encode(self._response(self._status(), [self._item("completed")]))

    def _event(self, name: str, data: dict[str, Any]) -> bytes:
        self._number += 1
        return event(name, {**data, "sequence_number": self._number})

    def _place(self) -> dict[str, Any]:
        return {"item_id": self._item_id, "output_index": 0, "content_index": 0}

    def _status(self) -> str:
        cut = self._reply.choices[0].answer.finish_reason == "length"
        return "incomplete" if cut else "completed"

    def _item(self, status: str) -> dict[str, Any]:
        return {
            "id": self._item_id,
            "content": [_text(self._reply.choices[0].answer.text)],
            "role": "assistant",
            "status": status,
            "type": "message",
            "phase": None,
        }

    def _response(self, status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
        reply, body = self._reply, self._reply.ask.body
        return {
            "id": reply.id,
            "created_at": reply.created_at_s,
            "incomplete_details": (
                {"reason": "max_output_tokens"} if status == "incomplete" else None
            ),
            "instructions": body.get("instructions"),
            "metadata": body.get("metadata"),
            "model": reply.model,
            "object": "response",
            "output": output,
            "parallel_tool_calls": True,
            "temperature": body.get("temperature", 1.0),
            "tool_choice": body.get("tool_choice", "none"),
            "tools": body.get("tools") or [],
            "top_p": body.get("top_p", 1.0),
            "background": False,
            "max_output_tokens": body.get("max_output_tokens"),
            "max_tool_calls": None,
            "previous_response_id": None,
            "prompt": None,
            "reasoning": None,
            "service_tier": "auto",
            "status": status,
            "text": None,
            "top_logprobs": None,
            "truncation": "disabled",
            "usage": self._usage() if output else None,
            "user": body.get("user"),
        }

    def _usage(self) -> dict[str, Any]:
        reply = self._reply
        return {
            "input_tokens": reply.prompt_tokens,
            "input_tokens_details": {"cached_tokens": reply.cached_tokens, "cache_write_tokens": 0},
            "output_tokens": reply.completion_tokens,
            "output_tokens_details": {"reasoning_tokens": 0, "tool_output_tokens": 0},
            "total_tokens": reply.prompt_tokens + reply.completion_tokens,
        }


def _text(text: str) -> dict[str, Any]:
    return {"annotations": [], "text": text, "type": "output_text", "logprobs": None}
