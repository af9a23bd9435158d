"""How well the fleet is predicted, as the control plane shows it.

What is shown is copied in one go and made into a page later, which may be elsewhere: half of
the work is sorting the errors of every Instance.
"""

from dataclasses import dataclass

from cacheroute.core.pool_member import Member
from cacheroute.core.predict.coefficients import PUBLISHED, Coefficients
from cacheroute.core.predict.correction import Corrections
from cacheroute.core.predict.errors import PredictionErrors, quantile
from cacheroute.planes.control_owner import Learned, Predictions

JsonObject = dict[str, object]

CORRECTIONS = ("text_prefill", "kv_prefill", "transfer", "decode")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Errors:
    count: int
    recent: tuple[float, ...]

    def as_wire(self) -> JsonObject:
        return {
            "count": self.count,
            "window": len(self.recent),
            "p50_ratio": quantile(self.recent, 0.5),
            "p90_ratio": quantile(self.recent, 0.9),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Instance:
    instance_id: str
    errors: _Errors
    corrections: JsonObject
    answer_tokens: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """All predictions at one instant."""

    wall_s: float
    errors: _Errors
    instances: tuple[_Instance, ...]
    coefficients: Coefficients


def take(predictions: Predictions, wall_s: float) -> Taken:
    """Copy what changes, up to 15 us for an Instance."""
    return Taken(
        wall_s=wall_s,
        errors=_errors(predictions.errors),
        instances=tuple(
            _instance(member.instance.instance_id, learned)
            for member, learned in predictions.known()
        ),
        coefficients=predictions.coefficients,
    )


def errors_row(errors: PredictionErrors) -> JsonObject:
    """Build the figures of one window of errors."""
    return _errors(errors).as_wire()


def instance_predictions(predictions: Predictions, member: Member) -> JsonObject | None:
    """Build the part of one Instance; None when nothing was predicted of it."""
    learned = next((learned for who, learned in predictions.known() if who is member), None)
    return None if learned is None else _row(_instance(member.instance.instance_id, learned))


def predictions_page(taken: Taken) -> JsonObject:
    """Build `GET /debug/predictions`."""
    document = taken.coefficients.as_mapping()
    fitted = document.pop("fitted", {})
    return {
        "ok": True,
        "generated_at": taken.wall_s,
        "errors": taken.errors.as_wire(),
        "instances": list(map(_row, taken.instances)),
        "coefficients": {name: _without_curve(section) for name, section in document.items()},
        "source": "published" if taken.coefficients == PUBLISHED else "document",
        "fitted": fitted,
    }


def _row(one: _Instance) -> JsonObject:
    return {
        "instance_id": one.instance_id,
        "errors": one.errors.as_wire(),
        "corrections": one.corrections,
        "answer_tokens": one.answer_tokens,
    }


def _errors(errors: PredictionErrors) -> _Errors:
    return _Errors(count=errors.count, recent=errors.recent)


def _instance(instance_id: str, learned: Learned) -> _Instance:
    return _Instance(
        instance_id=instance_id,
        errors=_errors(learned.errors),
        corrections=_corrections(learned.corrections),
        answer_tokens=learned.answer_tokens,
    )


def _corrections(corrections: Corrections) -> JsonObject:
    found = ((name, getattr(corrections, name)) for name in CORRECTIONS)
    return {name: {"factor": one.factor, "count": one.count} for name, one in found}


def _without_curve(section: object) -> object:
    if not isinstance(section, dict):
        return section
    return {key: value for key, value in section.items() if key != "curve"}
