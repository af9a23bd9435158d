"""Room 0: from bytes to a RouteRequest, reading no more of the body than routing needs.

`model`, `stream` and the type of `messages` are looked at; everything else is the
Instance's business, and the bytes go on as they came.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

from cacheroute.core.errors import InvalidJson, InvalidPayload, RequestError
from cacheroute.core.ids import RequestIds, is_request_id
from cacheroute.core.injection.prompt import render_body
from cacheroute.core.request import Caller, RouteRequest
from cacheroute.formats.json_values import has_more_values
from cacheroute.planes.translate import read_task

if TYPE_CHECKING:
    from cacheroute.core.task import Task
    from cacheroute.dataplane.inbound import Inbound


_Scalar = str | int | float | bool | None


class _GlanceAtRest(msgspec.Struct):
    """The same without `stream`."""

    model: _Scalar = None
    messages: msgspec.Raw = msgspec.Raw()
    Request_ID: msgspec.Raw = msgspec.Raw()
    Prompt: msgspec.Raw = msgspec.Raw()


class _Glance(msgspec.Struct):
    """The fields that routing reads; a Raw is skipped over, not built.

    Nothing here can be a list or an object: sixty megabytes of `[]` take seconds to build and
    more than a gigabyte, and everybody else would wait.
    """

    model: _Scalar = None
    stream: _Scalar = None
    messages: msgspec.Raw = msgspec.Raw()
    Request_ID: msgspec.Raw = msgspec.Raw()
    Prompt: msgspec.Raw = msgspec.Raw()


_glance = msgspec.json.Decoder(_Glance).decode
_glance_at_rest = msgspec.json.Decoder(_GlanceAtRest).decode
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_VALUES_MAX = 500_000
"""Most values of a body that has to be built as a whole; more would hold everybody else up."""
MODEL_MAX_CHARS = 512
"""Longest model name; the last thousand decisions each keep one."""


class SchedulerRequestError(RequestError):
    """A Scheduler's request that cannot be understood; answered in the flat form."""

    def __init__(self, error: RequestError) -> None:
        super().__init__(error.message)
        self.cause = error


def read(
    inbound: Inbound,
    endpoint: str,
    path: str,
    *,
    opaque: bool,
    ids: RequestIds,
    arrived_mono_s: float,
    arrived_wall_s: float,
) -> RouteRequest:
    """Read a request; raises RequestError with the field and the value that is wrong.

    An `opaque` path may carry anything: what can be read of it is, and nothing is refused.
    """
    claimed = inbound.fields.get(b"x-request-id")
    request_id = (
        claimed.decode("ascii")
        if claimed is not None and is_request_id(claimed)
        else ids.next()
    )  # fmt: skip
    body = inbound.body
    model: str | None = None
    stream = False
    caller: Caller = "native"
    task: Task | None = None
    try:
        try:
            seen = _glance(body)
        except _UNREADABLE:
            seen = _look_again(body)
        if len(memoryview(seen.Prompt)) and not opaque and _is_given(seen.Request_ID):
            caller = "scheduler"
            try:
                task = read_task(_parsed(body), endpoint)
                model, stream = task.model, task.stream
                _check_name(model)
                body = render_body(task, "", task.mode)
            except RequestError as error:
                raise SchedulerRequestError(error) from error
        else:
            model, stream = _native(seen, endpoint)
    except RequestError:
        if not opaque:
            raise
    return RouteRequest(  # by position, which is half the price
        request_id,
        endpoint,
        path,
        inbound.query,
        inbound.method,
        model,
        stream,
        caller,
        body,
        arrived_mono_s,
        arrived_wall_s,
        task,
    )


def _look_again(body: bytes) -> _Glance:
    """Read a body that was refused: say why, unless Python's own parser takes it."""
    try:
        rest = _glance_at_rest(body)
    except msgspec.ValidationError as error:
        if str(error).endswith("`$.model`"):
            what = "a list" if "got `array`" in str(error) else "an object"
            raise InvalidPayload(f"'model' must be a string, not {what}.") from None
        raise InvalidPayload("The request body must be a JSON object.") from None
    except _UNREADABLE as error:
        why = str(error)
    else:  # then it was `stream`, and whatever that is, it asks for none
        return _Glance(rest.model, None, rest.messages, rest.Request_ID, rest.Prompt)
    # Python's own parser takes a little more (NaN, lone surrogates), and so do Instances.
    value = _parsed(body, why)
    if not isinstance(value, dict):
        raise InvalidPayload("The request body must be a JSON object.")
    return _Glance(
        model=value.get("model"),
        stream=value.get("stream"),
        messages=_raw(value.get("messages")),
        Request_ID=_raw(value.get("Request_ID")),
        Prompt=_raw(value.get("Prompt")),
    )


def _parsed(body: bytes, why: str | None = None) -> Any:
    if len(body) > _VALUES_MAX and has_more_values(body, _VALUES_MAX):
        if why is not None:
            raise InvalidJson(f"The request body is not valid JSON: {why}.")
        raise InvalidPayload(f"A Scheduler's request may hold {_VALUES_MAX} values, not more.")
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InvalidJson(f"The request body is not valid JSON: {why or error}.") from None


def _check_name(model: str) -> None:
    if len(model) > MODEL_MAX_CHARS:
        raise InvalidPayload(
            f"'model' must be a name of at most {MODEL_MAX_CHARS} characters, not {len(model)}."
        )
    if not model.isascii():
        try:
            model.encode()
        except UnicodeEncodeError:
            raise InvalidPayload(f"'model' is not text: {model!r:.60}.") from None


def _is_given(value: msgspec.Raw) -> bool:
    return bytes(value) not in (b"", b"null")


def _raw(value: object) -> msgspec.Raw:
    if value is None:
        return msgspec.Raw()
    return msgspec.Raw(b"[]" if isinstance(value, list) else b"{}")


def _native(seen: _Glance, endpoint: str) -> tuple[str | None, bool]:
    model = seen.model
    if model is not None and type(model) is not str:
        raise InvalidPayload(f"'model' must be a string, not {model!r:.60}.")
    if model is not None:
        _check_name(model)
    if endpoint == "chat/completions":
        messages = memoryview(seen.messages)
        if len(messages) and messages[0] != 0x5B and bytes(messages) != b"null":
            raise InvalidPayload("'messages' must be a list.")
    return model, seen.stream is True or seen.stream == 1
