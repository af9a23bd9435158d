"""GPU by GPU, as an agent reported them; what is not in the report is unknown, never 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cacheroute.console.cells import UNTOLD
from cacheroute_tui.amounts import render_memory, render_percent
from cacheroute_tui.widgets.lines import Span, TextLine

if TYPE_CHECKING:
    from cacheroute.wire.instances import ResourceRow

_MOST = 64
"""GPUs that are shown of one host."""


def gpu_lines(resource: ResourceRow) -> list[TextLine]:
    """Return a line for each GPU of the report as it was sent."""
    gpus = _gpus(resource.raw_resource)
    if not gpus:
        return [[Span(" the report tells of no GPU", "dim")]]
    lines: list[TextLine] = []
    for at, gpu in enumerate(gpus[:_MOST]):
        used, total = _number(gpu, "memory_used_mb"), _number(gpu, "memory_total_mb")
        error = gpu.get("utilization_error")
        spans = [
            Span(f" gpu {gpu.get('index', at)} ", "dim"),
            Span(f"{str(gpu.get('name') or UNTOLD)[:24]:<24} "),
            Span(f"{render_percent(_number(gpu, 'utilization_pct')):>5}"),
            Span(f"  {render_memory(used):>6} of {render_memory(total)}"),
            Span(f"  {_with_unit(_number(gpu, 'temperature_c'), ' °C')}"),
            Span(f"  {_with_unit(_number(gpu, 'power_w'), ' W')}"),
        ]
        if isinstance(error, str) and error:
            spans.append(Span(f"  {error}", "warn"))
        lines.append(spans)
    return lines


def _gpus(raw: Mapping[str, object] | None) -> Sequence[Mapping[str, object]]:
    devices = (raw or {}).get("devices")
    found = devices.get("gpu") if isinstance(devices, Mapping) else None
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []


def _number(gpu: Mapping[str, object], key: str) -> float | None:
    value = gpu.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _with_unit(value: float | None, unit: str) -> str:
    return UNTOLD if value is None else f"{value:.0f}{unit}"
