"""Two names for one knowledge node.

Instances report what they measured of a node twice, by its own name and by its address. So a name
belongs to the only address of which exactly the same was measured.
"""

from collections.abc import Mapping


def second_names(measured: Mapping[str, object]) -> frozenset[str]:
    """Return the keys of a report whose node is in it under `kdn://host:port` as well."""
    by_name: dict[str, list[str]] = {}
    by_address: dict[str, list[str]] = {}
    for key, link in measured.items():
        keys = by_address if key.lower().startswith("kdn://") else by_name
        keys.setdefault(repr(link), []).append(key)
    return frozenset(
        names[0]
        for link, names in by_name.items()
        if len(names) == 1 and len(by_address.get(link, ())) == 1
    )
