"""The fields of a request body that every generating endpoint shares, checked once.

What vLLM refuses is refused with its words; what it ignores is ignored.
"""

import math
from dataclasses import dataclass
from typing import Any

from cacheroute.demo.refusal import Refusal, bad_value, unknown_model, wrong_type

CHOICES_MAX = 16
_STOPS_MAX = 64

Body = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModel:
    """The one model of an Instance."""

    name: str
    max_model_tokens: int
    """Longest prompt and answer together."""
    created_at_s: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """How an answer is to be made and sent."""

    max_tokens: int | None = None
    """Exactly so many tokens are generated; None lets the answer end by itself."""
    choices: int = 1
    stops: tuple[str, ...] = ()
    stream: bool = False
    include_usage: bool = False
    """Whether a stream ends with a chunk of usage."""
    continuous_usage: bool = False
    """Whether every chunk of a stream carries usage."""
    cache_salt: str = ""
    """Requests with another salt share no prefix."""


def read_params(body: Body, *, max_tokens_keys: tuple[str, ...], model: ServedModel) -> Params:
    """Read the shared fields; raises Refusal."""
    check_model(body, model)
    stream = _flag(body, "stream")
    options = body.get("stream_options")
    if options is not None and not isinstance(options, dict):
        raise wrong_type("stream_options", options, "dict")
    if options is not None and not stream:
        raise Refusal(
            400,
            "Stream options can only be defined when `stream=True`. (parameter=stream_options)",
            param="stream_options",
        )
    _check_sampling(body)
    return Params(
        max_tokens=_max_tokens(body, max_tokens_keys, model.max_model_tokens),
        choices=_choices(body),
        stops=_stops(body),
        stream=stream,
        include_usage=options is not None and _flag(options, "include_usage"),
        continuous_usage=options is not None and _flag(options, "continuous_usage_stats"),
        cache_salt=str(body.get("cache_salt") or ""),
    )


def check_model(body: Body, model: ServedModel) -> None:
    """Refuse a body that asks for another model; one that names none is served."""
    name = body.get("model")
    if name is None or name == model.name:
        return
    if not isinstance(name, str):
        raise wrong_type("model", name, "string")
    raise unknown_model(name, model.name)


def _flag(body: Body, name: str) -> bool:
    value = body.get(name)
    if value is None:
        return False
    if not isinstance(value, bool):
        raise wrong_type(name, value, "boolean")
    return value


def _check_sampling(body: Body) -> None:
    temperature = _number(body, "temperature")
    if temperature is not None and not temperature >= 0:
        raise bad_value(
            "temperature", temperature, f"temperature must be non-negative, got {temperature}."
        )
    top_p = _number(body, "top_p")
    if top_p is not None and not 0 < top_p <= 1:
        raise bad_value("top_p", top_p, f"top_p must be in (0, 1], got {top_p}.")


def _number(body: Body, name: str) -> float | None:
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise wrong_type(name, value, "number")
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _max_tokens(body: Body, keys: tuple[str, ...], limit: int) -> int | None:
    for name in keys:
        value = body.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int):
            raise wrong_type(name, value, "integer")
        if value < 1:
            raise bad_value(name, value, f"{name} must be at least 1, got {value}.")
        if value > limit:
            raise bad_value(
                "max_tokens",
                value,
                f"max_tokens={value} cannot be greater than max_model_len={limit}. "
                "Please request fewer output tokens.",
            )
        return value
    return None


def _choices(body: Body) -> int:
    value = body.get("n")
    if value is None:
        return 1
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong_type("n", value, "integer")
    if not 1 <= value <= CHOICES_MAX:
        raise bad_value("n", value, f"n must be between 1 and {CHOICES_MAX}, got {value}.")
    return value


def _stops(body: Body) -> tuple[str, ...]:
    value = body.get("stop")
    if value is None:
        return ()
    stops = [value] if isinstance(value, str) else value
    if not isinstance(stops, list) or not all(isinstance(stop, str) for stop in stops):
        raise wrong_type("stop", value, "string")
    if len(stops) > _STOPS_MAX or "" in stops:
        raise Refusal(
            400, "stop cannot contain an empty string. (parameter=stop)", param="stop"
        )  # fmt: skip
    return tuple(stops)
