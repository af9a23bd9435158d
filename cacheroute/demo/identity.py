"""Who a demo Instance says it is when it registers: address, endpoints, meta, capabilities."""

from cacheroute.demo.options import InstanceOptions
from cacheroute.demo.service import ENDPOINTS, VERSION

_WILDCARDS = ("", "0.0.0.0", "::")


def advertised_host(options: InstanceOptions) -> str:
    """Return the host that others can connect to; a wildcard address never is."""
    if options.advertise_host is not None:
        return options.advertise_host
    return "127.0.0.1" if options.host in _WILDCARDS else options.host


def instance_id(options: InstanceOptions, port: int) -> str:
    """Return the id to register under."""
    if options.instance_id is not None:
        return options.instance_id
    return f"hp_{advertised_host(options)}:{options.advertise_port or port}"


def registration(options: InstanceOptions, port: int) -> dict[str, object]:
    """Return the body of the registration of an Instance that listens on `port`."""
    profile = options.profile
    name = {"identifier": options.model}
    return {
        "instance_id": instance_id(options, port),
        "host": advertised_host(options),
        "port": options.advertise_port or port,
        "endpoints": list(ENDPOINTS),
        "tags": list(options.tags),
        "weight": options.weight,
        "meta": {
            "version": VERSION,
            "model": options.model,
            "cp_port": options.cp_port or options.advertise_port or port,
            "profile": profile.name,
            "speed": options.speed,
            "max_model_len": options.max_model_tokens,
        },
        "capabilities": {
            "schema_version": "1",
            "model": name,
            "tokenizer": name,
            "adapters": [],
            "kv_cache": {
                "layout": "paged",
                "schema_version": "1",
                "dtype": "bfloat16",
                "block_size": profile.block_tokens,
            },
            "parallelism": {
                "tensor_parallel_size": profile.cards,
                "pipeline_parallel_size": 1,
                "data_parallel_size": 1,
            },
            "runtime": {
                "vllm_version": VERSION,
                "supported_cache_features": [
                    "chunked_prefill",
                    *(["kv_injection"] if options.kv is not None else []),
                    "prefix_caching",
                ],
            },
        },
    }
