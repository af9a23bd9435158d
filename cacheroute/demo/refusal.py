"""Errors in the very words of vLLM 0.32: a client or proxy must not see a difference."""

import msgspec

JSON_HEADERS = ((b"content-type", b"application/json"),)


class Refusal(Exception):
    """An error answer; raised where it is found, rendered where the request came in."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        kind: str = "BadRequestError",
        param: str | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.kind = kind
        self.param = param
        self.retry_after_s = retry_after_s

    @property
    def body(self) -> bytes:
        """The error object that OpenAI clients read."""
        return msgspec.json.encode(
            {
                "error": {
                    "message": self.message,
                    "type": self.kind,
                    "param": self.param,
                    "code": self.status,
                }
            }
        )

    @property
    def headers(self) -> tuple[tuple[bytes, bytes], ...]:
        """Header lines that go with the body."""
        if self.retry_after_s is None:
            return JSON_HEADERS
        return (*JSON_HEADERS, (b"retry-after", b"%d" % max(1, round(self.retry_after_s))))


def bad_value(name: str, value: object, sentence: str) -> Refusal:
    """A parameter that is there and cannot be."""
    return Refusal(400, f"{sentence} (parameter={name}, value={value})", param=name)


def invalid_body(kind: str, location: str, message: str, shown: str, extra: str = "") -> Refusal:
    """A body that does not have the form of the endpoint."""
    error = (
        f"{{'type': '{kind}', 'loc': '{location}', 'msg': '{message}', 'input': '{shown}'{extra}}}"
    )
    return Refusal(400, f"1 validation error:\n  {error}", kind="Bad Request", param=location)


def missing(name: str, body: dict[str, object]) -> Refusal:
    """A field that has to be there."""
    return invalid_body(
        "missing", f"body.{name}", "Field required", f"<dict of {len(body)} items>"
    )  # fmt: skip


def wrong_type(name: str, value: object, wanted: str) -> Refusal:
    """A field of another type than `wanted`: `list`, `string`, `integer`, …"""
    words = {"list": "a valid list", "dict": "a valid dictionary"}.get(wanted, f"a valid {wanted}")
    shown = f"<{type(value).__name__}>"
    return invalid_body(f"{wanted}_type", f"body.{name}", f"Input should be {words}", shown)


def not_json_type() -> Refusal:
    """A body that does not say it is JSON."""
    return Refusal(
        400,
        "1 validation error:\n  Unsupported Media Type: Only 'application/json' is allowed",
        kind="Bad Request",
    )


def unknown_model(name: object, known: str) -> Refusal:
    """A model that this Instance does not serve."""
    return Refusal(
        404,
        f"The model `{name}` does not exist. Valid aliases: {known}.",
        kind="NotFoundError",
        param="model",
    )


def prompt_too_long(limit: int) -> Refusal:
    """A prompt that leaves no room for one token of an answer."""
    return Refusal(
        400,
        f"This model's maximum context length is {limit} tokens. However, your prompt contains at "
        f"least {limit + 1} input tokens, which exceeds this limit even without any output tokens. "
        f"Please reduce the length of the input prompt. (parameter=input_tokens, "
        f"value={limit + 1})",
        param="input_tokens",
    )


def answer_too_long(limit: int, prompt_tokens: int, max_tokens: int) -> Refusal:
    """A prompt and an answer that do not fit together."""
    return Refusal(
        400,
        f"This model's maximum context length is {limit} tokens. However, you requested "
        f"{max_tokens} output tokens and your prompt contains at least {prompt_tokens} input "
        f"tokens, for a total of at least {prompt_tokens + max_tokens} tokens. Please reduce the "
        f"length of the input prompt or the number of requested output tokens. "
        f"(parameter=input_tokens, value={prompt_tokens})",
        param="input_tokens",
    )


def overloaded() -> Refusal:
    """The queue is full."""
    return Refusal(
        503,
        "The engine is currently busy and cannot accept new requests. Please try again later or "
        "on a different instance.",
        kind="Service Unavailable",
    )


def engine_died() -> Refusal:
    """What a request gets whose engine failed under it."""
    return Refusal(
        500,
        "EngineCore encountered an issue. See stack trace (above) for the root cause.",
        kind="InternalServerError",
    )
