"""The two shapes an error has on the wire.

Native callers read OpenAI's error object, the Scheduler and operators read the flat form.
The code is the same word in both.
"""

from typing import TypedDict

_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}


class OpenAIErrorObject(TypedDict):
    """What stands under `error`."""

    message: str
    type: str
    param: str | None
    code: str | None


class OpenAIError(TypedDict):
    """OpenAI's error body; its official clients read every key."""

    error: OpenAIErrorObject


class FlatError(TypedDict):
    """The flat error body: a code for programs, a sentence for people."""

    error: str
    detail: str


def error_type(status: int) -> str:
    """Return OpenAI's word for the class of a status."""
    return _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")


def openai_error(
    message: str,
    *,
    status: int,
    code: str | None = None,
    param: str | None = None,
) -> OpenAIError:
    """Build OpenAI's error object; its type follows from the status."""
    return {
        "error": {"message": message, "type": error_type(status), "param": param, "code": code},
    }


def flat_error(code: str, detail: str) -> FlatError:
    """Build the flat form."""
    return {"error": code, "detail": detail}
