from typing import Any

import msgspec
import pytest

from cacheroute.wire import knowledge as wire


def test_a_lookup_of_a_proxy_is_read_as_published() -> None:
    body = msgspec.json.decode(
        b'{"knowledge_ids": ["ab"], "need_fields": ["content"], "new": 1}', type=wire.LookupBody
    )

    assert (body.knowledge_ids, body.need_fields) == (["ab"], ["content"])


def test_an_injection_of_an_instance_is_read_as_published() -> None:
    body = msgspec.json.decode(
        b'{"request_id": 7, "model": "m", "knowledge_ids": ["ab"], "redis_host": "127.0.0.1",'
        b' "redis_port": 6379, "redis_db": 0, "redis_password": null}',
        type=wire.InjectReadyKvBody,
    )

    assert (body.request_id, body.redis_port, body.redis_password) == (7, 6379, None)


def test_a_reply_of_a_published_node_is_read_without_the_keys_it_does_not_send() -> None:
    found = msgspec.json.decode(
        b'{"items": [{"id": "ab", "content": "x", "kv_ready": 1, "kv_updated_at": 1.5}],'
        b' "miss": ["cd"]}',
        type=wire.LookupReply,
    )
    reply = msgspec.json.decode(b'{"ok": true, "injected_kids": []}', type=wire.InjectReadyKvReply)

    assert (found.items[0].kv_ready, found.miss) == (1, ["cd"])
    assert (reply.injected_kids, reply.network_transfer_ms) == ([], None)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (wire.LookupBody, {"knowledge_ids": ["x"] * (wire.MAX_IDS + 1)}),
        (wire.LookupBody, {"knowledge_ids": ["x" * (wire.MAX_ID_CHARS + 1)]}),
        (wire.LookupBody, {"need_fields": ["x"] * (wire.MAX_FIELDS + 1)}),
        (wire.InjectReadyKvBody, {"redis_port": 65536}),
        (wire.InjectReadyKvBody, {"redis_port": True}),
        (wire.InjectReadyKvBody, {"redis_db": -1}),
        (wire.BuildKvBody, {"kid": "ab", "api_url": "u", "model": "m", "max_tokens": 0}),
        (wire.SnapshotBody, {"limit": -1}),
        (wire.SnapshotBody, {"offset": 2**63}),
        (wire.HelloBody, {"instance_id": ""}),
        (wire.LinkBody, {"bandwidth_mbps": 0}),
        (wire.LinkBody, {"delay_ms": None}),
    ],
)
def test_everything_is_bounded(kind: type[msgspec.Struct], fields: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(fields, kind)


def test_a_link_tells_what_is_left_out_from_what_is_null() -> None:
    assert wire.LinkBody().bandwidth_mbps is msgspec.UNSET
    assert msgspec.convert({"bandwidth_mbps": None}, wire.LinkBody).bandwidth_mbps is None
