"""How a server that described itself is registered.

What could not be read is left out: an absent capability is unknown, a made up one is wrong.
"""

import re

from cacheroute import __version__
from cacheroute.attach.options import AttachOptions
from cacheroute.attach.server import Description
from cacheroute.core.instance import default_instance_id

MAX_NAMES_CHARS = 4096
MAX_ADAPTERS = 64
MAX_ADAPTER_CHARS = 128
"""What a registration may hold of each."""
_BLOCK_SIZE = re.compile(r"[1-9][0-9]{0,8}")
"""Tokens in a block, as a metrics page writes them."""


def instance_id(options: AttachOptions) -> str:
    """Return the id to register under."""
    origin = options.origin
    return options.instance_id or default_instance_id(origin.host, origin.port, origin.base_path)


def registration(options: AttachOptions, server: Description) -> dict[str, object]:
    """Return the body of the registration."""
    origin = options.origin
    meta = {
        "model": server.model,
        "models": _names(server),
        "engine": server.kind,
        "engine_version": server.version,
        "max_model_len": _max_model_len(server),
        # Orders to load KV go here as well: it refuses them at once, where another port
        # would belong to somebody else.
        "cp_port": origin.port,
        "attached_by": f"cacheroute {__version__}",
    }
    return {
        "instance_id": instance_id(options),
        # A base path travels in the host, which may be a URL.
        "host": origin.url if origin.base_path else origin.host,
        "port": origin.port,
        "endpoints": list(server.endpoints),
        "tags": list(options.tags),
        "weight": options.weight,
        "meta": {key: value for key, value in meta.items() if value is not None},
        "capabilities": _capabilities(server),
    }


def _names(server: Description) -> list[str]:
    """All models, as far as there is room; the Proxy reads the whole list for itself."""
    names: list[str] = []
    room = MAX_NAMES_CHARS
    for card in server.cards:
        room -= len(card.name)
        if room < 0:
            break
        names.append(card.name)
    return names


def _max_model_len(server: Description) -> int | None:
    return next((c.max_model_len for c in server.cards if c.name == server.model), None)


def _capabilities(server: Description) -> dict[str, object]:
    adapters = [
        card.name
        for card in server.cards
        if card.parent is not None and len(card.name) <= MAX_ADAPTER_CHARS
    ]
    cache = server.stats.cache_config
    kv_cache: dict[str, object] = {}
    if _BLOCK_SIZE.fullmatch(size := cache.get("block_size", "")):
        kv_cache["block_size"] = int(size)
    runtime: dict[str, object] = {}
    if server.kind == "vllm" and server.version is not None:
        runtime["vllm_version"] = server.version
    if cache.get("enable_prefix_caching") == "True":
        runtime["supported_cache_features"] = ["prefix_caching"]
    return {
        "schema_version": "1",
        "model": {"identifier": server.model},
        "adapters": [{"identifier": name} for name in adapters[:MAX_ADAPTERS]],
        "kv_cache": kv_cache,
        "runtime": runtime,
    }
