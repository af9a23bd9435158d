"""`/v1/chat/completions`: messages in, a message or a tool call out."""

from typing import Any

from cacheroute.demo.answers import Form, answer_to
from cacheroute.demo.params import Body, ServedModel, read_params
from cacheroute.demo.refusal import Refusal, missing, wrong_type
from cacheroute.demo.reply import Ask, Choice, Reply
from cacheroute.demo.shapes.shape import FINGERPRINT, OpenAiStream, encode, usage_of
from cacheroute.demo.template import render_chat


def read_chat(body: Body, model: ServedModel) -> Ask:
    """Understand a chat request; raises Refusal."""
    params = read_params(body, max_tokens_keys=("max_completion_tokens", "max_tokens"), model=model)
    form = _tool_form(body) or _json_form(body)
    prompt = chat_prompt(body)
    limit = model.max_model_tokens
    answers = tuple(
        answer_to(prompt, params, max_model_tokens=limit, form=form, choice=choice)
        for choice in range(params.choices)
    )
    return Ask(params=params, prompts=(prompt,), answers=answers, body=body)


def chat_prompt(body: Body) -> bytes:
    """Return the prompt that a body with `messages` makes; raises Refusal."""
    if "messages" not in body:
        raise missing("messages", body)
    messages = body["messages"]
    if not isinstance(messages, list):
        raise wrong_type("messages", messages, "list")
    if not messages:
        raise Refusal(400, "messages must not be empty. (parameter=messages)", param="messages")
    for number, message in enumerate(messages):
        if not isinstance(message, dict):
            raise wrong_type(f"messages.{number}", message, "dict")
        if not isinstance(message.get("role"), str):
            raise missing(f"messages.{number}.role", message)
    return render_chat(messages, _tools(body))


def _tools(body: Body) -> list[Any] | None:
    tools = body.get("tools")
    if tools is not None and not isinstance(tools, list):
        raise wrong_type("tools", tools, "list")
    return tools


def _tool_form(body: Body) -> Form | None:
    choice = body.get("tool_choice")
    if choice is None or choice in ("auto", "none"):
        return None
    functions = [
        tool["function"]
        for tool in _tools(body) or ()
        if isinstance(tool, dict) and isinstance(tool.get("function"), dict)
    ]
    if not functions:
        raise Refusal(
            400, "When using `tool_choice`, `tools` must be set. (parameter=tools)", param="tools"
        )
    wanted = None
    if isinstance(choice, dict) and isinstance(choice.get("function"), dict):
        wanted = choice["function"].get("name")
    elif choice != "required":
        raise Refusal(
            400,
            f'Invalid value for `tool_choice`: {choice}! Only named tools, "none", "auto" or '
            '"required" are supported. (parameter=tool_choice)',
            param="tool_choice",
        )
    for function in functions:
        if wanted is None or function.get("name") == wanted:
            return Form(tool=str(function.get("name")), schema=function.get("parameters"))
    raise Refusal(
        400,
        f"The tool specified in `tool_choice` ({wanted}) does not match any of the specified "
        "`tools`. (parameter=tool_choice)",
        param="tool_choice",
    )


def _json_form(body: Body) -> Form | None:
    wanted = body.get("response_format")
    kind = wanted.get("type") if isinstance(wanted, dict) else None
    if isinstance(wanted, dict) and kind == "json_schema":
        described = wanted.get("json_schema")
        return Form(schema=described.get("schema") if isinstance(described, dict) else None)
    structured = body.get("structured_outputs")
    if isinstance(structured, dict) and isinstance(structured.get("json"), dict):
        return Form(schema=structured["json"])
    return Form(schema={"type": "object"}) if kind == "json_object" else None


class ChatShape(OpenAiStream):
    """One chat completion."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply, "chat.completion.chunk")

    def opening(self) -> bytes:
        """Return the chunk that names the role, for each choice."""
        rest = b'"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}'
        nulls = b',"prompt_token_ids":null,"prompt_text":null}\n\n'
        return b"".join(
            b'%b{"index":%d,%b%b%b' % (self.start, choice.index, rest, self.end(), nulls)
            for choice in self.reply.choices
        )

    def piece(self, choice: Choice) -> bytes:
        """Return the chunk of one token."""
        answer = choice.answer
        text = answer.pieces[choice.emitted - 1]
        if answer.tool is None:
            delta = b'{"content":%b}' % encode(text)
        else:
            delta = encode({"tool_calls": [self._call(choice, text, choice.emitted == 1)]})
        reason = b"null"
        if choice.finished:
            reason = encode(answer.finish_reason) + b',"stop_reason":' + encode(answer.stop_reason)
        return (
            b'%b{"index":%d,"delta":%b,"logprobs":null,"finish_reason":%b,"token_ids":null}%b}\n\n'
        ) % (self.start, choice.index, delta, reason, self.end(last=choice.finished))

    def whole(self) -> bytes:
        """Return the completion as one object."""
        reply = self.reply
        return encode(
            {
                "id": reply.id,
                "object": "chat.completion",
                "created": reply.created_at_s,
                "model": reply.model,
                "choices": [self._choice(choice) for choice in reply.choices],
                "service_tier": None,
                "system_fingerprint": FINGERPRINT,
                "usage": usage_of(reply),
                "prompt_logprobs": None,
                "prompt_token_ids": None,
                "prompt_text": None,
                "kv_transfer_params": None,
                "ec_transfer_params": None,
                "metrics": None,
            }
        )

    def _choice(self, choice: Choice) -> dict[str, Any]:
        answer = choice.answer
        message: dict[str, Any] = {
            "role": "assistant",
            "content": answer.text if answer.tool is None else None,
            "refusal": None,
            "annotations": None,
            "audio": None,
            "function_call": None,
        }
        if answer.tool is not None:
            message["tool_calls"] = [self._call(choice, answer.text, True)]
        return {
            "index": choice.index,
            "message": {**message, "reasoning": None},
            "logprobs": None,
            "finish_reason": answer.finish_reason,
            "stop_reason": answer.stop_reason,
            "token_ids": None,
            "routed_experts": None,
        }

    def _call(self, choice: Choice, arguments: str, first: bool) -> dict[str, Any]:
        if not first:
            return {"index": 0, "function": {"arguments": arguments}}
        return {
            "index": 0,
            "id": f"chatcmpl-tool-{self.reply.id.removeprefix('chatcmpl-')}-{choice.index}",
            "type": "function",
            "function": {"name": choice.answer.tool, "arguments": arguments},
        }
