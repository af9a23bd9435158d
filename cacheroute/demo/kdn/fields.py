"""How a text is shown: which fields an item of a lookup or of a snapshot has.

Embeddings are named in the protocol and not made here, so they are null.
"""

from collections.abc import Callable, Mapping, Sequence

from cacheroute.demo.kdn.texts import Entry

_FIELDS: Mapping[str, Callable[[Entry], object]] = {
    "content": lambda entry: entry.content,
    "length": lambda entry: entry.length,
    "rel_path": lambda entry: f"texts/{entry.kid}",
    "embedding": lambda _: None,
    "embed_dim": lambda _: None,
    "embedding_head": lambda _: None,
    "kv_ready": lambda entry: int(entry.kv_ready),
    "kv_rel_dir": lambda entry: entry.kid if entry.kv_ready else None,
    "kv_dumped_keys": lambda entry: entry.kv_keys,
    "kv_updated_at": lambda entry: entry.kv_updated_at_s,
    "kv_nominal_bytes": lambda entry: entry.kv_nominal_bytes,
    "kv_model": lambda entry: entry.kv_model,
}
"""The last two are ours."""

_UNASKED = (
    "length", "embedding", "embed_dim", "kv_ready", "kv_rel_dir", "kv_dumped_keys",
    "kv_updated_at", "rel_path",
)  # fmt: skip
LOOKUP_UNASKED = ("content", *_UNASKED)
"""Fields of a lookup that names none."""
SNAPSHOT_UNASKED = ("kid", *_UNASKED)


def wants_content(need_fields: Sequence[str] | None) -> bool:
    """Whether the text itself is asked for in a lookup."""
    return not need_fields or "content" in need_fields


def lookup_item(entry: Entry, need_fields: Sequence[str] | None) -> dict[str, object]:
    """Return an item of a lookup: its id, and what was asked for."""
    return {"id": entry.kid, **_picked(entry, need_fields or LOOKUP_UNASKED)}


def snapshot_item(entry: Entry, need_fields: Sequence[str] | None) -> dict[str, object]:
    """Return an item of a snapshot, which has its id where that was asked for."""
    wanted = need_fields or SNAPSHOT_UNASKED
    item: dict[str, object] = {"kid": entry.kid} if "kid" in wanted else {}
    return {**item, **_picked(entry, wanted)}


def _picked(entry: Entry, names: Sequence[str]) -> dict[str, object]:
    return {name: _FIELDS[name](entry) for name in names if name in _FIELDS}
