"""Every URL of CacheRoute, once.

The service plane carries inference, the control plane carries everything else; health
answers on both.
"""

from typing import Final

# Both planes
HEALTH: Final = "/health"
HEALTHZ: Final = "/healthz"
READY: Final = "/ready"
HEALTH_PATHS: Final = frozenset({HEALTH, HEALTHZ, READY})
"""Open to everybody, with no detail in the answer that could help an attacker."""

# Service plane, :8001
CHAT_COMPLETIONS: Final = "/v1/chat/completions"
COMPLETIONS: Final = "/v1/completions"
MODELS: Final = "/v1/models"
EMBEDDINGS: Final = "/v1/embeddings"
RESPONSES: Final = "/v1/responses"
MESSAGES: Final = "/v1/messages"
RERANK: Final = "/v1/rerank"
SCORE: Final = "/v1/score"
TOKENIZE: Final = "/tokenize"
DETOKENIZE: Final = "/detokenize"
PASS_THROUGH: Final = (EMBEDDINGS, RESPONSES, MESSAGES, RERANK, SCORE, TOKENIZE, DETOKENIZE)
"""Further inference paths that Instances serve and the Proxy counts as load."""

# Control plane, :8002
INSTANCE_REGISTER: Final = "/v1/instance/register"
INSTANCE_HEARTBEAT: Final = "/v1/instance/heartbeat"
INSTANCE_UNREGISTER: Final = "/v1/instance/unregister"
INSTANCE_LIST: Final = "/v1/instance/list"
INSTANCE_RESOURCE_SNAPSHOT: Final = "/v1/instance/resource_snapshot"
TOPOLOGY_REPORT: Final = "/v1/topology/report"
TOPOLOGY_KDN_LINKS: Final = "/v1/topology/kdn_links"
DEBUG_STATUS: Final = "/debug/status"
DEBUG_INSTANCE_RESOURCES: Final = "/debug/instance_resources"
DEBUG_INSTANCE_LOADS: Final = "/debug/instance_loads"
DEBUG_POOL_RESOURCE: Final = "/debug/pool_resource"
DEBUG_POOL_RESOURCE_SOURCES: Final = "/debug/pool_resource_sources"
DEBUG_DECISIONS: Final = "/debug/decisions"
DEBUG_TRACES: Final = "/debug/traces"
DEBUG_TOPOLOGY: Final = "/debug/topology"
DEBUG_SCHEDULER: Final = "/debug/scheduler"
DEBUG_PREDICTIONS: Final = "/debug/predictions"
CONSOLE_SNAPSHOT: Final = "/v1/console/snapshot"
CONSOLE_INSTANCE: Final = "/v1/console/instance"
CONSOLE_STREAM: Final = "/v1/console/stream"
METRICS: Final = "/metrics"
ADMIN_DRAIN: Final = "/v1/admin/instance/drain"
ADMIN_UNDRAIN: Final = "/v1/admin/instance/undrain"
ADMIN_WEIGHT: Final = "/v1/admin/instance/weight"
ADMIN_UNREGISTER: Final = "/v1/admin/instance/unregister"
ADMIN_STRATEGY: Final = "/v1/admin/strategy"

# Scheduler control plane, :7002
PROXY_REGISTER: Final = "/v1/proxy/register"
PROXY_HEARTBEAT: Final = "/v1/proxy/heartbeat"
PROXY_UNREGISTER: Final = "/v1/proxy/unregister"
PROXY_LIST: Final = "/v1/proxy/list"

# Instance control plane, :9002 or the Instance's own port
KV_INJECT_READY: Final = "/v1/kv/inject_ready"

# Resource agent, :9201
AGENT_SNAPSHOT: Final = "/v1/resource/snapshot"

# Knowledge node, :9101
KNOWLEDGE_SEARCH_TEXT: Final = "/knowledge/search/text"
KNOWLEDGE_REGISTER_TEXT: Final = "/knowledge/register_text"
KNOWLEDGE_BUILD_KV: Final = "/knowledge/build_kv"
KNOWLEDGE_INJECT_READY_KV: Final = "/knowledge/inject_ready_kv"
KNOWLEDGE_SNAPSHOT: Final = "/knowledge/snapshot"
KNOWLEDGE_DELETE: Final = "/knowledge/delete"
KNOWLEDGE_PURGE_ALL: Final = "/knowledge/purge_all"
KNOWLEDGE_POOL_STATUS: Final = "/knowledge/pool_status"
TOPOLOGY_HELLO: Final = "/v1/topology/hello"
TOPOLOGY_PING: Final = "/v1/topology/ping"


def endpoint_of(path: str) -> str:
    """Return a path as Instances list it among their endpoints: `/v1/x/y` is `x/y`."""
    name = path.strip("/")
    return "" if name == "v1" else name.removeprefix("v1/")
