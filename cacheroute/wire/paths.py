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
METRICS: Final = "/metrics"

# Resource agent, :9201
AGENT_SNAPSHOT: Final = "/v1/resource/snapshot"


def endpoint_of(path: str) -> str:
    """Return a path as Instances list it among their endpoints: `/v1/x/y` is `x/y`."""
    name = path.strip("/")
    return "" if name == "v1" else name.removeprefix("v1/")
