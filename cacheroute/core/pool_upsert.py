"""What becomes of a description when an Instance registers again.

The published rules: host, port and weight are replaced, empty endpoints and tags keep the
old ones, meta is merged, missing capabilities are cleared. A model named anew replaces the
models named before, or requests for a model that is gone would still be sent there.
"""

import json
from collections.abc import Mapping
from dataclasses import replace

from cacheroute.core.fingerprint import capability_fingerprint
from cacheroute.core.instance import Instance, declared_models
from cacheroute.core.pool_member import Member
from cacheroute.core.pool_outcomes import Refusal

MAX_META_BYTES = 16 * 1024
"""Largest meta of one Instance as JSON: merging must not let it grow for ever."""

_MODEL_KEYS = frozenset({"model", "models"})


def described(asked: Instance, known: Instance | None) -> Instance:
    """Return the description to keep, from the one that came and the one known so far."""
    if known is None or asked.origin == "static":
        models = asked.models if asked.origin == "static" else None
        return _completed(asked, asked.capabilities, models)
    merged = replace(
        asked,
        endpoints=asked.endpoints or known.endpoints,
        tags=asked.tags or known.tags,
        meta=_merged_meta(asked.meta, known.meta),
        registered_wall_s=known.registered_wall_s,
    )
    if known.origin == "static":
        # What the configuration says of a server outranks what the server says of itself.
        merged = replace(
            merged,
            origin="static",
            weight=known.weight,
            api_key=known.api_key,
            health_endpoint=known.health_endpoint,
            max_concurrent=known.max_concurrent,
            model_override=known.model_override,
        )
    return _completed(merged, merged.capabilities, None)


def with_capabilities(known: Instance, capabilities: Mapping[str, object]) -> Instance:
    """Return the description with another capability object, as a heartbeat may bring one."""
    return _completed(known, capabilities, None)


def refusal_of(
    asked: Instance,
    merged: Instance,
    known: Member | None,
    holder: Member | None,
) -> Refusal | None:
    """Say why a description may not come in; None when it may.

    `known` has the same id, `holder` the same address.
    """
    if (
        known
        and asked.origin != "static"
        and known.instance.origin == "static"
        and merged.address != known.instance.address
    ):
        return Refusal(
            code="static_instance",
            detail=(
                f"{merged.instance_id} is a static Instance at {known.instance.authority}; "
                f"it cannot move to {merged.authority}."
            ),
        )
    if holder and holder is not known and holder.instance.origin == "static":
        return Refusal(
            code="address_taken",
            detail=(
                f"{merged.authority} is the static Instance {holder.instance.instance_id}; "
                "register under that id, or take it out of the configuration."
            ),
        )
    if len(json.dumps(dict(merged.meta), default=str)) > MAX_META_BYTES:
        return Refusal(
            code="meta_too_large",
            detail=(
                f"The meta of {merged.instance_id}, merged with what is known of it, "
                f"is more than {MAX_META_BYTES} bytes of JSON."
            ),
        )
    return None


def _completed(
    instance: Instance,
    capabilities: Mapping[str, object] | None,
    models: frozenset[str] | None,
) -> Instance:
    return replace(
        instance,
        capabilities=capabilities,
        capability_fingerprint=None
        if capabilities is None
        else capability_fingerprint(capabilities),
        models=models or declared_models(capabilities, instance.meta),
    )


def _merged_meta(asked: Mapping[str, object], known: Mapping[str, object]) -> dict[str, object]:
    names_models = not _MODEL_KEYS.isdisjoint(asked)
    kept = {k: v for k, v in known.items() if not (names_models and k in _MODEL_KEYS)}
    return {**kept, **asked}
