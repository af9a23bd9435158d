"""Published names that are not paths of the tree, one table for each kind.

Every name somebody may rightly write is in a table here; what is in none is a mistake, and
the nearest name that exists is offered.
"""

from collections.abc import Mapping

FLAT_NAMES: Mapping[str, str] = {
    "PROXY_ID": "proxy.id",
    "PROXY_DP_HOST": "proxy.host",
    "PROXY_DP_PORT": "proxy.port",
    "PROXY_ADVERTISE_HOST": "proxy.advertise_host",
    "PROXY_ADVERTISE_PORT": "proxy.advertise_port",
    "PROXY_MAX_CAPACITY": "proxy.max_capacity",
    "PROXY_CP_HOST": "control.host",
    "PROXY_CP_PORT": "control.port",
    "PROXY_INSTANCE_TTL_S": "pool.ttl_s",
    "PROXY_INSTANCE_STRATEGY": "strategy.name",
    "SCHEDULER_CP_URL": "scheduler.url",
    "PROXY_HEARTBEAT_S": "scheduler.heartbeat_s",
    "PROXY_INSTANCE_COUNT": "scheduler.instance_count",
    "PROXY_KV_MEM_PER_INSTANCE_GB": "scheduler.kv_mem_per_instance_gb",
    "PROXY_KV_CACHE_UPDATE_POLICY": "scheduler.kv_cache_update_policy",
    "PREPARE_CONCURRENCY": "queues.prepare_concurrency",
    "READY_CONCURRENCY": "queues.ready_concurrency",
    "PROXY_READY_RELEASE_POLICY": "queues.release_policy",
    "PROXY_TEXT_BYPASS_MAX_PER_FLUSH": "queues.text_bypass_max_per_flush",
    "PROXY_INJECTION_STRATEGY": "injection.strategy",
    "IWS_DECISION_MARGIN_MS": "injection.margin_ms",
    "IWS_KDN_QUEUE_PENALTY_ALPHA": "injection.penalty_alpha",
    "KDN_DEFAULT_BANDWIDTH_MBPS": "injection.default_bandwidth_mbps",
    "PROXY_KDN_LINKS_JSON": "kdn.links",
}
"""The published environment variables, and the setting each is."""

FLAT_NAMES_WITHOUT_EFFECT = frozenset(
    (
        "PROXY_CP_URL",
        "PROXY_UI_LISTEN",
        "PROXY_UI_POLL_INTERVAL_MS",
        "PROXY_UI_PROXY_CP_URL",
        "PROXY_UI_PROXY_ID",
        "PROXY_UI_REQUEST_TIMEOUT_S",
        "PROXY_UI_SCHEDULER_CP_URL",
        "PROXY_UI_SCHEDULER_PROXY_LIST_PATH",
        "PROXY_UI_URL",
        "SCHEDULER_PROXY_LIST_PATH",
    ),
)
"""Published environment variables of things that this version of the Proxy does not do."""

CONFIG_FILE_NAMES = ("CACHEROUTE_CONFIG", "CONFIG_PATH")
"""Variables that name the file of settings, the first one set wins."""

OTHER_PREFIXED_NAMES = frozenset(
    (
        "CACHEROUTE_ASCII",
        "CACHEROUTE_CLIPBOARD",
        "CACHEROUTE_CONFIG",
        "CACHEROUTE_CONTEXT",
        "CACHEROUTE_ERRORS",
        "CACHEROUTE_INTERVAL",
        "CACHEROUTE_OUTPUT",
        "CACHEROUTE_PORTS",
        "CACHEROUTE_PROXY_URL",
        "CACHEROUTE_READONLY",
        "CACHEROUTE_RUNTIME_PROFILE",
        "CACHEROUTE_SCHEDULER_URL",
        "CACHEROUTE_STACK",
        "CACHEROUTE_STACK_FILE",
        "CACHEROUTE_THEME",
        "CACHEROUTE_TOKEN",
        "CACHEROUTE_TRACE_SAMPLE_RATE",
    ),
)
"""Variables with our prefix that belong to the console, the supervisor or traces."""

GATEWAY_KEYS: Mapping[str, str] = {
    "server.port": "proxy.port",
    "server.health_check_interval": "pool.health_check_interval_s",
    "server.default_timeout": "timeouts.between_bytes_s",
}
"""Keys of the gateway's file, and the setting each is; in one file they outrank ours."""

KEYS_WITHOUT_EFFECT = frozenset(("server.branding", "batching"))
"""Keys of the gateway's file that are left out on purpose."""

KEYS_NOT_BUILT = frozenset(
    (
        "ab_tests",
        "audit",
        "budgets",
        "defaults",
        "quality_gate",
        "rate_limits",
        "rules",
        "server.auth",
        "server.budget_timezone",
        "server.kv_pinning",
        "server.limits",
        "server.queue",
        "server.queue_aware_routing",
        "server.queue_scrape_interval",
        "server.sessions",
        "server.sla",
        "backends.circuit_breaker",
        "backends.cost_cached_input_1m",
        "backends.dynamic",
        "backends.instances",
        "backends.max_queue",
        "backends.metrics_path",
    ),
)
"""Keys that are published but that this version cannot honour: refused rather than ignored."""
