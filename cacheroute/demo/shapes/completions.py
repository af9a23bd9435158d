"""`/v1/completions`: a prompt in, its continuation out."""

from typing import Any

from cacheroute.demo import tokens
from cacheroute.demo.answers import answer_to
from cacheroute.demo.params import Body, ServedModel, read_params
from cacheroute.demo.refusal import Refusal, bad_value, missing, wrong_type
from cacheroute.demo.reply import Ask, Choice, Reply
from cacheroute.demo.shapes.shape import FINGERPRINT, OpenAiStream, encode, usage_of

_DEFAULT_MAX_TOKENS = 16
_PROMPTS_MAX = 64


def read_completions(body: Body, model: ServedModel) -> Ask:
    """Understand a completion request; raises Refusal."""
    params = read_params(body, max_tokens_keys=("max_tokens",), model=model)
    prompts = tuple(prompt_streams(body, "prompt"))
    if len(prompts) > _PROMPTS_MAX:
        raise Refusal(
            400,
            f"A request may have at most {_PROMPTS_MAX} prompts, not {len(prompts)}.",
            param="prompt",
        )
    answers = tuple(
        answer_to(
            prompt, params, max_model_tokens=model.max_model_tokens, choice=choice,
            default_max_tokens=_DEFAULT_MAX_TOKENS,
        )
        for prompt in prompts
        for choice in range(params.choices)
    )  # fmt: skip
    return Ask(params=params, prompts=prompts, answers=answers, body=body)


def prompt_streams(body: Body, name: str) -> list[bytes]:
    """Return the streams of a field with text, token ids, or a list of either."""
    if body.get(name) is None:
        raise missing(name, body)
    value = body[name]
    if isinstance(value, str) or (
        isinstance(value, list) and value and all(type(one) is int for one in value)
    ):
        value = [value]
    if not isinstance(value, list) or not value:
        raise wrong_type(name, value, "string")
    return [_stream(one, name) for one in value]


def _stream(prompt: object, name: str) -> bytes:
    if isinstance(prompt, str):
        stream = tokens.encode(prompt)
    elif isinstance(prompt, list) and all(type(one) is int for one in prompt):
        try:
            stream = tokens.stream_of(prompt)
        except ValueError as error:
            raise bad_value(name, "<list>", str(error)) from None
    else:
        raise wrong_type(name, prompt, "string")
    if not stream:
        raise Refusal(400, f"The decoder prompt cannot be empty. (parameter={name})", param=name)
    return stream


class CompletionsShape(OpenAiStream):
    """One text completion."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply, "text_completion")

    def opening(self) -> bytes:
        """Return nothing: the first token is the first chunk."""
        return b""

    def piece(self, choice: Choice) -> bytes:
        """Return the chunk of one token."""
        answer = choice.answer
        reason = b'null,"stop_reason":null'
        if choice.finished:
            reason = encode(answer.finish_reason) + b',"stop_reason":' + encode(answer.stop_reason)
        return (
            b'%b{"index":%d,"text":%b,"logprobs":null,"finish_reason":%b,'
            b'"prompt_token_ids":null,"token_ids":null}%b}\n\n'
        ) % (
            self.start,
            choice.index,
            encode(answer.pieces[choice.emitted - 1]),
            reason,
            self.end(last=choice.finished),
        )

    def whole(self) -> bytes:
        """Return the completion as one object."""
        reply = self.reply
        return encode(
            {
                "id": reply.id,
                "object": "text_completion",
                "created": reply.created_at_s,
                "model": reply.model,
                "choices": [self._choice(choice) for choice in reply.choices],
                "service_tier": None,
                "system_fingerprint": FINGERPRINT,
                "usage": usage_of(reply),
                "kv_transfer_params": None,
                "ec_transfer_params": None,
                "metrics": None,
            }
        )

    def _choice(self, choice: Choice) -> dict[str, Any]:
        text = choice.answer.text
        if self.reply.ask.body.get("echo") is True:
            asked = self.reply.ask.prompts[choice.index // self.reply.ask.params.choices]
            text = tokens.decode(asked) + text
        return {
            "index": choice.index,
            "text": text,
            "logprobs": None,
            "finish_reason": choice.answer.finish_reason,
            "stop_reason": choice.answer.stop_reason,
            "token_ids": None,
            "prompt_logprobs": None,
            "prompt_token_ids": None,
            "routed_experts": None,
        }
