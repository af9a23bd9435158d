"""How the control plane answers: strict JSON, and errors that name the field.

A refused body is told field by field in FastAPI's published form; everything else is the
flat form. What came in is shown again only as far as it is short.
"""

from collections.abc import Mapping
from typing import TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from cacheroute.formats.json_values import has_more_values
from cacheroute.wire import strict_json
from cacheroute.wire.problem import flat_error

Body = TypeVar("Body", bound=BaseModel)

_MAX_ERRORS = 20
_MAX_SHOWN_CHARS = 200
_MAX_VALUES = 20_000
"""Most values in a body: a megabyte of `[]` takes half a second to read, and streams wait."""
_CODES = {404: "not_found", 405: "method_not_allowed", 413: "too_large"}


class JsonResponse(Response):
    """JSON without NaN, Infinity or lone surrogates."""

    media_type = "application/json"

    def render(self, content: object) -> bytes:
        """Encode the content."""
        return strict_json.encode(content)


def problem(status: int, code: str, detail: str) -> JsonResponse:
    """Answer with the flat error form."""
    return JsonResponse(flat_error(code, detail), status_code=status)


def invalid(field: str, message: str, given: object = None) -> JsonResponse:
    """Answer 422 for one field of the body."""
    entry = {
        "type": "value_error",
        "loc": ["body", field],
        "msg": message,
        "input": _short(given),
    }
    return JsonResponse({"detail": [entry]}, status_code=422)


async def read(request: Request, model: type[Body]) -> Body:
    """Read a body as JSON whatever its content type says; refused, it becomes a 422 or 413."""
    body = await request.body()
    if has_more_values(body, _MAX_VALUES):
        raise HTTPException(413, f"A body may hold {_MAX_VALUES} values, not more")
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        raise RequestValidationError(
            [
                {**entry, "loc": ("body", *entry["loc"])}
                for entry in error.errors(include_url=False, include_context=False)
            ]
        ) from None


async def on_invalid(request: Request, error: Exception) -> Response:
    """Render what was wrong with a body or a query, field by field."""
    del request
    assert isinstance(error, RequestValidationError)  # noqa: S101
    return JsonResponse(
        {"detail": [_entry(each) for each in error.errors()[:_MAX_ERRORS]]},
        status_code=422,
    )


async def on_refused(request: Request, error: Exception) -> Response:
    """Render an unknown path or a wrong method."""
    assert isinstance(error, HTTPException)  # noqa: S101
    response = problem(
        error.status_code,
        _CODES.get(error.status_code, "refused"),
        f"{error.detail}: {request.method} {request.url.path[:_MAX_SHOWN_CHARS]}",
    )
    response.headers.update(error.headers or {})
    return response


async def on_error(request: Request, error: Exception) -> Response:
    """Render a defect of ours, without its text: that goes to the log."""
    del request, error
    return problem(500, "internal_error", "The control plane failed; its log says how.")


def _entry(error: ErrorDetails | Mapping[str, object]) -> dict[str, object]:
    return {
        "type": error["type"],
        "loc": list(error["loc"]),  # type: ignore[call-overload]
        "msg": error["msg"],
        "input": _short(error.get("input")),
    }


def _short(given: object) -> object:
    if isinstance(given, str):
        return given if len(given) <= _MAX_SHOWN_CHARS else f"{given[:_MAX_SHOWN_CHARS]}…"
    return given if given is None or isinstance(given, (bool, int, float)) else None
