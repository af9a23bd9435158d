from cacheroute.demo.kdn.fields import lookup_item, snapshot_item, wants_content
from cacheroute.demo.kdn.texts import Entry

ENTRY = Entry(
    kid="ab", length=4, kv_model="m", kv_keys=3, kv_nominal_bytes=99, kv_updated_at_s=12,
    content="text",
)  # fmt: skip
BARE = Entry(kid="cd", length=4, kv_model=None, kv_keys=0, kv_nominal_bytes=0, kv_updated_at_s=None)


def test_a_lookup_has_the_id_and_what_was_asked_for_and_nothing_else() -> None:
    fields = ["content", "kv_ready", "nonsense"]

    assert lookup_item(ENTRY, fields) == {"id": "ab", "content": "text", "kv_ready": 1}


def test_a_lookup_that_asks_for_nothing_has_everything() -> None:
    assert lookup_item(ENTRY, None) == {
        "id": "ab", "content": "text", "length": 4, "rel_path": "texts/ab", "embedding": None,
        "embed_dim": None, "kv_ready": 1, "kv_rel_dir": "ab", "kv_dumped_keys": 3,
        "kv_updated_at": 12,
    }  # fmt: skip


def test_what_has_no_kv_says_so() -> None:
    fields = ["kv_ready", "kv_rel_dir", "kv_dumped_keys", "kv_updated_at"]

    assert lookup_item(BARE, fields) == {
        "id": "cd", "kv_ready": 0, "kv_rel_dir": None, "kv_dumped_keys": 0, "kv_updated_at": None,
    }  # fmt: skip


def test_a_snapshot_names_its_ids_kid_and_only_when_asked_to() -> None:
    assert snapshot_item(ENTRY, ["length"]) == {"length": 4}
    assert snapshot_item(ENTRY, ["kid", "kv_nominal_bytes"]) == {
        "kid": "ab",
        "kv_nominal_bytes": 99,
    }
    unasked = snapshot_item(ENTRY, None)
    assert unasked["kid"] == "ab"
    assert "content" not in unasked


def test_a_text_is_read_only_where_it_is_wanted() -> None:
    assert wants_content(None)
    assert wants_content(["length", "content"])
    assert not wants_content(["length"])
