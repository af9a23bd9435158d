"""An answer is a reply, a no, or nonsense."""

import gzip

import pytest

from cacheroute.client import asks, console
from cacheroute.client.answer import cause_of, read_answer, what_came, why_not
from cacheroute.client.faults import NotUnderstood, Refused
from cacheroute.wire.debug import HealthReply

URL = "http://p:8002/healthz"


def test_a_good_answer_is_typed() -> None:
    health = read_answer(asks.HEALTH, url=URL, status=200, body=b'{"ok":true,"ttl_s":30}')

    assert health == HealthReply(ok=True, ttl_s=30)


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b'{"ok":"perhaps"}', b'{"ok":true', b"\xff\xfe", b"[" * 100_000]
)
def test_nonsense_is_told_as_such(body: bytes) -> None:
    with pytest.raises(NotUnderstood, match="is not understood"):
        read_answer(asks.HEALTH, url=URL, status=200, body=body)


def test_nonsense_is_told_by_its_field() -> None:
    body = b'[{"instance_id":"i","host":"h","port":"x","registered_at":1,"last_seen_at":1}]'

    with pytest.raises(NotUnderstood, match=r"0\.port: "):
        read_answer(asks.instances(include_dead=True), url=URL, status=200, body=body)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"error":"no_instance","detail":"nobody lives"}', "no_instance: nobody lives"),
        (b'{"error":{"message":"not you","code":"x"}}', "not you"),
        (b'{"detail":"Not Found"}', "Not Found"),
        (
            b'{"detail":[{"loc":["body","port"],"msg":"big"},{"loc":["body","host"],"msg":"x"}]}',
            "body.port: big; body.host: x",
        ),
        (b'{"detail":["odd"]}', "odd"),
        (b"Bad Gateway", "Bad Gateway"),
        (b'{"x":1}', '{"x":1}'),
        (b"\xff", "\ufffd"),
        (b"", ""),
    ],
)
def test_a_no_is_told_in_the_words_it_came_with(body: bytes, words: str) -> None:
    with pytest.raises(Refused) as caught:
        read_answer(asks.HEALTH, url=URL, status=503, body=body)

    assert caught.value.status == 503
    assert caught.value.body == words


def test_a_long_no_is_cut() -> None:
    with pytest.raises(Refused) as caught:
        read_answer(asks.HEALTH, url=URL, status=500, body=b"x" * 100_000)

    assert len(caught.value.body) == 500


def test_the_systems_words_are_found_below_a_librarys_exception() -> None:
    deep = RuntimeError("all attempts failed")
    deep.__cause__ = ConnectionRefusedError(111, "Connection refused")

    assert cause_of(deep) == "connection refused"
    assert cause_of(OSError(-2, "Name or service not known")) == "name or service not known"
    assert cause_of(RuntimeError("odd")) == "odd"
    assert cause_of(RuntimeError()) == "RuntimeError"


@pytest.mark.parametrize("body", [b"", b"[]", b'{"ok":true}', b"\xff\xfe", b"[" * 100_000])
def test_nonsense_is_told_where_a_reply_is_read_without_models(body: bytes) -> None:
    with pytest.raises(NotUnderstood, match="is not understood"):
        read_answer(console.decisions(last=1), url=URL, status=200, body=body)


def test_a_field_that_is_not_understood_is_named() -> None:
    body = b'{"ok":true,"total":"x","decisions":[]}'
    with pytest.raises(NotUnderstood, match=r"total"):
        read_answer(console.decisions(last=1), url=URL, status=200, body=body)


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (b" \n", "empty"),
        (b"<html><head><title>502 Bad\n Gateway</title>", "a page of HTML (502 Bad Gateway)"),
        (b"\n<!DOCTYPE html>", "a page of HTML"),
        (gzip.compress(b"{}"), "compressed, which nobody has asked for"),
        (bytes(range(256)), "256 bytes that are no text"),
        (b'{"ok": tru', None),
        ("\u00e9\u4e00\n".encode(), None),
        (("x" * 3_999 + "\u00e9").encode(), None),
    ],
)
def test_what_is_no_json_at_all_is_told_as_what_it_is(body: bytes, what: str | None) -> None:
    assert what_came(body) == what
    assert why_not(body, "bad") == ("bad" if what is None else f"it is {what}")


def test_a_page_of_a_gateway_is_told_in_a_line() -> None:
    with pytest.raises(Refused, match=r"answered 502: a page of HTML \(Bad\)$"):
        read_answer(asks.HEALTH, url=URL, status=502, body=b"<html><title>Bad</title>\n<hr>")
