"""`/metrics` in the names, labels, types and help texts of vLLM 0.32.

Times are real seconds, as a scraper's clock sees them: model seconds over `speed`. As in
vLLM, the prefix cache counts tokens, a client that leaves is not counted as an `abort`,
and the use of the KV space falls to 0 when nothing runs.
"""

from collections.abc import Callable

from cacheroute.core.engine.engine import Engine
from cacheroute.core.engine.run import Run
from cacheroute.demo.exposition import Histogram, Labels, Sample, render_family
from cacheroute.demo.vllm_families import HISTOGRAMS, VALUES

CONTENT_TYPE = b"text/plain; version=0.0.4; charset=utf-8"

_FINISHED_REASONS = ("stop", "length", "abort", "error", "repetition")
_REJECTED_REASONS = ("max_num_queued_reqs", "max_num_queued_tokens")


class VllmMetrics:
    """What an engine has done, as vLLM would tell it; an `exchange.Observer`."""

    def __init__(
        self,
        engine: Engine,
        *,
        model: str,
        created_at_s: float,
        speed: Callable[[], float],
        loading: Callable[[], int] = lambda: 0,
    ) -> None:
        self._engine = engine
        self._labels = {"engine": "0", "model_name": model}
        self._created_at_s = created_at_s
        self._speed = speed
        self._loading = loading
        self._histograms = {name: Histogram(bounds) for name, (_, bounds) in HISTOGRAMS.items()}
        self._finished = dict.fromkeys(_FINISHED_REASONS, 0)
        self._rejected = dict.fromkeys(_REJECTED_REASONS, 0)

    def on_token(self, run: Run, at_s: float, previous_at_s: float | None) -> None:
        """Count one token's wait: from the request for the first, else from the one before."""
        since_s = run.asked_at_s if previous_at_s is None else previous_at_s
        name = "time_to_first_token_seconds" if previous_at_s is None else (
            "inter_token_latency_seconds"
        )  # fmt: skip
        self._histograms[name].observe((at_s - since_s) / self._speed())

    def on_finished(self, run: Run, reason: str) -> None:
        """Count a request that has ended by itself."""
        self._finished["length" if reason == "length" else "stop"] += 1
        ended_s, began_s = run.finished_at_s, run.scheduled_at_s
        if ended_s is None or began_s is None:
            return
        first_s = ended_s if run.first_token_at_s is None else run.first_token_at_s
        prompt, output = run.sequence.prompt_tokens, run.sequence.output_tokens
        speed = self._speed()
        seen = {
            "request_prompt_tokens": prompt,
            "request_generation_tokens": output,
            "request_prefill_kv_computed_tokens": prompt - run.cached_tokens,
            "e2e_request_latency_seconds": (ended_s - run.asked_at_s) / speed,
            "request_queue_time_seconds": (began_s - run.asked_at_s) / speed,
            "request_inference_time_seconds": (ended_s - began_s) / speed,
            "request_prefill_time_seconds": (first_s - began_s) / speed,
            "request_decode_time_seconds": (ended_s - first_s) / speed,
        }
        if output > 1:
            seen["request_time_per_output_token_seconds"] = (
                (ended_s - first_s) / (output - 1) / speed
            )
        for name, value in seen.items():
            self._histograms[name].observe(value)

    def on_asked(self, *, choices: int, max_tokens: int | None) -> None:
        """Count the parameters of a request."""
        self._histograms["request_params_n"].observe(choices)
        if max_tokens is not None:
            self._histograms["request_params_max_tokens"].observe(max_tokens)

    def on_rejected(self) -> None:
        """Count a request that found the queue full."""
        self._rejected["max_num_queued_reqs"] += 1

    def render(self) -> bytes:
        """Return the whole page."""
        values = self._values()
        families = [(VALUES[name], samples) for name, samples in values.items()]
        families += [
            (family, self._histograms[name].samples(self._labels))
            for name, (family, _) in HISTOGRAMS.items()
        ]
        return "".join(
            render_family(family, samples, self._created_at_s) for family, samples in families
        ).encode()

    def _values(self) -> dict[str, list[Sample]]:
        engine, labels = self._engine, self._labels
        totals = engine.totals
        hits, loaded = totals.prefix_hits_tokens, totals.loaded_tokens
        waiting = {"capacity": engine.waiting, "deferred": self._loading()}
        sources = {
            "local_compute": totals.prefix_queries_tokens - hits - loaded,
            "local_cache_hit": hits,
            "external_kv_transfer": loaded,
        }
        model = {"model_name": labels["model_name"]}
        return {
            "num_requests_running": [("", labels, engine.running)],
            "num_requests_waiting": [("", labels, sum(waiting.values()))],
            "num_requests_waiting_by_reason": _split(labels, "reason", waiting),
            "kv_cache_usage_perc": [("", labels, engine.kv_usage_ratio)],
            "prefix_cache_queries": [("", labels, totals.prefix_queries_tokens)],
            "prefix_cache_hits": [("", labels, hits)],
            "external_prefix_cache_queries": [("", labels, totals.outside_queries_tokens)],
            "external_prefix_cache_hits": [("", labels, loaded)],
            "num_preemptions": [("", labels, 0)],
            "prompt_tokens": [("", labels, totals.prompt_tokens)],
            "prompt_tokens_by_source": _split(labels, "source", sources),
            "prompt_tokens_cached": [("", labels, hits + loaded)],
            "generation_tokens": [("", labels, totals.generation_tokens)],
            "request_success": _split(labels, "finished_reason", self._finished),
            "admission_rejections": _split(model, "reason", self._rejected),
            "cache_config_info": [("", {"engine": "0", **self._cache_config()}, 1)],
        }

    def _cache_config(self) -> dict[str, str]:
        profile = self._engine.profile
        return {
            "block_size": str(profile.block_tokens),
            "cache_dtype": "auto",
            "enable_prefix_caching": "True",
            "gpu_memory_utilization": "0.9",
            "kv_cache_size_tokens": str(profile.blocks * profile.block_tokens),
            "num_cpu_blocks": "None",
            "num_gpu_blocks": str(profile.blocks),
            "prefix_caching_hash_algo": "xxhash",
            "sliding_window": "None",
        }


def _split(labels: Labels, by: str, values: dict[str, int]) -> list[Sample]:
    return [("", {**labels, by: key}, value) for key, value in values.items()]
