"""What a real vLLM 0.32.0 said, on a CPU, to whoever asked; shortened to what matters here.

Only the numbers behind the gauges may be set by a test.
"""

MODELS = (
    b'{"object":"list","data":[{"id":"tiny","object":"model","created":1796010190,'
    b'"owned_by":"vllm","root":"/models/tiny","parent":null,"max_model_len":8192,"permission":'
    b'[{"id":"modelperm-80cd77fcc2b79b71","object":"model_permission","created":1796010190,'
    b'"allow_create_engine":false,"allow_sampling":true,"allow_logprobs":true,'
    b'"allow_search_indices":false,"allow_view":true,"allow_fine_tuning":false,'
    b'"organization":"*","group":null,"is_blocking":false}]}]}'
)

VERSION = b'{"version":"0.32.0"}'

_METRICS = """\
# HELP process_start_time_seconds Start time of the process since unix epoch in seconds.
# TYPE process_start_time_seconds gauge
process_start_time_seconds 1.79601011959e+09
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{{engine="0",model_name="tiny"}} {running:.1f}
# HELP vllm:num_requests_waiting Number of requests waiting to be processed.
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{{engine="0",model_name="tiny"}} {waiting:.1f}
vllm:num_requests_waiting_by_reason{{engine="0",model_name="tiny",reason="capacity"}} {waiting:.1f}
vllm:num_requests_waiting_by_reason{{engine="0",model_name="tiny",reason="deferred"}} 0.0
# HELP vllm:kv_cache_usage_perc KV-cache usage. 1 means 100 percent usage.
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{{engine="0",model_name="tiny"}} {kv_usage}
# HELP vllm:request_success_total Count of successfully processed requests.
# TYPE vllm:request_success_total counter
vllm:request_success_total{{engine="0",finished_reason="stop",model_name="tiny"}} 0.0
vllm:request_success_total{{engine="0",finished_reason="length",model_name="tiny"}} {finished:.1f}
vllm:request_success_total{{engine="0",finished_reason="abort",model_name="tiny"}} 0.0
# HELP vllm:request_success_created Count of successfully processed requests.
# TYPE vllm:request_success_created gauge
vllm:request_success_created{{engine="0",finished_reason="length",model_name="tiny"}} 1.7960101e+09
# HELP vllm:cache_config_info Information of the LLMEngine CacheConfig
# TYPE vllm:cache_config_info gauge
vllm:cache_config_info{{block_size="32",cache_dtype="auto",enable_prefix_caching="True",engine="0",\
kv_cache_size_tokens="262144",num_gpu_blocks="8192",sliding_window="None"}} 1.0
"""


def metrics(
    *, running: int = 0, waiting: int = 0, kv_usage: float = 0.0, finished: int = 9
) -> bytes:
    """Return vLLM's page with these numbers."""
    page = _METRICS.format(running=running, waiting=waiting, kv_usage=kv_usage, finished=finished)
    return page.encode()
