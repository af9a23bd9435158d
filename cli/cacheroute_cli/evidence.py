"""What coefficients are fitted to: measurements, whoever made them, and what a log has to say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cacheroute.client.request_lines import read_request_logs
from cacheroute.core.predict.lessons import KvService, learn, models_of
from cacheroute.core.predict.samples import DecodeSample, PrefillSample
from cacheroute_cli.diagnostics import Fault, UsageFault

_SHOWN_MODELS = 5


class LogUnreadable(Fault):
    """A request log cannot be read."""

    code = "calibrate.log_unreadable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Measurements, and where they come from."""

    source: str
    """`endpoint` or `log`."""
    model: str | None
    """Whose speed it is; None is not known."""
    requests: int
    """Requests that were sent, or read."""
    prefill: tuple[Sequence[PrefillSample], ...]
    """Alternatives, the best first."""
    decode: Sequence[DecodeSample]
    kv: Sequence[KvService] = ()
    left_out: tuple[str, ...] = ()
    """What taught nothing, in words with their counts."""
    skipped_lines: int = 0
    """Lines of a log that are no request."""
    way_out: str
    """What helps when all this is not enough."""


def evidence_of_logs(logs: Sequence[Path], *, model: str | None) -> Evidence:
    """Learn from request logs; raises LogUnreadable, or UsageFault for several models."""
    try:
        lines = read_request_logs(logs)
    except OSError as problem:
        why = (problem.strerror or "it cannot be read").lower()
        raise LogUnreadable(f"cannot read {problem.filename} ({why})") from problem
    models = models_of(lines.requests)
    if model is None and len(models) > 1:
        raise UsageFault(
            f"the logs are of {len(models)} models ({_listed(models)}), which differ in speed",
            hint="say which one with --model",
        )
    if model is not None and lines.requests and model not in models:
        raise UsageFault(f"the logs have no request to {model!r}, but to {_listed(models)}")
    # Requests to other models stay: they took time where these ran.
    lessons = learn(lines.requests, model=model)
    left_out = [f"{count} requests {why}" for why, count in lessons.left_out.most_common()]
    if lines.forgotten:
        left_out.append(f"{lines.forgotten} requests before the last {len(lines.requests)}")
    return Evidence(
        source="log",
        model=model or next(iter(models), None),
        requests=len(lines.requests),
        prefill=(lessons.by_forecast, [*lessons.by_forecast, *lessons.by_count]),
        decode=lessons.decode,
        kv=lessons.kv,
        left_out=tuple(left_out),
        skipped_lines=lines.skipped,
        way_out="log for longer, or measure an idle Instance with --endpoint and --model",
    )


def _listed(models: Mapping[str, int]) -> str:
    shown = ", ".join(list(models)[:_SHOWN_MODELS]) or "none that is named"
    return f"{shown}, ..." if len(models) > _SHOWN_MODELS else shown
