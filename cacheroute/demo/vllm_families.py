"""The metrics of vLLM 0.32 that the demo Instance has too: names, types, help texts, buckets."""

from cacheroute.demo.exposition import Family

_TOKENS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0)
_FIRST_TOKEN_S = (
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
    20.0, 40.0, 80.0, 160.0, 640.0, 2560.0,
)  # fmt: skip
_EACH_TOKEN_S = (
    0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
    20.0, 40.0, 80.0,
)  # fmt: skip
_REQUEST_S = (
    0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 120.0,
    240.0, 480.0, 960.0, 1920.0, 7680.0,
)  # fmt: skip


def _family(kind: str, name: str, text: str) -> Family:
    return Family(name=f"vllm:{name}", kind=kind, help=text)


VALUES: dict[str, Family] = {
    name: _family(kind, name, text)
    for kind, name, text in (
        ("gauge", "num_requests_running", "Number of requests in model execution batches."),
        ("gauge", "num_requests_waiting", "Number of requests waiting to be processed."),
        (
            "gauge",
            "num_requests_waiting_by_reason",
            "Number of waiting requests by reason. Reason labels: 'capacity' = waiting for "
            "scheduling capacity; 'deferred' = deferred by transient constraints (LoRA budget, "
            "KV transfer, blocked status). Sum of all reasons equals vllm:num_requests_waiting.",
        ),
        ("gauge", "kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage."),
        (
            "counter",
            "prefix_cache_queries",
            "Prefix cache queries, in terms of number of queried tokens.",
        ),
        (
            "counter",
            "prefix_cache_hits",
            "Prefix cache hits, in terms of number of cached tokens.",
        ),
        (
            "counter",
            "external_prefix_cache_queries",
            "External prefix cache queries from KV connector cross-instance cache sharing, in "
            "terms of number of queried tokens.",
        ),
        (
            "counter",
            "external_prefix_cache_hits",
            "External prefix cache hits from KV connector cross-instance cache sharing, in terms "
            "of number of cached tokens.",
        ),
        ("counter", "num_preemptions", "Cumulative number of preemption from the engine."),
        ("counter", "prompt_tokens", "Number of prefill tokens processed."),
        ("counter", "prompt_tokens_by_source", "Number of prompt tokens by source."),
        ("counter", "prompt_tokens_cached", "Number of cached prompt tokens (local + external)."),
        ("counter", "generation_tokens", "Number of generation tokens processed."),
        ("counter", "request_success", "Count of successfully processed requests."),
        (
            "counter",
            "admission_rejections",
            "Number of admission attempts rejected by a queue limit, by reason.",
        ),
        ("gauge", "cache_config_info", "Information of the LLMEngine CacheConfig"),
    )
}
"""Gauges and counters, by name without the prefix."""

HISTOGRAMS: dict[str, tuple[Family, tuple[float, ...]]] = {
    name: (_family("histogram", name, text), bounds)
    for name, bounds, text in (
        ("request_prompt_tokens", _TOKENS, "Number of prefill tokens processed."),
        ("request_generation_tokens", _TOKENS, "Number of generation tokens processed."),
        ("request_params_n", (1.0, 2.0, 5.0, 10.0, 20.0), "Histogram of the n request parameter."),
        ("request_params_max_tokens", _TOKENS, "Histogram of the max_tokens request parameter."),
        (
            "time_to_first_token_seconds",
            _FIRST_TOKEN_S,
            "Histogram of time to first token in seconds.",
        ),
        (
            "inter_token_latency_seconds",
            _EACH_TOKEN_S,
            "Histogram of inter-token latency in seconds.",
        ),
        (
            "request_time_per_output_token_seconds",
            _EACH_TOKEN_S,
            "Histogram of time_per_output_token_seconds per request.",
        ),
        ("e2e_request_latency_seconds", _REQUEST_S, "Histogram of e2e request latency in seconds."),
        (
            "request_queue_time_seconds",
            _REQUEST_S,
            "Histogram of time spent in WAITING phase for request.",
        ),
        (
            "request_inference_time_seconds",
            _REQUEST_S,
            "Histogram of time spent in RUNNING phase for request.",
        ),
        (
            "request_prefill_time_seconds",
            _REQUEST_S,
            "Histogram of time spent in PREFILL phase for request.",
        ),
        (
            "request_decode_time_seconds",
            _REQUEST_S,
            "Histogram of time spent in DECODE phase for request.",
        ),
        (
            "request_prefill_kv_computed_tokens",
            _TOKENS,
            "Histogram of new KV tokens computed during prefill (excluding cached tokens).",
        ),
    )
}
"""Histograms and their upper bounds, by name without the prefix."""
