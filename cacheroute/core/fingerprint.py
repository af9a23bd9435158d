"""What an Instance can do, as one comparable string.

Both sides work the same digest out of the capability object, so a heartbeat can say
"still the same" in 71 characters. Ours is the one that counts.
"""

import hashlib
import json
from collections.abc import Mapping

_SETS = frozenset({"supported_cache_features"})
"""Lists whose order and repetitions mean nothing. Adapters are not one: their order is theirs."""


def _canonical(value: object) -> object:
    if isinstance(value, Mapping):
        return {
            key: sorted(set(item)) if key in _SETS and isinstance(item, list) else _canonical(item)
            for key, item in value.items()
            if item is not None
        }
    if isinstance(value, (list, tuple)):
        return [_canonical(item) for item in value]
    return value


def capability_fingerprint(capabilities: Mapping[str, object]) -> str:
    """Digest a capability object that has all seven of its top-level keys.

    Nulls are dropped at every depth, empty lists and objects stay; then JSON with sorted
    keys, no spaces and no ASCII escapes, as UTF-8, through SHA-256.
    """
    text = json.dumps(
        _canonical(capabilities),
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=False,
    )
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
