"""Faults on request: what an Instance can do wrong, for tests and for rehearsals.

Some faults strike the next requests (`die_mid_stream`, `error`, `error_event`), others the
whole Instance for a while (`freeze`, `refuse`, `slow`). One of each kind at most is armed.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

from cacheroute.demo.refusal import Refusal, bad_value

REQUEST_KINDS = ("die_mid_stream", "error", "error_event")
STATE_KINDS = ("freeze", "refuse", "slow")
KINDS = REQUEST_KINDS + STATE_KINDS

_FOR_MAX_S = 3600.0
_REFUSE_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing going wrong."""

    kind: str
    after_tokens: int = 1
    """How many tokens of the answer come out before it strikes; 0 is before the first byte."""
    status: int = 500
    """Status of an `error`."""
    count: int | None = None
    """How many requests it strikes; None means all until it ends. One, if nothing bounds it."""
    for_s: float | None = None
    """How long it lasts, in real seconds; None until it is used up or taken back."""
    retry_after_s: float | None = None
    """Hint that goes with an `error`."""
    factor: float = 10.0
    """How many times slower `slow` makes everything."""

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, for people to read."""
        return {name: getattr(self, name) for name in self.__slots__}


_NUMBERS: dict[str, tuple[type[int] | type[float], float, float]] = {
    "after_tokens": (int, 0, 1e9),
    "status": (int, 400, 599),
    "count": (int, 1, 1e9),
    "for_s": (float, 0.001, _FOR_MAX_S),
    "retry_after_s": (float, 0, _FOR_MAX_S),
    "factor": (float, 0.01, 1e6),
}


def read_fault(body: object) -> Fault:
    """Understand the body of a fault request; raises Refusal with what is wrong in it."""
    if not isinstance(body, dict):
        raise Refusal(400, "A fault is a JSON object with at least a `kind`.", param="kind")
    kind = body.get("kind")
    if kind not in KINDS:
        raise bad_value("kind", kind, f"kind must be one of {', '.join(KINDS)}, not {kind}.")
    unknown = sorted(set(body) - {"kind", *_NUMBERS})
    if unknown:
        raise Refusal(
            400,
            f"A fault has no {', '.join(unknown)}; it may have {', '.join(_NUMBERS)}.",
            param=unknown[0],
        )
    fields = {
        name: _number(name, value)
        for name, value in body.items()
        if name != "kind" and value is not None
    }
    if kind in REQUEST_KINDS and "count" not in fields and "for_s" not in fields:
        fields["count"] = 1
    if kind == "refuse":
        # Nobody can take it back: the port that would hear of it is closed.
        fields.setdefault("for_s", _REFUSE_S)
    return Fault(kind=kind, **fields)


def parse_fault(text: str) -> Fault:
    """Read `--fault`: `error` or `error:status=503,count=3`; raises Refusal."""
    kind, _, rest = text.partition(":")
    body: dict[str, Any] = {"kind": kind}
    for pair in filter(None, rest.split(",")):
        name, _, value = pair.partition("=")
        if name not in _NUMBERS:
            raise bad_value(name, value, f"A fault has no {name}.")
        try:
            body[name] = _NUMBERS[name][0](value)
        except ValueError:
            raise bad_value(name, value, f"{name} must be a number, not '{value}'.") from None
    return read_fault(body)


def _number(name: str, value: object) -> Any:
    kind, least, most = _NUMBERS[name]
    right = isinstance(value, (int, float) if kind is float else int)
    if isinstance(value, bool) or not right or not least <= value <= most:  # type: ignore[operator]
        raise bad_value(name, value, f"{name} must be between {least:g} and {most:g}, not {value}.")
    return value


class Faults:
    """The faults that are armed now."""

    def __init__(self) -> None:
        self._armed: dict[str, tuple[Fault, float]] = {}

    def arm(self, fault: Fault, now: float) -> None:
        """Take up a fault, in place of one of its kind."""
        self._armed[fault.kind] = (fault, now + (fault.for_s or math.inf))

    def clear(self) -> None:
        """Take all faults back."""
        self._armed.clear()

    def disarm(self, kind: str) -> None:
        """Take one kind back."""
        self._armed.pop(kind, None)

    def armed(self, now: float) -> list[Fault]:
        """Return what is armed, in the order of `KINDS`."""
        self._forget(now)
        return [self._armed[kind][0] for kind in KINDS if kind in self._armed]

    def strike(self, now: float) -> Fault | None:
        """Return the fault that strikes a request now; it has one use less afterwards."""
        self._forget(now)
        for kind in REQUEST_KINDS:
            if kind not in self._armed:
                continue
            fault, until = self._armed[kind]
            if fault.count is not None:
                if fault.count <= 1:
                    del self._armed[kind]
                else:
                    self._armed[kind] = (replace(fault, count=fault.count - 1), until)
            return fault
        return None

    def _forget(self, now: float) -> None:
        self._armed = {kind: one for kind, one in self._armed.items() if one[1] > now}
