"""What an engine's metrics page says of its load, in one vocabulary for all engines.

Read line by line and by exact names, so that one line nobody can read spoils no other. What
an engine does not export is None, never 0.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_SAMPLE = re.compile(
    r"(?P<name>[a-zA-Z_:][\w:]*)"
    r'(?:\{(?P<labels>(?:[^"}]|"(?:[^"\\]|\\.)*")*)\})?'
    r"\s+(?P<value>[^\s#]+)",
    re.ASCII,
)
_LABEL = re.compile(r'(\w+)\s*=\s*"((?:[^"\\]|\\.)*)"', re.ASCII)
_ESCAPED = re.compile(r"\\(.)")
_MAX_LINE_CHARS = 16 * 1024
_TOO_MUCH = 2.0**53


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineNames:
    """How one kind of engine calls what we want to know; older names behind newer ones."""

    running: tuple[str, ...]
    """Gauges that together count requests being computed."""
    waiting: tuple[str, ...]
    """Gauges that together count requests in its queue."""
    kv_usage: tuple[str, ...] = ()
    """Gauges of the share of its KV space in use, 0 to 1; the fullest counts."""
    finished: tuple[str, ...] = ()
    """Counters of requests; the first one that is there counts."""


ENGINES: Mapping[str, EngineNames] = {
    "vllm": EngineNames(
        running=("vllm:num_requests_running",),
        waiting=("vllm:num_requests_waiting", "vllm:num_requests_swapped"),
        kv_usage=("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
        finished=("vllm:request_success_total",),
    ),
    "sglang": EngineNames(
        running=("sglang:num_running_reqs",),
        waiting=("sglang:num_queue_reqs",),
        kv_usage=("sglang:token_usage",),
        finished=("sglang:num_requests_total",),
    ),
    "llama.cpp": EngineNames(
        running=("llamacpp:requests_processing",),
        waiting=("llamacpp:requests_deferred",),
        kv_usage=("llamacpp:kv_cache_usage_ratio",),
    ),
    "tgi": EngineNames(
        running=("tgi_batch_current_size",),
        waiting=("tgi_queue_size",),
        finished=("tgi_request_count", "tgi_request_count_total"),
    ),
}
"""Every kind of engine whose page is understood."""

_CACHE_CONFIG = "vllm:cache_config_info"

_WANTED = frozenset(
    name
    for names in ENGINES.values()
    for group in (names.running, names.waiting, names.kv_usage, names.finished)
    for name in group
) | {_CACHE_CONFIG}
_BEGINNINGS = tuple(sorted({re.split(r"[:_]", name)[0] for name in _WANTED}))


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineStats:
    """One reading of an engine's metrics page."""

    kind: str | None = None
    """`vllm`, `sglang`, `llama.cpp` or `tgi`; None when the page is of none of them."""
    running: int | None = None
    """Requests being computed, over all its engines and models."""
    waiting: int | None = None
    """Requests in its queue."""
    kv_usage_ratio: float | None = None
    """Share of the KV space in use, 0 to 1; of its fullest engine."""
    finished: float | None = None
    """Requests that it has finished, or taken where it counts those, since it started."""
    cache_config: Mapping[str, str] = field(default_factory=dict)
    """Facts about its KV cache as it writes them: `block_size`, `enable_prefix_caching`."""


def read_engine_metrics(text: str) -> EngineStats:
    """Read a page in Prometheus' text format; whatever is no such page says nothing."""
    values: dict[str, list[float]] = {}
    cache_config: Mapping[str, str] = {}
    for name, labels, value in _samples(text):
        if name == _CACHE_CONFIG:
            cache_config = _read_labels(labels)
        elif 0 <= value < _TOO_MUCH:  # false for NaN
            values.setdefault(name, []).append(value)
    for kind, names in ENGINES.items():
        if any(name in values for name in (*names.running, *names.waiting)):
            return EngineStats(
                kind=kind,
                running=_total(values, names.running),
                waiting=_total(values, names.waiting),
                kv_usage_ratio=_fullest(values, names.kv_usage),
                finished=_first(values, names.finished),
                cache_config=cache_config,
            )
    return EngineStats()


def _samples(text: str) -> Iterator[tuple[str, str, float]]:
    """Give the samples whose names are wanted."""
    for line in text.splitlines():
        if not line.startswith(_BEGINNINGS) or len(line) > _MAX_LINE_CHARS:
            continue
        match = _SAMPLE.match(line)
        if match is None or match["name"] not in _WANTED:
            continue
        try:
            value = float(match["value"])
        except ValueError:
            continue
        yield match["name"], match["labels"] or "", value


def _read_labels(text: str) -> dict[str, str]:
    return {
        name: _ESCAPED.sub(lambda found: {"n": "\n"}.get(found[1], found[1]), value)
        for name, value in _LABEL.findall(text)
    }


def _total(values: Mapping[str, list[float]], names: tuple[str, ...]) -> int | None:
    known = [value for name in names for value in values.get(name, ())]
    return round(sum(known)) if known else None


def _fullest(values: Mapping[str, list[float]], names: tuple[str, ...]) -> float | None:
    return max((value for name in names for value in values.get(name, ())), default=None)


def _first(values: Mapping[str, list[float]], names: tuple[str, ...]) -> float | None:
    return next((sum(values[name]) for name in names if name in values), None)
