"""A registered Instance as one JSON text, and back.

Only what it said itself is written. Keys are not; models and fingerprint are worked out
again when it is taken back.
"""

from typing import Annotated, Any

import msgspec

from cacheroute.core.instance import Instance


class _Row(msgspec.Struct, forbid_unknown_fields=False, kw_only=True):
    instance_id: Annotated[str, msgspec.Meta(min_length=1, max_length=264)]
    host: Annotated[str, msgspec.Meta(min_length=1)]
    port: Annotated[int, msgspec.Meta(ge=1, le=65535)]
    base_path: str = ""
    endpoints: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    weight: Annotated[float, msgspec.Meta(ge=0)] = 1.0
    meta: dict[str, Any] = {}
    capabilities: dict[str, Any] | None = None
    registered_wall_s: float = 0.0


def to_row(instance: Instance) -> str:
    """Write an Instance."""
    row = _Row(**{name: getattr(instance, name) for name in _Row.__struct_fields__})
    return msgspec.json.encode(row).decode()


def from_row(text: str) -> Instance:
    """Read an Instance; ValueError when the text does not hold one."""
    return Instance(**msgspec.structs.asdict(msgspec.json.decode(text, type=_Row)))
